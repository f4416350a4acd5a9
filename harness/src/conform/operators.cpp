// Runs each recorded call forwards and backwards and compares the output and every gradient.
#include "conform/operators.hpp"

#include <optional>

#include "conform/operator_table.hpp"
#include "conform/recorded_tensor.hpp"
#include "conform/target.hpp"

namespace labrig::conform {
namespace {

constexpr double kTolerance = 1e-5;

struct Input {
  std::optional<RecordedTensor> tensor;  // none: left out
  bool whole = false;
  std::optional<RecordedTensor> gradient;
};

struct Entry {
  std::string name;  // "entry 5 (matmul)"
  const RecordedOperator* op = nullptr;
  Attributes attributes{std::nullopt};
  std::vector<Input> inputs;
  RecordedTensor output;
  std::optional<RecordedTensor> gradient;  // of the output
};

// --- reading ---------------------------------------------------------------------------------------------------------

std::optional<RecordedTensor> tensor_or_none(const Value& value) {
  return value.json().is_null() ? std::nullopt : std::optional(read_tensor(value));
}

void read_inputs(const Value& value, Entry& entry) {
  const std::vector<Value> inputs = value.at("inputs").items();
  if (inputs.size() < entry.op->least_inputs || inputs.size() > entry.op->most_inputs) {
    value.at("inputs").fail("has " + std::to_string(inputs.size()) + " entries, which is no number of inputs of " +
                            std::string(entry.op->name));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    entry.inputs.push_back({tensor_or_none(inputs[i]), i < 32 && ((entry.op->whole >> i) & 1u) != 0, std::nullopt});
  }
  if (!entry.inputs[0].tensor) inputs[0].fail("is null, and only later inputs can be left out");
  const auto whole = value.find("int");
  if (!whole) return;
  const std::vector<Value> flags = whole->items();
  if (flags.size() != inputs.size()) whole->fail("does not have one entry for each of \"inputs\"");
  for (std::size_t i = 0; i < flags.size(); ++i) entry.inputs[i].whole = flags[i].flag();
}

// One entry for each input; or, when there are fewer, for each input of floating point.
void read_gradients(const Value& value, Entry& entry) {
  if (const auto gradient = value.find("grad_output")) entry.gradient = read_tensor(*gradient);
  const auto list = value.find("grad_inputs");
  if (!list || !entry.gradient) return;
  const std::vector<Value> gradients = list->items();
  const bool for_each = gradients.size() == entry.inputs.size();
  std::size_t next = 0;
  for (Input& input : entry.inputs) {
    if (next == gradients.size() || (!for_each && input.whole)) continue;
    input.gradient = tensor_or_none(gradients[next++]);
  }
  if (next < gradients.size()) list->fail("has more entries than there are inputs");
}

// Nothing for an operator that is not known here, which is then noted.
std::optional<Entry> read_entry(const Value& value, std::size_t index, Outcome& outcome) {
  value.note_unknown({"attrs", "grad_inputs", "grad_output", "inputs", "int", "name", "op", "output"}, outcome.ignored);
  const std::string op = value.at("op").text();
  Entry entry;
  entry.name = "entry " + std::to_string(index) + " (" + op + ")";
  entry.op = operator_named(op);
  if (!entry.op) {
    outcome.left_out[op] = "not known here";
    return std::nullopt;
  }
  entry.attributes = Attributes(value.find("attrs"));
  read_inputs(value, entry);
  entry.output = read_tensor(value.at("output"));
  read_gradients(value, entry);
  return entry;
}

// --- comparing -------------------------------------------------------------------------------------------------------

struct Found {
  std::string part;  // "output", "grad_inputs[1]", "error"
  Mismatch mismatch;
};

std::vector<Tensor> inputs_on(Device device, const Entry& entry) {
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < entry.inputs.size(); ++i) {
    const Input& input = entry.inputs[i];
    const bool mask = i < 32 && ((entry.op->mask >> i) & 1u) != 0;
    const Dtype dtype = mask ? kBool : input.whole ? kI64 : kF32;
    result.push_back(input.tensor ? input.tensor->on(device, dtype) : Tensor());
    if (input.gradient) result.back().requires_grad_();
  }
  return result;
}

std::optional<Found> run(const Entry& entry, Device device) {
  const std::vector<Tensor> inputs = inputs_on(device, entry);
  const Tensor output = entry.op->call(inputs, entry.attributes);
  if (const auto found = compare(output, entry.output, kTolerance)) return Found{"output", *found};
  if (!entry.gradient) return std::nullopt;
  const RecordedTensor& gradient = *entry.gradient;
  if (output.requires_grad()) output.backward(gradient.on(device, output.dtype()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::optional<RecordedTensor>& expected = entry.inputs[i].gradient;
    if (!expected) continue;
    const std::string part = "grad_inputs[" + std::to_string(i) + "]";
    if (!inputs[i].grad().defined()) return Found{part, {"", "a gradient", "none"}};
    if (const auto found = compare(inputs[i].grad(), *expected, kTolerance)) return Found{part, *found};
  }
  return std::nullopt;
}

std::optional<Found> run_on(Target& target, const Entry& entry) {
  try {
    return run(entry, target.device());
  } catch (const Error& error) {
    if (error.code() == "bad-file") throw;  // an attribute that is not of its form
    target.restart();
    return Found{"error", {"", "a result", std::string(error.what()) + ": " + error.why()}};
  }
}

}  // namespace

Outcome operators(const JsonFile& file, Device device) {
  const Value root(file);
  Target target(device);
  Outcome outcome;
  outcome.kind = "operators";
  outcome.device = target.device().str();
  outcome.word = "agree: |ours - recorded| <= 1e-05 max(1, max |recorded|)";
  const std::vector<Value> entries = root.entries("operators");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::optional<Entry> entry = read_entry(entries[i], i, outcome);
    if (!entry) continue;
    const std::optional<Found> found = run_on(target, *entry);
    const std::set<std::string> unknown = entry->attributes.unknown();
    outcome.ignored.insert(unknown.begin(), unknown.end());
    if (!found) {
      outcome.pass();
    } else if (!unknown.empty()) {
      outcome.left_out[entry->name] = "differs, and has the attribute " + *unknown.begin() + ", not known here";
    } else {
      outcome.differ({entry->name,
                      {{"entry", i}, {"op", entry->op->name}},
                      found->part + found->mismatch.index,
                      found->mismatch.expected,
                      found->mismatch.got});
    }
  }
  if (outcome.total == 0) {
    std::string names;
    for (const auto& [name, reason] : outcome.left_out) names += (names.empty() ? "" : ", ") + name;
    root.fail("has no operator that is known here, but " + names);
  }
  return outcome;
}

}  // namespace labrig::conform
