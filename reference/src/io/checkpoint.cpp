// A run in one file: everything becomes a named tensor or a text of the metadata. The text under the name alone says of
// what kind it is, so that an empty part is told from one that is not there.
#include "labrig/checkpoint.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "labrig/error.hpp"

namespace labrig::io {
namespace {

const char* const kTensors = "tensors";
const char* const kOptimizer = "optimizer";
const char* const kNumbers = "numbers";

std::string text_of(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

Error bad_part(const std::string& what, const std::string& why) {
  return Error("bad-checkpoint", what, why, "read a checkpoint with the names and kinds that it was written with");
}

template <class T>
T number_in(const std::string& text, const std::string& name) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && end == text.data() + text.size()) return value;
  throw bad_part("'" + name + "' of the checkpoint is not a number", "it is '" + text + "'");
}

void begin_part(Metadata& metadata, const std::string& name, const char* kind) {
  const bool reserved = name == "format" || name.starts_with("device:");  // io.cpp keeps these
  const bool fits = !name.empty() && name.find('.') == std::string::npos && !reserved;
  if (fits && metadata.emplace(name, kind).second) return;
  throw Error("bad-checkpoint", "a part of a checkpoint cannot be called '" + name + "'",
              fits       ? "there is a part of that name already"
              : reserved ? "the file keeps names like that for itself"
                         : "a dot ends the name of a part",
              "give each part a name of its own, without dots");
}

void check_part(const Metadata& metadata, const std::string& name, const char* kind) {
  const auto part = metadata.find(name);
  if (part != metadata.end() && part->second == kind) return;
  std::string parts;
  for (const auto& [key, value] : metadata) {
    const bool is_part = value == kTensors || value == kOptimizer || value == kNumbers;
    if (!is_part || key.find('.') != std::string::npos) continue;
    if (!parts.empty()) parts += ", ";
    parts.append(key).append(" (").append(value).append(")");
  }
  throw bad_part("the checkpoint has no " + std::string(kind) + " '" + name + "'",
                 parts.empty() ? "it was not written as a labrig checkpoint" : "it has " + parts);
}

// What of `all` has the prefix, without it.
template <class Container>
Container below(const Container& all, const std::string& prefix) {
  Container some;
  for (const auto& [name, value] : all) {
    if (name.starts_with(prefix)) some.insert(some.end(), {name.substr(prefix.size()), value});
  }
  return some;
}

}  // namespace

void Checkpoint::add(const std::string& name, const NamedTensors& tensors) {
  begin_part(content_.metadata, name, kTensors);
  const std::string prefix = name + ".";
  for (const auto& [key, tensor] : tensors) content_.tensors.emplace_back(prefix + key, tensor);
}

void Checkpoint::add(const std::string& name, const Numbers& numbers) {
  begin_part(content_.metadata, name, kNumbers);
  const std::string prefix = name + ".";
  for (const auto& [key, value] : numbers) content_.metadata[prefix + key] = text_of(value);
}

void Checkpoint::add(const std::string& name, const optim::State& optimizer) {
  begin_part(content_.metadata, name, kOptimizer);
  for (const auto& [number, state] : optimizer.state) {
    const std::string prefix = name + ".state." + std::to_string(number) + ".";
    for (const auto& [key, tensor] : state) content_.tensors.emplace_back(prefix + key, tensor);
  }
  for (std::size_t i = 0; i < optimizer.param_groups.size(); ++i) {
    const std::string prefix = name + ".param_groups." + std::to_string(i) + ".";
    std::string& numbers = content_.metadata[prefix + "params"];
    for (const std::int64_t number : optimizer.param_groups[i].params) {
      numbers += (numbers.empty() ? "" : " ") + std::to_string(number);
    }
    for (const auto& [key, value] : optimizer.param_groups[i].settings)
      content_.metadata[prefix + key] = text_of(value);
  }
}

NamedTensors Checkpoint::tensors(const std::string& name) const {
  check_part(content_.metadata, name, kTensors);
  return below(content_.tensors, name + ".");
}

Checkpoint::Numbers Checkpoint::numbers(const std::string& name) const {
  check_part(content_.metadata, name, kNumbers);
  Numbers numbers;
  for (const auto& [key, text] : below(content_.metadata, name + ".")) numbers[key] = number_in<double>(text, key);
  return numbers;
}

optim::State Checkpoint::optimizer(const std::string& name) const {
  check_part(content_.metadata, name, kOptimizer);
  optim::State state;
  for (const auto& [key, tensor] : below(content_.tensors, name + ".state.")) {
    const auto dot = std::min(key.find('.'), key.size());
    state.state[number_in<std::int64_t>(key.substr(0, dot), key)][key.substr(std::min(dot + 1, key.size()))] = tensor;
  }
  while (true) {
    const auto group =
        below(content_.metadata, name + ".param_groups." + std::to_string(state.param_groups.size()) + ".");
    if (!group.contains("params")) return state;
    auto& [settings, params] = state.param_groups.emplace_back();
    for (const auto& [key, text] : group) {
      if (key != "params") settings[key] = number_in<double>(text, key);
    }
    std::istringstream words(group.at("params"));
    for (std::string word; words >> word;) params.push_back(number_in<std::int64_t>(word, "params"));
  }
}

void Checkpoint::save(const std::string& path) const { io::save(path, content_.tensors, content_.metadata); }

Checkpoint Checkpoint::load(const std::string& path, const MapLocation& map_location) {
  Checkpoint checkpoint;
  checkpoint.content_ = io::load(path, map_location);
  return checkpoint;
}

}  // namespace labrig::io
