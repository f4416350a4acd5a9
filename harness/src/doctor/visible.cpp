#include "doctor/visible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace labrig::doctor {
namespace {

std::vector<std::string> entries_of(const std::string& list) {
  std::vector<std::string> entries;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    std::string entry = list.substr(at, end - at);
    std::erase(entry, ' ');
    entries.push_back(entry);
    at = end + 1;
  }
  return entries;
}

bool is_number(const std::string& entry, int& number) {
  const auto [end, problem] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  return problem == std::errc() && end == entry.data() + entry.size();
}

// CUDA then answers cudaErrorInvalidDevice, whatever else is in the list.
std::string named_twice(const std::vector<std::string>& entries) {
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!entries[i].empty() &&
        std::count(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(i), entries[i]) > 0)
      return entries[i];
  return "";
}

// Names may be shortened; those of parts of a card ("MIG-GPU-…/1/0", "MIG-…") are believed.
bool is_name_of_a_card(const std::string& entry, const std::vector<std::string>& uuids) {
  if (entry.starts_with("MIG-")) return true;
  if (!entry.starts_with("GPU-")) return false;
  return uuids.empty() || std::ranges::any_of(uuids, [&](const std::string& uuid) { return uuid.starts_with(entry); });
}

}  // namespace

Visible visible(const std::optional<std::string>& variable, int cards, const std::vector<std::string>& uuids) {
  if (!variable) return {};
  const std::string setting = "CUDA_VISIBLE_DEVICES=" + *variable;
  int shown = 0;
  const std::vector<std::string> entries = entries_of(*variable);
  if (const std::string twice = named_twice(entries); !twice.empty())
    return {"named-twice", setting + " names a card twice (" + twice + "), so that CUDA refuses all of them", 0};
  for (const std::string& entry : entries) {
    int number = 0;
    const bool numeric = is_number(entry, number);
    if (numeric ? number >= 0 && (cards == 0 || number < cards) : is_name_of_a_card(entry, uuids)) {
      ++shown;
      continue;
    }
    if (shown == 0 && (entry.empty() || number < 0 || (!numeric && !entry.starts_with("GPU-"))))
      return {"hides-all", setting + " hides every card of this machine", 0};
    const std::string rest = shown == 0 ? "so that no card is left" : "so that the cards before it alone are left";
    return {numeric ? "unknown-number" : "unknown-name",
            fmt::format("{} names a card that is not there ({}), {}", setting, entry.empty() ? "an empty name" : entry,
                        rest),
            shown};
  }
  return {"", "", shown};
}

}  // namespace labrig::doctor
