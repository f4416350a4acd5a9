// Trains the recorded MLP on a card without values, which is quick at any size, and reads the allocator.
#include "conform/training_peaks.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <optional>

#include "conform/target.hpp"
#include "conform/value.hpp"
#include "labrig/amp.hpp"
#include "labrig/memory.hpp"
#include "labrig/nn.hpp"
#include "labrig/optim.hpp"

namespace labrig::conform {
namespace {

constexpr std::int64_t kClasses = 10;
constexpr std::array kMoments = {"forward", "backward", "step", "peak", "reserved"};
constexpr std::size_t kPeak = 3;

using Figures = std::array<std::int64_t, kMoments.size()>;

struct Run {
  std::string name;  // "1024 x 6, batch 2048, adam, fp32"
  std::int64_t width = 0, depth = 0, batch = 0;
  std::string optimizer;
  std::optional<Dtype> autocast;  // none: f32 throughout
  std::vector<Figures> recorded;  // without the base
};

// --- reading ---------------------------------------------------------------------------------------------------------

// What PyTorch held before the model existed in the recording of tests/golden/core: the workspace of cuBLAS, and rests
// of earlier runs.
std::int64_t base_of(const Value& value, const std::string& optimizer, const std::string& precision) {
  if (const auto base = value.find("base")) return base->whole();
  if (optimizer == "adam_fused") return 68'163'584;
  return precision == "fp16" ? 68'159'488 : 68'158'464;
}

std::int64_t count_at(const Value& value, const char* key) {
  return static_cast<std::int64_t>(value.at(key).whole_below(1u << 20));
}

Figures read_figures(const Value& value, std::int64_t base) {
  const std::vector<std::int64_t> bytes = value.wholes();
  if (bytes.size() < kMoments.size()) {
    value.fail("is not [after forward, after backward, after step, peak, reserved]");
  }
  Figures figures{};
  for (std::size_t i = 0; i < figures.size(); ++i) figures[i] = bytes[i] - base;
  return figures;
}

// Nothing for a run that is not known here, which is then noted.
std::optional<Run> read_run(const Value& value, Outcome& outcome) {
  value.note_unknown({"base", "batch", "depth", "optimizer", "params", "precision", "steps", "width"}, outcome.ignored);
  const std::string optimizer = value.at("optimizer").text(), precision = value.at("precision").text();
  Run run{"", count_at(value, "width"), count_at(value, "depth"), count_at(value, "batch"), optimizer, {}, {}};
  run.name = std::to_string(run.width) + " x " + std::to_string(run.depth) + ", batch " + std::to_string(run.batch) +
             ", " + optimizer + ", " + precision;
  if (precision == "fp16") run.autocast = kF16;
  if (precision == "bf16") run.autocast = kBF16;
  const std::int64_t base = base_of(value, optimizer, precision);
  for (const Value& step : value.at("steps").items()) run.recorded.push_back(read_figures(step, base));
  const bool known = optimizer == "sgd" || optimizer == "adam" || optimizer == "adam_fused" || optimizer == "adamw";
  if (known && (run.autocast || precision == "fp32")) return run;
  outcome.left_out[optimizer + " in " + precision] = "not known here";
  return std::nullopt;
}

// --- ours ------------------------------------------------------------------------------------------------------------

class Training {
 public:
  Training(const Run& run, Device device)
      : device_(device),
        base_(memory_allocated(device)),
        autocast_(run.autocast),
        x_(zeros({run.batch, run.width}, device)),
        target_(zeros({run.batch}, Options(kI64, device))) {
    for (std::int64_t layer = 0; layer < run.depth; ++layer) {
      model_.push_back(nn::Linear(run.width, run.width, true, device)).push_back(nn::ReLU());
    }
    model_.push_back(nn::Linear(run.width, kClasses, true, device));
    if (run.optimizer == "sgd") {
      optimizer_ = std::make_unique<optim::SGD>(model_.parameters());
    } else if (run.optimizer == "adamw") {
      optimizer_ = std::make_unique<optim::AdamW>(model_.parameters());
    } else {
      optimizer_ = std::make_unique<optim::Adam>(model_.parameters());
    }
  }

