// Reading out-of-memory messages.
#include "triage/message.hpp"

#include <algorithm>
#include <array>

namespace labrig::triage {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// --- lines ----------------------------------------------------------------------------------------------------------

// Length of a decoration at the start of a line, 0 for none.
std::size_t decoration(std::string_view line) {
  for (const std::string_view mark : {"|", ">", "\u2502", "\u2503", "\u2551", "#"})
    if (line.starts_with(mark)) return mark.size();
  const auto group = [&line](char open, char close, auto&& is_ours) -> std::size_t {
    if (!line.starts_with(open)) return 0;
    const std::size_t end = line.find(close);
    if (end == std::string_view::npos || end >= 80 || !is_ours(line.substr(0, end))) return 0;
    return end + 1 < line.size() && line[end + 1] == ':' ? end + 2 : end + 1;  // "[rank0]:"
  };
  if (const std::size_t n = group('[', ']', [](std::string_view in) {
        return in.find("iB") == in.npos && in.find("ytes") == in.npos && in.find("alloc") == in.npos;
      }))
    return n;
  if (const std::size_t n = group('(', ')', [](std::string_view in) { return in.find("pid=") != in.npos; })) return n;
  for (const std::string_view level : {"ERROR", "WARNING", "INFO", "DEBUG", "CRITICAL"})
    if (line.starts_with(level)) return level.size();
  // A date or a time: digits with - : / T Z . , between them, at least one of - : / T.
  std::size_t end = 0;
  bool is_time = false;
  while (end < line.size() &&
         (is_digit(line[end]) || (end > 0 && std::string_view("-:/TZ.,").find(line[end]) != line.npos))) {
    is_time = is_time || std::string_view("-:/T").find(line[end]) != line.npos;
    ++end;
  }
  if (is_time && end >= 5 && (end == line.size() || is_blank(line[end]))) return end;
  return 0;
}

std::string without_escapes(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kReplaced = {
      {{"&gt;", ">"}, {"&lt;", "<"}, {"&nbsp;", " "}, {"&#39;", "'"}, {"\u00a0", " "}, {"\u200b", ""}, {"\ufeff", ""}}};
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\x1b') {  // ESC [ ... letter
      std::size_t end = i + 1;
      if (end < text.size() && text[end] == '[') ++end;
      while (end < text.size() && (is_digit(text[end]) || text[end] == ';')) ++end;
      i = std::min(end + 1, text.size());
      continue;
    }
    if (text.substr(i, 2) == "\\n") {  // a line break that a dump wrote out
      plain += '\n';
      i += 2;
      continue;
    }
    const auto* found = std::find_if(kReplaced.begin(), kReplaced.end(),
                                     [&](const auto& entry) { return text.substr(i).starts_with(entry.first); });
    if (found != kReplaced.end()) {
      plain += found->second;
      i += found->first.size();
    } else {
      plain += text[i++];
    }
  }
  return plain;
}

// --- words beside a size -------------------------------------------------------------------------------------------

// Whether `text` starts with `word`, up to one wrong, missing or added letter in eight.
bool starts_like(std::string_view text, std::string_view word) {
  if (text.starts_with(word)) return true;
  if (text.size() >= 6 && text.size() < word.size() && word.starts_with(text)) return true;  // cut
  const int allowed = static_cast<int>(word.size() / 8);
  if (allowed == 0) return false;
  constexpr std::size_t kLongest = 40;
  std::array<int, kLongest + 8> row{};
  const std::size_t width = std::min(text.size(), word.size() + static_cast<std::size_t>(allowed));
  if (word.size() > kLongest) return false;
  for (std::size_t j = 0; j <= width; ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= word.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= width; ++j) {
      const int above = row[j];
      row[j] = std::min({diagonal + (word[i - 1] == text[j - 1] ? 0 : 1), above + 1, row[j - 1] + 1});
      diagonal = above;
    }
  }
  return *std::min_element(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(width) + 1) <= allowed;
}

bool ends_like(std::string_view text, std::string_view word) {
  const std::size_t tail = std::min(text.size(), word.size() + 8);
  const std::string reversed_text(text.rbegin(), text.rbegin() + static_cast<std::ptrdiff_t>(tail));
  const std::string reversed_word(word.rbegin(), word.rend());
  return starts_like(reversed_text, reversed_word);
}

