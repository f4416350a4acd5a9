#include "short_texts.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace labrig::reports {
namespace {

using Json = nlohmann::json;

// The place of a character's first byte, at or before `at`.
std::size_t whole_character(const std::string& text, std::size_t at) {
  for (int i = 0; i < 3 && at > 0 && at < text.size() && (static_cast<std::uint8_t>(text[at]) & 0xc0) == 0x80; ++i)
    --at;
  return at;
}

void cut_line(std::string& text, std::size_t limit) {
  if (text.size() <= limit) return;
  const std::size_t keep = whole_character(text, limit);
  text.replace(keep, std::string::npos, fmt::format("… ({} more bytes)", text.size() - keep));
}

// What was printed last says most about an end; what was printed first, about the beginning.
void cut_output(std::string& text, std::size_t limit) {
  if (text.size() <= limit) return;
  const std::size_t head = whole_character(text, limit / 4),
                    tail = whole_character(text, text.size() - (limit - limit / 4));
  text.replace(head, tail - head, fmt::format("\n… ({} bytes left out) …\n", tail - head));
}

void cut(Json& value, const TextLimits& limits) {
  if (value.is_string()) cut_line(value.get_ref<std::string&>(), limits.line);
  if (!value.is_structured()) return;
  const auto output = value.is_object() ? value.find("output") : value.end();
  for (auto item = value.begin(); item != value.end(); ++item) {
    const bool printed = value.is_object() && item == output && item->is_object() && item->contains("text");
    if (printed && (*item)["text"].is_string())
      cut_output((*item)["text"].get_ref<std::string&>(), limits.output);
    else if (!value.is_object() || (item.key() != "id" && item.key() != "case"))  // links hold by these
      cut(*item, limits);
  }
}

}  // namespace

Json with_short_texts(const Json& report, const TextLimits& limits) {
  Json shorter = report;
  cut(shorter, limits);
  return shorter;
}

}  // namespace labrig::reports
