// A simulated machine for programs in the student's language, and what they ask about a report.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

#include "backends/sim/machine.hpp"
#include "labrig/stream.hpp"
#include "labrig/tensor.hpp"

namespace labrig::sim {

inline Profile profile_named(const std::string& name) {
  return load_profile(LABRIG_TEST_PROFILES "/" + name + ".toml").value();
}

// One card, late unless asked otherwise.
struct OnMachine {
  explicit OnMachine(const std::string& profile = "desktop", Mode mode = Mode::late, bool data = true, int cards = 1)
      : machine(options(profile, mode, data, cards)) {}

  static MachineOptions options(const std::string& profile, Mode mode, bool data, int cards) {
    MachineOptions made;
    made.cards.assign(static_cast<std::size_t>(cards), profile_named(profile));
    made.mode = mode;
    made.data = data;
    return made;
  }

  Report report() { return machine.report(); }
  std::uint64_t hazards() { return report().metrics.hazards; }
  std::int64_t now_ps() { return report().metrics.time_ps; }

  InProcessMachine machine;
  const Device card{"sim:0"};
};

// What a hazard says, with the numbers of streams and operations left out.
inline std::string without_numbers(std::string text) {
  for (const std::string word : {"stream ", "operation "}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      std::size_t end = at + word.size();
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
      text.erase(at + word.size(), end - at - word.size());
    }
  }
  return text;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// All of a host tensor's bytes as numbers, each equal to `value`.
inline bool all_are(const Tensor& host, float value) {
  const auto values = host.data<const float>();
  return std::all_of(values.begin(), values.end(), [&](float x) { return x == value; });
}
inline bool none_is(const Tensor& host, float value) {
  const auto values = host.data<const float>();
  return std::none_of(values.begin(), values.end(), [&](float x) { return x == value; });
}

}  // namespace labrig::sim