  Figures step() {
    Figures figures{};
    reset_peak_memory_stats(device_);
    optimizer_->zero_grad();
    Tensor loss = forward();
    figures[0] = allocated();
    loss = scaled(loss);
    loss.backward();
    loss = Tensor();  // no step needs it; the recorded base counts one, so that it is not in the recorded figures
    figures[1] = allocated();
    update();
    figures[2] = allocated();
    figures[kPeak] = net(max_memory_allocated(device_));
    figures[4] = net(memory_reserved(device_));
    return figures;
  }

 private:
  std::int64_t net(std::size_t bytes) const {
    return static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(base_);
  }
  std::int64_t allocated() const { return net(memory_allocated(device_)); }

  Tensor forward() {
    const amp::AutocastGuard guard(device_.type(), autocast_.value_or(kF16), autocast_.has_value());
    return cross_entropy(model_.forward(x_), target_);
  }
  Tensor scaled(const Tensor& loss) { return autocast_ == kF16 ? scaler_.scale(loss) : loss; }
  // As GradScaler::step(), which would read from the card whether to step: there is nothing to read where no values
  // are.
  void update() {
    if (autocast_ == kF16) scaler_.unscale_(*optimizer_);
    optimizer_->step();
    if (autocast_ == kF16) scaler_.update();
  }

  Device device_;
  std::size_t base_;
  std::optional<Dtype> autocast_;
  Tensor x_, target_;
  nn::Sequential model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  amp::GradScaler scaler_;
};

std::vector<Figures> measured(const Run& run, Device device) {
  std::vector<Figures> figures;
  figures.reserve(run.recorded.size());
  Training training(run, device);
  for (std::size_t i = 0; i < run.recorded.size(); ++i) figures.push_back(training.step());
  return figures;
}

// --- the answer ------------------------------------------------------------------------------------------------------

std::string mib(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(bytes) / 0x1p20);
  return text;
}

// The figures of the last step, and the highest peak.
std::vector<std::string> table_row(const Run& run, const std::vector<Figures>& ours) {
  std::vector<std::string> row = {run.name};
  for (std::size_t m = 0; m < kMoments.size(); ++m) {
    std::int64_t mine = ours.back()[m], theirs = run.recorded.back()[m];
    for (std::size_t i = 0; m == kPeak && i < ours.size(); ++i) {
      mine = std::max(mine, ours[i][m]), theirs = std::max(theirs, run.recorded[i][m]);
    }
    row.push_back(mib(mine) + " / " + mib(theirs));
  }
  return row;
}

void judge(const Run& run, const std::vector<Figures>& ours, Outcome& outcome) {
  outcome.table.rows.push_back(table_row(run, ours));
  outcome.figures["rows"].push_back({{"run", run.name}, {"ours", ours}, {"pytorch", run.recorded}});
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i][kPeak] <= run.recorded[i][kPeak]) continue;
    return outcome.differ({run.name + ", step " + std::to_string(i),
                           {{"run", run.name}, {"step", i}},
                           "peak in bytes",
                           "at most " + std::to_string(run.recorded[i][kPeak]),
                           std::to_string(ours[i][kPeak])});
  }
  outcome.pass();
}

}  // namespace

Outcome training_peaks(const JsonFile& file, Device device) {
  const Value root(file);
  if (device.is_cpu()) {
    throw Error("usage", "training_peaks needs a card", "the memory of the host is not counted", "use --device sim");
  }
  Target target(device, Target::Values::none);
  Outcome outcome;
  outcome.kind = "training_peaks";
  outcome.device = target.device().str();
  outcome.word = "need no more memory than PyTorch";
  outcome.table.head = {"MiB, ours / PyTorch's"};
  for (const char* moment : kMoments) outcome.table.head.push_back(moment);
  for (const Value& entry : root.entries("training_peaks")) {
    const std::optional<Run> run = read_run(entry, outcome);
    if (!run || run->recorded.empty()) continue;
    try {
      judge(*run, measured(*run, target.device()), outcome);
    } catch (const Error& error) {
      outcome.differ({run->name, {{"run", run->name}}, "error", "three steps", error.what()});
    }
    target.restart();
  }
  if (outcome.total == 0) root.fail("has no run that is known here");
  return outcome;
}

}  // namespace labrig::conform