struct Label {
  const char *before, *after;  // "" where that side says nothing
  std::optional<Amount> Shortage::* field;
};
// The first that fits. Order matters where one label contains another.
constexpr std::array kLabels = {
    // cudaMallocAsync.
    Label{"pytorchlimit(setbyuser-suppliedmemoryfraction):", "", &Shortage::allowed},
    Label{"free(accordingtocuda):", "", &Shortage::free},
    Label{"currentlyallocated:", "", &Shortage::allocated},
    Label{"devicelimit:", "", &Shortage::total},
    Label{"requested:", "", &Shortage::requested},
    // From release 2.1 on.
    Label{"", "isreservedbypytorchbutunallocated", &Shortage::unallocated},
    Label{"", "isallocatedbypytorch", &Shortage::allocated},
    Label{"", "allocatedinprivatepools", &Shortage::private_pools},
    Label{"atotalcapacityof", "", &Shortage::total},
    Label{"thisprocesshas", "", &Shortage::this_process},
    Label{"", "allowed", &Shortage::allowed},
    Label{"ofwhich", "isfree", &Shortage::free},
    // The bracketed form.
    Label{"", "totalcapacity", &Shortage::total},
    Label{"", "alreadyallocated", &Shortage::allocated},
    Label{"", "reservedintotal", &Shortage::reserved},
    Label{"", "cached", &Shortage::unallocated},
    Label{"", "isfree", &Shortage::free},
    Label{"", "free", &Shortage::free},
    // MPS.
    Label{"mpsallocated:", "", &Shortage::allocated},
    Label{"otherallocations:", "", &Shortage::other_allocations},
    Label{"maxallowed:", "", &Shortage::allowed},
    // XPU.
    Label{"blockwithsizelargerthan", "", &Shortage::one_block},
    // All.
    Label{"triedtoallocate", "", &Shortage::requested},
};

constexpr std::array kAnchors = {"outofmemory", "triedtoallocate", "notallocatememoryblock"};
constexpr std::size_t kFarAway = 700;  // characters from one size of a message to the next

