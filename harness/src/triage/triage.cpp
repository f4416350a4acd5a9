// Finds out what an input is, and hands it to the reader that knows it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "labrig/triage.hpp"
#include "triage/foreign.hpp"
#include "triage/json_input.hpp"
#include "triage/message.hpp"
#include "triage/readings.hpp"
#include "triage/scales.hpp"
#include "triage/summary.hpp"

namespace labrig::triage {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

struct Signature {
  std::string_view bytes;
  const char *what, *fix;
};
constexpr std::array kSignatures = {
    Signature{"\x80", "a pickle", "write the snapshot as JSON: json.dump(torch.cuda.memory._snapshot(), file)"},
    Signature{"\x1f\x8b", "gzip'd data", "unpack it first: gunzip -c FILE | labrig triage -"},
    Signature{"PK\x03\x04", "a zip archive (a saved model, perhaps)",
              "give a message, a snapshot as JSON, or readings as CSV"},
    Signature{"\x7f"
              "ELF",
              "a program", "give a message, a snapshot as JSON, or readings as CSV"},
};

Error nothing_here(const std::string& why) {
  return {"nothing-to-diagnose", "this input has nothing that can be diagnosed", why,
          "give a history or a snapshot as JSON, readings as CSV, or paste the whole message, the memory_summary or "
          "the lines "
          "about the loss scale (docs/triage.md)"};
}

// With a summary beside it: its counters, and how its figures stand to the message's.
Diagnosis of_message(Shortage message, const Summary& summary, bool same_device) {
  if (same_device) message.ooms = summary.ooms, message.retries = summary.retries;
  const std::optional<Amount> allocated = message.allocated;
  const std::string backend = message.backend;
  const std::optional<int> device = message.device;
  Diagnosis d = diagnose(std::move(message));
  if (device) d.subject = fmt::format("{} {}", backend == "CUDA" ? "GPU" : backend, *device);
  const SummaryRow* row = same_device ? summary.row("allocated memory") : nullptr;
  if (row && row->current && allocated) {
    const double apart = std::abs(row->current->bytes - allocated->bytes);
    d.evidence.push_back(fmt::format(
        "the summary has {} allocated, the message {}{}", row->current->text, allocated->text,
        apart > row->current->slack_bytes + allocated->slack_bytes ? ": it was taken later, which is no contradiction"
                                                                   : ""));
  }
  if (same_device && summary.cut) d.unread.push_back("the summary's last row: it is cut");
  if (same_device && !summary.empty() && !summary.row("gpu reserved memory"))
    d.unread.push_back("the summary's rows of reserved and non-releasable memory: not in the text");
  return d;
}

Diagnosis of_messages(const std::vector<Shortage>& messages, const Summary& summary) {
  std::vector<Diagnosis> parts;
  for (const Shortage& message : messages)
    parts.push_back(
        of_message(message, summary, !message.device || !summary.device || *message.device == *summary.device));
  if (parts.size() == 1) return parts.front();
  Diagnosis d = parts.front();
  d.evidence.insert(
      d.evidence.begin(),
      fmt::format("{} different messages; the first one is judged, as the others may follow from it", parts.size()));
  d.parts = std::move(parts);
  return d;
}

std::optional<Diagnosis> read_text(std::string_view text) {
  const std::vector<Shortage> messages = read_messages(text);
  const Summary summary = read_summary(text);
  if (!messages.empty()) return of_messages(messages, summary);
  if (!summary.empty()) return diagnose(summary);
  if (const auto readings = read_readings(text)) return diagnose(*readings);
  if (const auto log = read_scale_lines(text)) return diagnose(*log);
  if (auto foreign = read_foreign(text)) return foreign;
  if (const auto log = read_plain_scales(text)) return diagnose(*log);
  return std::nullopt;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos; }

}  // namespace

Result<Diagnosis> diagnose(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (is_blank(text)) return nothing_here("it is empty");
  if (text.size() > kMostBytes)
    return Error("bad-input", "this input is too large", fmt::format("it has more than {} MiB", kMostBytes >> 20),
                 "cut it: a snapshot with fewer events, or the part of the log around the message");
  for (const Signature& signature : kSignatures)
    if (text.starts_with(signature.bytes))
      return Error("bad-input", fmt::format("this is {}, not a text", signature.what),
                   "triage reads texts, JSON and CSV", signature.fix);
  const char first = text[text.find_first_not_of(" \t\r\n\v\f")];
  JsonInput json;
  if (first == '{' || first == '[') {
    json = read_json(text);
    if (json.diagnosis) return std::move(*json.diagnosis);
  }
  if (auto diagnosis = read_text(json.is_json ? std::string_view(json.strings) : text)) return std::move(*diagnosis);
  if (json.is_json && !json.error.empty()) return nothing_here("it is JSON, but " + json.error);
  if (json.is_json)
    return nothing_here(
        "it is JSON, but neither a history, a snapshot, statistics, readings nor a list of loss scales");
  if (!json.error.empty()) return nothing_here("it starts like JSON, but is none: " + json.error);
  return nothing_here("it holds no message about memory, no table of readings and no loss scales that triage knows");
}

std::string to_text(const Diagnosis& d) {
  std::string text = fmt::format("{}{}: {}\n", d.subject.empty() ? "" : d.subject + ": ", d.cause, d.title);
  const auto list = [&text](const char* heading, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    text += fmt::format("\n{}\n", heading);
    for (const std::string& line : lines) text += fmt::format("  - {}\n", line);
  };
  list("evidence", d.evidence);
  list("do", d.todo);
  list("do not", d.avoid);
  list("not read", d.unread);
  return text;
}

}  // namespace labrig::triage
