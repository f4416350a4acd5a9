#include "loader/manifest.hpp"

#include <charconv>
#include <map>

namespace labrig::loader {

std::optional<Manifest> parse_manifest(std::string_view section) {
  // A plugin has one manifest; two sources with the macro give two texts one after the other.
  const std::size_t end = section.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  if (section.find_first_not_of('\0', end) != std::string_view::npos) return std::nullopt;
  section = section.substr(0, end);
  constexpr std::string_view kHead = "labrig-plugin=1\n";
  if (!section.starts_with(kHead)) return std::nullopt;

  std::map<std::string, std::string, std::less<>> values;
  while (!section.empty()) {
    const std::size_t stop = section.find('\n');
    if (stop == std::string_view::npos) return std::nullopt;
    const std::string_view line = section.substr(0, stop);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    // What is shown to people must be plain text.
    for (char c : line)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    values[std::string(line.substr(0, equals))] = line.substr(equals + 1);
    section.remove_prefix(stop + 1);
  }
  for (const char* key : {"kind", "lab", "abi", "build", "compiler"})
    if (!values.contains(key)) return std::nullopt;
  return Manifest{values["kind"], values["lab"], values["abi"], values["build"], values["compiler"]};
}

std::optional<std::pair<int, int>> parse_version(std::string_view text) {
  std::pair<int, int> version;
  const char* const end = text.data() + text.size();
  auto [dot, bad] = std::from_chars(text.data(), end, version.first);
  if (bad != std::errc() || dot == end || *dot != '.') return std::nullopt;
  auto [last, worse] = std::from_chars(dot + 1, end, version.second);
  if (worse != std::errc() || last != end) return std::nullopt;
  return version;
}

}  // namespace labrig::loader