// --- the reader -----------------------------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(std::string text) : text_(std::move(text)) {
    for (const char* anchor : kAnchors)
      for (std::size_t at = text_.find(anchor); at != std::string::npos; at = text_.find(anchor, at + 1))
        anchors_.push_back(at);
    std::sort(anchors_.begin(), anchors_.end());
  }

  std::vector<Shortage> read() {
    open_ = anchors_.empty();  // cut at the front: the whole text may be one message
    std::size_t next_anchor = 0;
    for (std::size_t at = 0; at < text_.size();) {
      while (next_anchor < anchors_.size() && anchors_[next_anchor] <= at) start_at(anchors_[next_anchor++]);
      if (!is_digit(text_[at]) ||
          (at > 0 && (is_digit(text_[at - 1]) || (text_[at - 1] == '.' && at > 1 && is_digit(text_[at - 2]))))) {
        ++at;
        continue;
      }
      const std::optional<AmountAt> found = amount_at(std::string_view(text_).substr(at, 64));
      if (found && open_ && (anchors_.empty() || at - last_ < kFarAway)) take(at, *found);
      at += found ? found->length : 1;
    }
    close();
    return std::move(messages_);
  }

 private:
  // "CUDA out of memory" and "Tried to allocate" start one message together; MPS writes its numbers between the two.
  void start_at(std::size_t at) {
    const bool continues = open_ && at - last_ < kFarAway && !current_.requested && text_.compare(at, 5, "tried") == 0;
    if (!continues) {
      close();
      open_ = true;
      read_backend(at);
    }
    last_ = at;
  }

  void read_backend(std::size_t at) {
    const std::string_view before =
        std::string_view(text_).substr(at > 24 ? at - 24 : 0, std::min<std::size_t>(at, 24));
    for (const char* name : {"hip", "xpu", "npu", "mlu", "musa"})
      if (before.ends_with(name)) {
        current_.backend = name;
        for (char& c : current_.backend) c = static_cast<char>(c - 32);
      }
    if (before.ends_with("mpsbackend")) current_.backend = "MPS";
    if (text_.compare(at, 12, "notallocatem") == 0) current_.backend = "XPU";
  }

  void take(std::size_t at, const AmountAt& found) {
    const std::string_view all = text_;
    const std::string_view before = all.substr(at > 64 ? at - 64 : 0, std::min<std::size_t>(at, 64));
    const std::string_view after = all.substr(at + found.length, 48);
    if (before.ends_with("youtriedtoallocate")) return;  // the host's allocator
    if (starts_like(after, "memoryinuse") && !ends_like(before, "thisprocesshas")) {
      take_process(before, found.amount);
      last_ = at + found.length;
      return;
    }
    for (const Label& label : kLabels) {
      if (*label.before && !ends_like(before, label.before)) continue;
      if (*label.after && !starts_like(after, label.after)) continue;
      take_field(label, found.amount);
      read_device(before);
      last_ = at + found.length;
      return;
    }
  }

  void take_field(const Label& label, const Amount& amount) {
    if (label.field == &Shortage::allowed && amount.bytes >= 9.2e18) {  // 2^64: no limit
      current_.no_limit = true;
      return;
    }
    // A number that comes a second time belongs to a next message.
    if ((current_.*label.field) && (current_.*label.field)->bytes != amount.bytes) {
      const std::string backend = current_.backend;
      close();
      open_ = true;
      current_.backend = backend;
    }
    current_.*label.field = amount;
  }

  // "Process 3909982 has 44.34 GiB memory in use".
  void take_process(std::string_view before, const Amount& amount) {
    if (!before.ends_with("has")) return;
    before.remove_suffix(3);
    std::size_t digits = 0;
    while (digits < before.size() && (is_digit(before[before.size() - 1 - digits]))) ++digits;
    ListedProcess process{std::string(before.substr(before.size() - digits)), amount};
    if (amount.bytes >= 9.2e18) process.bytes.reset();  // the driver's "not available"
    current_.processes.push_back(std::move(process));
  }

  // "(GPU 0;" and "GPU 0 has a total capacity".
  void read_device(std::string_view before) {
    for (const std::string_view word : {"gpu", "npu", "xpu", "ondevice"}) {
      const std::size_t at = before.rfind(word);
      if (at == std::string_view::npos || at + word.size() >= before.size() || current_.device) continue;
      if (is_digit(before[at + word.size()])) current_.device = before[at + word.size()] - '0';
    }
  }

  void close() {
    const bool says_something = current_.requested || (current_.total && (current_.allocated || current_.free));
    complete(current_);
    if (open_ && says_something && !known(current_)) messages_.push_back(std::move(current_));
    current_ = {};
    open_ = false;
  }

  static bool same(const std::optional<Amount>& a, const std::optional<Amount>& b) {
    return a.has_value() == b.has_value() && (!a || a->bytes == b->bytes);
  }
  bool known(const Shortage& s) const {
    return std::any_of(messages_.begin(), messages_.end(), [&s](const Shortage& m) {
      return same(m.requested, s.requested) && same(m.free, s.free) && same(m.allocated, s.allocated) &&
             same(m.total, s.total) && m.device == s.device;
    });
  }

  std::string text_;
  std::vector<std::size_t> anchors_;
  std::vector<Shortage> messages_;
  Shortage current_;
  bool open_ = false;
  std::size_t last_ = 0;
};

}  // namespace

std::string without_decoration(std::string_view text) {
  const std::string plain = without_escapes(text);
  std::string result;
  result.reserve(plain.size());
  for (std::size_t start = 0; start < plain.size();) {
    const std::size_t end = std::min(plain.find('\n', start), plain.size());
    std::string_view line = std::string_view(plain).substr(start, end - start);
    start = end + 1;
    for (bool again = true; again;) {
      while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
      const std::size_t length = decoration(line);
      line.remove_prefix(length);
      again = length > 0;
    }
    while (!line.empty() && (is_blank(line.back()) || line.back() == '|')) line.remove_suffix(1);
    for (const std::string_view frame : {"\u2502", "\u2503", "\u2551"})
      if (line.ends_with(frame)) line.remove_suffix(frame.size());
    result.append(line);
    result += '\n';
  }
  return result;
}

std::string compact(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!is_blank(c)) {
      result += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      continue;
    }
    std::size_t next = i;
    while (next < text.size() && is_blank(text[next])) ++next;
    const bool between_digits =
        !result.empty() && is_digit(result.back()) && next < text.size() && is_digit(text[next]);
    // "3.0" at the end of a line and "0 GiB" on the next are one number: sizes have two decimals.
    const bool is_broken_number = result.size() >= 3 && result[result.size() - 2] == '.' &&
                                  is_digit(result[result.size() - 3]) &&
                                  text.substr(i, next - i).find('\n') != std::string_view::npos;
    if (between_digits && !is_broken_number) result += ' ';
    i = next - 1;
  }
  return result;
}

std::vector<Shortage> read_messages(std::string_view text) { return Reader(compact(without_decoration(text))).read(); }

}  // namespace labrig::triage
