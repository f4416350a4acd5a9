// Rows of an autocast table: the policy is asked for each, and operators that the core has are run in a region as well.
#include "conform/autocast.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "conform/operator_table.hpp"
#include "conform/target.hpp"
#include "labrig/amp.hpp"

namespace labrig::conform {
namespace {

constexpr std::string_view kErrorPrefix = "error: ";

struct Row {
  std::string op;
  Dtype region{}, a{}, b{};
  std::string result;  // a type as we write it, or "error: …"
};

// --- reading ---------------------------------------------------------------------------------------------------------

// An error is compared by its first line; builds of PyTorch differ in whether names in it begin with "torch.".
std::string first_line(std::string text) {
  text.erase(std::min(text.find('\n'), text.size()));
  for (std::size_t at = text.find("torch."); at != text.npos; at = text.find("torch.", at)) text.erase(at, 6);
  return text;
}

std::optional<Dtype> dtype_named(std::string text) {
  if (text.starts_with("torch.")) text.erase(0, 6);
  static const std::map<std::string, Dtype> kNames = {
      {"float16", kF16}, {"half", kF16},  {"bfloat16", kBF16}, {"float32", kF32},    {"float", kF32}, {"float64", kF64},
      {"double", kF64},  {"int64", kI64}, {"int32", kI32},     {"uint8", Dtype::u8}, {"bool", kBool}};
  const auto found = kNames.find(text);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

Dtype dtype_of_value(const Value& value) {
  const std::optional<Dtype> dtype = dtype_named(value.text());
  if (!dtype) value.fail("is no element type");
  return *dtype;
}

Row read_row(const Value& value) {
  const std::vector<Value> parts = value.items();
  if (parts.size() < 5) value.fail("is not [operator, type of the region, type of a, type of b, result]");
  Row row{parts[0].text(), dtype_of_value(parts[1]), dtype_of_value(parts[2]), dtype_of_value(parts[3]),
          parts[4].text()};
  row.result = row.result.starts_with("error") ? first_line(row.result) : name_of(dtype_of_value(parts[4]));
  return row;
}

// --- ours ------------------------------------------------------------------------------------------------------------

template <class Call>
std::string result_of(Call&& call) {
  try {
    return name_of(call());
  } catch (const Error& error) {
    return first_line(std::string(kErrorPrefix) + error.what());
  }
}

// Small inputs that the operator takes: those of floating point have the types of the row.
std::vector<Tensor> inputs_for(const RecordedOperator& op, const Row& row, Device device) {
  const int dims = op.name == "conv2d" ? 4 : op.name == "bmm" ? 3 : 2;
  const Dims shape(std::vector<std::int64_t>(static_cast<std::size_t>(dims), 4));
  const std::size_t count = op.most_inputs == kAnyNumber ? 2 : op.least_inputs;
  std::vector<Tensor> inputs;
  bool first = true;
  for (std::size_t i = 0; i < count; ++i) {
    if ((op.mask >> i) & 1u) {
      inputs.push_back(ones(shape, Options(kBool, device)));
    } else if ((op.whole >> i) & 1u) {
      inputs.push_back(zeros({4}, Options(kI64, device)));
    } else {
      inputs.push_back(ones(shape, Options(first ? row.a : row.b, device)));
      first = false;
    }
  }
  return inputs;
}

std::string run(const RecordedOperator& op, const Row& row, Target& target) {
  const std::vector<Tensor> inputs = inputs_for(op, row, target.device());
  const amp::AutocastGuard guard(target.device().type(), row.region);
  return result_of([&] { return op.call(inputs, Attributes(std::nullopt)).dtype(); });
}

class Rows {
 public:
  Rows(Device device, Outcome& outcome) : target_(device), outcome_(outcome) {
    outcome_.device = target_.device().str();
    if (!target_.is_card()) outcome_.notes.push_back("nothing was run: the host has another list than cards");
  }

  void compare(const Row& row, std::size_t index) {
    if (!agrees(row, index, "policy table", policy_result(row))) return;
    const RecordedOperator* op = target_.is_card() ? operator_named(row.op) : nullptr;
    if (op && !agrees(row, index, "operator run", run(*op, row, target_))) return;
    run_ += op ? 1 : 0;
    outcome_.pass();
  }
  std::size_t rows_run() const { return run_; }

 private:
  std::string policy_result(const Row& row) const {
    const DeviceType type = target_.is_card() ? target_.device().type() : DeviceType::cuda;
    return result_of([&] { return amp::result_dtype(row.op, row.region, row.a, row.b, type); });
  }
  bool agrees(const Row& row, std::size_t index, const char* key, const std::string& got) {
    if (got == row.result) return true;
    if (amp::policy(row.op, DeviceType::cuda) == amp::Policy::unlisted && !operator_named(row.op)) {
      outcome_.left_out[row.op] = "not known here";
      return false;
    }
    const auto text = [](Dtype dtype) { return std::string(name_of(dtype)); };
    outcome_.differ({"row " + std::to_string(index) + ": " + row.op + " of " + text(row.a) + " and " + text(row.b) +
                         " in a region of " + text(row.region),
                     {{"row", index}, {"op", row.op}},
                     key,
                     row.result,
                     got});
    return false;
  }

  Target target_;
  Outcome& outcome_;
  std::size_t run_ = 0;
};

}  // namespace

Outcome autocast_rows(const JsonFile& file, Device device) {
  Outcome outcome;
  outcome.kind = "autocast";
  Rows rows(device, outcome);
  std::size_t index = 0;
  for (const Value& entry : Value(file).entries("autocast")) rows.compare(read_row(entry), index++);
  outcome.figures = {{"rows_run", rows.rows_run()}};
  if (rows.rows_run() > 0) outcome.notes.push_back(std::to_string(rows.rows_run()) + " of them were run as well");
  return outcome;
}

}  // namespace labrig::conform
