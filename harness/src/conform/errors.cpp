// Makes each recorded mistake and compares what is said, once what may differ (device names, amounts) is made equal.
#include "conform/errors.hpp"

#include <array>
#include <cctype>
#include <optional>
#include <regex>

#include "conform/error_table.hpp"
#include "conform/value.hpp"

namespace labrig::conform {
namespace {

constexpr std::string_view kNoError = "no error";

// "RuntimeError: text" -> "text"
std::string without_class(const std::string& recorded) {
  const std::size_t colon = recorded.find(": ");
  if (colon == std::string::npos) return recorded;
  const std::string name = recorded.substr(0, colon);
  for (const char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.') return recorded;
  }
  return recorded.substr(colon + 2);
}

// Lines that end every error of CUDA, whatever it is about.
bool is_advice(const std::string& line) {
  static constexpr std::array<std::string_view, 5> kBegins = {"CUDA kernel errors might be", "For debugging consider",
                                                              "Compile with `TORCH_USE_CUDA_DSA`", "Search for `cuda",
                                                              "For more detailed error information"};
  for (const std::string_view begin : kBegins) {
    if (line.starts_with(begin)) return true;
  }
  return false;
}

std::string without_advice(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (!is_advice(line)) result += (result.empty() ? "" : "\n") + line;
    at = end + 1;
  }
  return result;
}

// What may differ becomes equal: device names, lists of device types, amounts of memory, and which processes the driver
// names as users of it.
std::string comparable(const std::string& text, Device device) {
  static const std::regex kTypes("Expected one of [a-z, ]* device type"), kSim("\\bsim\\b"),
      kAmount("[0-9]+(\\.[0-9]+)? (GiB|MiB|KiB|bytes)"),
      kProcess("(Process [0-9]+|Including non-PyTorch memory, this process) has # bytes memory in use\\. ");
  std::string result = std::regex_replace(without_advice(text), kTypes, "Expected one of … device type");
  if (device.type() == DeviceType::sim) result = std::regex_replace(result, kSim, "cuda");
  if (result.find("out of memory") != std::string::npos) {
    result = std::regex_replace(std::regex_replace(result, kAmount, "# bytes"), kProcess, "");
  }
  return result;
}

// What the core says: the first sentence of its error.
std::string said(const Mistake& mistake, const Scene& scene) {
  try {
    mistake.make(scene);
    return std::string(kNoError);
  } catch (const Error& error) {
    return error.what();
  }
}

// Why a mistake cannot be made here; empty when it can.
std::string obstacle(const Mistake& mistake, const Target& target) {
  if (mistake.needs == Mistake::Needs::card && !target.is_card()) return "needs a card: --device sim, or cuda";
  if (mistake.needs == Mistake::Needs::no_cuda_card && device_count(DeviceType::cuda) > 0) {
    return "needs a machine without a CUDA card";
  }
  return "";
}

}  // namespace

Outcome errors(const JsonFile& file, Device device) {
  const Value root(file);
  Target target(device);
  Outcome outcome;
  outcome.kind = "errors";
  outcome.device = target.device().str();
  outcome.word = "say what PyTorch says";
  std::size_t known = 0;
  for (const auto& [key, value] : root.members()) {
    const Mistake* mistake = mistake_named(key);
    const std::string reason(mistake ? obstacle(*mistake, target) : why_not_here(key));
    known += mistake || !reason.empty() ? 1 : 0;
    if (!mistake || !reason.empty()) {
      outcome.left_out[key] = reason.empty() ? "not known here" : reason;
      continue;
    }
    const std::string expected = without_class(value.text());
    const std::string got = said(*mistake, {target, expected});
    if (comparable(expected, target.device()) == comparable(got, target.device())) {
      outcome.pass();
    } else {
      outcome.differ({key, {{"error", key}}, "what", expected, got});
    }
    target.restart();  // limits that were set, work that failed
  }
  if (known == 0) root.fail("has no mistake that is known here");
  return outcome;
}

}  // namespace labrig::conform
