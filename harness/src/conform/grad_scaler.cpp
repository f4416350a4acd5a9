// Runs the recorded program of a scaler step by step; every number must be the recorded one to the bit.
#include "conform/grad_scaler.hpp"

#include <optional>

#include "conform/recorded_tensor.hpp"
#include "conform/target.hpp"
#include "labrig/amp.hpp"
#include "labrig/ops.hpp"
#include "labrig/optim.hpp"

namespace labrig::conform {
namespace {

struct Row {
  std::optional<double> bad;
  bool explicit_unscale = false;
  std::optional<bool> skipped;
  std::optional<double> scale_after;
  std::optional<std::int64_t> growth_tracker;
  std::optional<std::vector<double>> parameter;
};

Row read_row(const Value& value, Outcome& outcome) {
  value.note_unknown({"bad", "explicit_unscale", "growth_tracker", "param", "scale_after", "skipped"}, outcome.ignored);
  Row row;
  if (const auto bad = value.find("bad")) row.bad = bad->number();
  if (const auto flag = value.find("explicit_unscale")) row.explicit_unscale = flag->flag();
  if (const auto flag = value.find("skipped")) row.skipped = flag->flag();
  if (const auto scale = value.find("scale_after")) row.scale_after = scale->number();
  if (const auto tracker = value.find("growth_tracker")) row.growth_tracker = tracker->whole();
  if (const auto parameter = value.find("param")) row.parameter = flat_numbers(*parameter);
  return row;
}

double number_or(const Value& value, const char* key, double otherwise) {
  const auto found = value.find(key);
  return found ? found->number() : otherwise;
}

amp::GradScalerOptions read_options(const Value& value) {
  amp::GradScalerOptions options;
  options.init_scale = number_or(value, "init", options.init_scale);
  options.growth_factor = number_or(value, "growth", options.growth_factor);
  options.backoff_factor = number_or(value, "backoff", options.backoff_factor);
  if (const auto interval = value.find("interval")) options.growth_interval = interval->whole();
  return options;
}

// What one step left behind.
struct Got {
  bool skipped = false;
  double scale = 0;
  std::int64_t tracker = 0;
  std::vector<double> parameter;
};

class Program {
 public:
  Program(Device device, std::int64_t elements, double lr, const amp::GradScalerOptions& options)
      : parameter_(ones({elements}, device)), optimizer_({parameter_.requires_grad_()}, {.lr = lr}), scaler_(options) {}

  Got step(const Row& row) {
    optimizer_.zero_grad();
    scaler_.scale(sum(parameter_)).backward();
    if (row.bad) parameter_.grad()[0].fill_(*row.bad);
    if (row.explicit_unscale) scaler_.unscale_(optimizer_);
    const bool stepped = scaler_.step(optimizer_);
    scaler_.update();
    return {!stepped, scaler_.get_scale(), scaler_.get_growth_tracker(), values_of(parameter_)};
  }

 private:
  Tensor parameter_;
  optim::SGD optimizer_;
  amp::GradScaler scaler_;
};

std::optional<Mismatch> compare_row(const Row& row, const Got& got, std::string& key) {
  const auto word = [](bool flag) { return std::string(flag ? "true" : "false"); };
  const auto differs = [&](const char* name, const std::string& expected, const std::string& ours) {
    key = name;
    return expected == ours ? std::nullopt : std::optional<Mismatch>({"", expected, ours});
  };
  std::optional<Mismatch> found;
  if (row.skipped) found = differs("skipped", word(*row.skipped), word(got.skipped));
  if (!found && row.scale_after) found = differs("scale_after", number_text(*row.scale_after), number_text(got.scale));
  if (!found && row.growth_tracker) {
    found = differs("growth_tracker", std::to_string(*row.growth_tracker), std::to_string(got.tracker));
  }
  if (!found && row.parameter) {
    key = "param";
    found = compare(got.parameter, *row.parameter, 0);
  }
  return found;
}

std::optional<Difference> run(const std::vector<Row>& rows, std::size_t index, Program& program) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string key;
    const auto found = compare_row(rows[i], program.step(rows[i]), key);
    if (!found) continue;
    return Difference{"scaler " + std::to_string(index) + ", row " + std::to_string(i),
                      {{"scaler", index}, {"row", i}},
                      key + found->index,
                      found->expected,
                      found->got};
  }
  return std::nullopt;
}

}  // namespace

Outcome grad_scaler(const JsonFile& file, Device device) {
  const Value root(file);
  const Target target(device);
  Outcome outcome;
  outcome.kind = "grad_scaler";
  outcome.device = target.device().str();
  std::size_t steps = 0;
  for (const Value& entry : root.entries("grad_scaler")) {
    entry.note_unknown({"backoff", "growth", "init", "interval", "lr", "rows"}, outcome.ignored);
    std::vector<Row> rows;
    for (const Value& row : entry.at("rows").items()) rows.push_back(read_row(row, outcome));
    const std::size_t elements = rows.empty() ? 4 : rows[0].parameter.value_or(std::vector<double>(4)).size();
    if (elements == 0) entry.at("rows").fail("has a parameter without elements");
    Program program(target.device(), static_cast<std::int64_t>(elements), number_or(entry, "lr", 0.1),
                    read_options(entry));
    steps += rows.size();
    if (auto difference = run(rows, outcome.total, program)) {
      outcome.differ(std::move(*difference));
    } else {
      outcome.pass();
    }
  }
  if (steps == 0) root.fail("has no row: there is nothing to compare");
  outcome.figures = {{"steps", steps}};
  return outcome;
}

}  // namespace labrig::conform
