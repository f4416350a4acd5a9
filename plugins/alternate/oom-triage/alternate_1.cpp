// A correct answer to lab 03 of another design: the diagnosis reads the failure first and falls back on the rows; the
// training measures one sample and takes as many as should fit; the estimate adds up layer by layer.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "interface.hpp"
#include "labrig/autograd.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/optim.hpp"

using labrig::Device;
using labrig::HistoryOwner;
using labrig::HistoryRow;
using labrig::MemoryCause;
using labrig::MemoryHistory;
using labrig::Tensor;
using oom_triage::Diagnosis;

namespace {

// A straight line through the allocated bytes of the training rows.
struct Slope {
  double mean = 0, per_step = 0, correlation = 0;
  std::int64_t first = -1, last = -1, steps = 0;

  explicit Slope(const MemoryHistory& history) {
    std::vector<double> x, y;
    for (std::size_t i = 0; i < history.rows.size(); ++i) {
      const HistoryRow& row = history.rows[i];
      if (row.phase != "train") continue;
      if (first < 0) first = static_cast<std::int64_t>(i);
      last = static_cast<std::int64_t>(i);
      x.push_back(static_cast<double>(row.step));
      y.push_back(static_cast<double>(row.allocated_bytes));
    }
    if (x.size() < 2) return;
    steps = static_cast<std::int64_t>(x.back() - x.front());
    const auto count = static_cast<double>(x.size());
    double mean_x = 0, xx = 0, xy = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) mean_x += x[i] / count, mean += y[i] / count;
    for (std::size_t i = 0; i < x.size(); ++i) {
      xx += (x[i] - mean_x) * (x[i] - mean_x);
      xy += (x[i] - mean_x) * (y[i] - mean);
      yy += (y[i] - mean) * (y[i] - mean);
    }
    per_step = xy / xx;
    correlation = yy > 0 ? xy / std::sqrt(xx * yy) : 0;
  }
  bool is_a_climb() const { return steps >= 10 && correlation > 0.9 && per_step * 10 > 0.05 * mean; }
};

// Whether what has grown between the first and the last look is of several operators.
bool is_a_graph(const MemoryHistory& history) {
  std::map<std::string, double> grown;
  for (const HistoryOwner& owner : history.owners) {
    if (owner.op == "model" || owner.op == "gradient" || owner.op == "optimizer") continue;
    const auto bytes = static_cast<double>(owner.bytes);
    if (owner.row == history.owners.front().row) grown[owner.op] -= bytes;
    if (owner.row == history.owners.back().row) grown[owner.op] += bytes;
  }
  double most = 0, all = 0;
  for (const auto& [op, bytes] : grown) most = std::max(most, bytes), all += std::max(bytes, 0.0);
  return most < 0.9 * all;
}

}  // namespace

class AlternateOne : public oom_triage::Submission {
 public:
  Diagnosis diagnose(const MemoryHistory& history) override {
    const auto end = static_cast<std::int64_t>(history.rows.size());
    const auto& failure = history.failure;
    if (failure) {
      const auto free = static_cast<double>(failure->free_bytes + failure->reserved_bytes + history.card.context_bytes);
      if (free < 0.9 * static_cast<double>(history.card.total_bytes)) return {MemoryCause::other_process, {end}};
    }
    for (const HistoryOwner& owner : history.owners)
      if (owner.op == "checkpoint" && owner.bytes > (std::size_t{16} << 20))
        return {MemoryCause::resume_loads_state, {owner.row}};
    const Slope slope(history);
    if (slope.is_a_climb())
      return {is_a_graph(history) ? MemoryCause::losses_keep_graph : MemoryCause::outputs_kept,
              {slope.first, slope.last}};
    if (const std::vector<std::int64_t> rows = evaluation_above_training(history); !rows.empty())
      return {MemoryCause::eval_without_no_grad, rows};
    if (!failure) return {MemoryCause::healthy, {slope.first, slope.last}};
    if (failure->reserved_bytes >= failure->allocated_bytes + failure->requested_bytes)
      return {MemoryCause::fragmentation, {end}};
    const double share = static_cast<double>(failure->requested_bytes) / static_cast<double>(failure->allocated_bytes);
    return {share > 0.8 ? MemoryCause::operator_spike : MemoryCause::batch_too_big, {end}};
  }

  Tensor train(oom_triage::Job& job, Device device) override {
    job.model().to(device);
    labrig::optim::SGD optimizer(job.model().parameters(), {.lr = job.learning_rate()});
    std::int64_t micro = measured(job, device);
    std::vector<Tensor> losses;
    while (static_cast<std::int64_t>(losses.size()) < job.steps()) {
      const auto step = static_cast<std::int64_t>(losses.size());
      optimizer.zero_grad();
      if (Tensor loss = in_parts(job, step, micro, device); loss.defined()) {
        optimizer.step();
        losses.push_back(loss.reshape({1}));
      } else {
        micro = std::max<std::int64_t>(1, micro * 2 / 3);
      }
    }
    return labrig::cat(losses);
  }

  std::int64_t largest_batch(const oom_triage::ModelShape& model, oom_triage::Optimizer optimizer,
                             labrig::Dtype precision, std::size_t capacity_bytes) override {
    const auto bytes = static_cast<std::int64_t>(labrig::element_bytes(precision));
    std::int64_t fixed = 0, token = model.layers.front().in + model.layers.back().out, widest = 0, largest = 0;
    for (const auto& [in, out, relu] : model.layers) {
      const std::int64_t parameters = in * out + out;
      largest = std::max(largest, parameters);
      fixed += parameters * (optimizer == oom_triage::Optimizer::adam  ? 4
                             : optimizer == oom_triage::Optimizer::sgd ? 2
                                                                       : 3);
      token += out;
      widest = std::max(widest, out);
    }
    fixed += largest;  // a gradient on its way to the others
    const std::int64_t left = static_cast<std::int64_t>(capacity_bytes) - fixed * bytes;
    return left * 4 / 5 / ((token + 2 * widest) * model.tokens * bytes);
  }

 private:
  static std::vector<std::int64_t> evaluation_above_training(const MemoryHistory& history) {
    double train = 0, eval = 0, trained = 0;
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < history.rows.size(); ++i) {
      const auto here = static_cast<double>(history.rows[i].allocated_bytes);
      if (history.rows[i].phase == "train") train += here, trained += 1;
      if (history.rows[i].phase == "eval") eval += here, rows.push_back(static_cast<std::int64_t>(i));
    }
    return !rows.empty() && eval / static_cast<double>(rows.size()) > 1.4 * train / trained
               ? rows
               : std::vector<std::int64_t>();
  }

  // How many samples should fit, from what one of them takes.
  static std::int64_t measured(oom_triage::Job& job, Device device) {
    const std::size_t before = labrig::memory_allocated(device);
    labrig::reset_peak_memory_stats(device);
    part(job, 0, 0, 1, device);
    const double one = static_cast<double>(labrig::max_memory_allocated(device) - before);
    job.model().zero_grad();
    const auto room = static_cast<double>(labrig::mem_get_info(device).total_bytes - before);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(0.7 * room / one), 1, job.samples());
  }

  // The loss of some samples, times their share of all; its gradients are added.
  static Tensor part(oom_triage::Job& job, std::int64_t step, std::int64_t first, std::int64_t count, Device device) {
    const auto [x, y] = job.take(step, first, count);
    const Tensor loss = labrig::mse_loss(job.model()(x.to(device)), y.to(device), labrig::Reduction::sum) *
                        (1.0 / static_cast<double>(job.samples() * y[0].numel()));
    loss.backward();
    return loss.detach();
  }

  // Undefined when memory ran out and fewer samples can be tried.
  static Tensor in_parts(oom_triage::Job& job, std::int64_t step, std::int64_t micro, Device device) {
    try {
      Tensor sum = labrig::zeros({}, device);
      for (std::int64_t first = 0; first < job.samples(); first += micro)
        labrig::add_(sum, part(job, step, first, std::min(micro, job.samples() - first), device));
      return sum;
    } catch (const labrig::OutOfMemoryError&) {
      if (micro == 1) throw;
    }
    return {};
  }
};

LABRIG_SUBMISSION(AlternateOne)
