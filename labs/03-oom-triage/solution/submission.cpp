// Lab 03, oom-triage: the reference solution. The diagnosis asks one question after the other, the surest first; the
// training halves its micro-batch outside of the handler, where nothing of the failed try is left; the estimate adds up
// what a step holds and keeps some of the card in reserve.
#include <algorithm>
#include <map>
#include <set>

#include "interface.hpp"
#include "labrig/autograd.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/optim.hpp"

using labrig::HistoryFailure;
using labrig::HistoryRow;
using labrig::MemoryCause;
using labrig::MemoryHistory;
using labrig::Tensor;
using oom_triage::Diagnosis;

namespace {

// --- task 1: the questions -----------------------------------------------------------------------------------

class Triage {
 public:
  explicit Triage(const MemoryHistory& history) : history_(history), failure_(history.failure) {}

  Diagnosis diagnosis() const {
    const auto at_failure = static_cast<std::int64_t>(history_.rows.size());
    if (others_are_in_the_way()) return {MemoryCause::other_process, {at_failure}};
    if (const auto rows = climb(); !rows.empty())
      return {growing_operators() > 1 ? MemoryCause::losses_keep_graph : MemoryCause::outputs_kept, rows};
    if (const auto rows = checkpoint_rows(); !rows.empty()) return {MemoryCause::resume_loads_state, rows};
    const auto evaluation = rows_of("eval");
    if (!evaluation.empty() && median(evaluation) > 1.25 * median(rows_of("train")))
      return {MemoryCause::eval_without_no_grad, evaluation};
    if (!failure_) return {MemoryCause::healthy, {rows_of("train").front(), rows_of("train").back()}};
    if (is_in_pieces()) return {MemoryCause::fragmentation, {at_failure}};
    if (failure_->requested_bytes > ordinary_bytes()) return {MemoryCause::operator_spike, {at_failure}};
    return {MemoryCause::batch_too_big, {at_failure}};
  }

 private:
  const HistoryRow& row(std::int64_t number) const { return history_.rows[static_cast<std::size_t>(number)]; }

  std::vector<std::int64_t> rows_of(const std::string& phase) const {
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < history_.rows.size(); ++i)
      if (history_.rows[i].phase == phase) numbers.push_back(static_cast<std::int64_t>(i));
    return numbers;
  }

  double median(const std::vector<std::int64_t>& numbers) const {
    std::vector<std::size_t> values;
    for (const std::int64_t number : numbers) values.push_back(row(number).allocated_bytes);
    std::ranges::sort(values);
    return values.empty() ? 0 : static_cast<double>(values[values.size() / 2]);
  }

  // Total - context - free - reserved is held by others; without them the request would have been served.
  bool others_are_in_the_way() const {
    if (!failure_) return false;
    const std::size_t ours = history_.card.context_bytes + failure_->free_bytes + failure_->reserved_bytes;
    const std::size_t others = history_.card.total_bytes - std::min(history_.card.total_bytes, ours);
    return others > history_.card.total_bytes / 10 && failure_->segment_bytes <= failure_->free_bytes + others;
  }

  // Two rows of training, ten steps apart, with no step back between them; none when there are none.
  std::vector<std::int64_t> climb() const {
    const auto train = rows_of("train");
    for (std::size_t from = train.size(); from-- > 0;) {
      if (row(train.back()).step - row(train[from]).step < 10) continue;
      for (std::size_t i = from + 1; i < train.size(); ++i)
        if (row(train[i]).allocated_bytes < row(train[i - 1]).allocated_bytes) return {};
      const auto before = static_cast<double>(row(train[from]).allocated_bytes);
      const auto after = static_cast<double>(row(train.back()).allocated_bytes);
      if (after > 1.05 * before) return {train[from], train.back()};
      return {};
    }
    return {};
  }

  // Of how many operators more is held at the end than at the beginning.
  std::int64_t growing_operators() const {
    if (history_.owners.empty()) return 0;
    const std::int64_t first = history_.owners.front().row, last = history_.owners.back().row;
    std::map<std::string, double> grown;
    for (const labrig::HistoryOwner& owner : history_.owners) {
      if (owner.op == "model" || owner.op == "gradient" || owner.op == "optimizer") continue;
      if (owner.row == first) grown[owner.op] -= static_cast<double>(owner.bytes);
      if (owner.row == last) grown[owner.op] += static_cast<double>(owner.bytes);
    }
    double most = 0;
    for (const auto& [op, bytes] : grown) most = std::max(most, bytes);
    return std::ranges::count_if(grown, [&](const auto& each) { return each.second > most / 20; });
  }

  // Where blocks of a checkpoint were still held.
  std::vector<std::int64_t> checkpoint_rows() const {
    std::vector<std::int64_t> rows;
    for (const labrig::HistoryOwner& owner : history_.owners)
      if (owner.op == "checkpoint" && owner.bytes > row(owner.row).allocated_bytes / 8) rows.push_back(owner.row);
    return rows;
  }

  bool is_in_pieces() const {
    const std::size_t unused = failure_->reserved_bytes - failure_->allocated_bytes;
    return unused >= failure_->requested_bytes && failure_->requested_bytes > failure_->largest_free_block_bytes;
  }

  // What a step held at most, beyond what it left behind.
  std::size_t ordinary_bytes() const {
    const std::size_t before = history_.rows.back().allocated_bytes;
    std::size_t most = failure_->allocated_bytes - std::min(failure_->allocated_bytes, before);
    for (const std::int64_t number : rows_of("train"))
      most = std::max(most, row(number).peak_allocated_bytes - row(number).allocated_bytes);
    return most;
  }

  const MemoryHistory& history_;
  const std::optional<HistoryFailure>& failure_;
};

}  // namespace

class Solution : public oom_triage::Submission {
 public:
  Diagnosis diagnose(const MemoryHistory& history) override { return Triage(history).diagnosis(); }

  // --- task 2 ------------------------------------------------------------------------------------------------
  Tensor train(oom_triage::Job& job, labrig::Device device) override {
    job.model().to(device);
    labrig::optim::SGD optimizer(job.model().parameters(), {.lr = job.learning_rate()});
    const Tensor losses = labrig::zeros({job.steps()}, device);
    std::int64_t micro = job.samples();
    for (std::int64_t step = 0; step < job.steps(); ++step) {
      while (!try_step(job, step, micro, optimizer, losses.narrow(0, step, 1))) micro = (micro + 1) / 2;
      optimizer.step();
    }
    return losses;
  }

  // --- task 3 ------------------------------------------------------------------------------------------------
  std::int64_t largest_batch(const oom_triage::ModelShape& model, oom_triage::Optimizer optimizer,
                             labrig::Dtype precision, std::size_t capacity_bytes) override {
    double parameters = 0, widest = 0;
    double kept = static_cast<double>(model.layers.front().in + model.layers.back().out);  // the sample and its target
    for (const oom_triage::Layer& layer : model.layers) {
      parameters += static_cast<double>(layer.out * (layer.in + 1));
      kept += static_cast<double>(layer.out);  // for the way back
      widest = std::max(widest, static_cast<double>(layer.out));
    }
    const double copies = optimizer == oom_triage::Optimizer::adam       ? 4
                          : optimizer == oom_triage::Optimizer::momentum ? 3
                                                                         : 2;  // parameters, gradients, state
    const auto size = static_cast<double>(labrig::element_bytes(precision));
    const double a_sample = size * static_cast<double>(model.tokens) * (kept + 2 * widest);  // two on their way
    const double room = static_cast<double>(capacity_bytes) - size * copies * parameters;
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(0.8 * room / a_sample));  // segments are never full
  }

 private:
  // Gradients and loss of one step, in micro-batches. False when memory ran out and a smaller one may do. When this
  // returns, nothing of a failed try is left but gradients, and those are let go at the beginning of the next.
  static bool try_step(oom_triage::Job& job, std::int64_t step, std::int64_t micro, labrig::optim::SGD& optimizer,
                       const Tensor& sum) {
    try {
      optimizer.zero_grad();
      sum.zero_();
      for (std::int64_t first = 0; first < job.samples(); first += micro) {
        const std::int64_t count = std::min(micro, job.samples() - first);
        const oom_triage::Samples samples = job.take(step, first, count);
        const Tensor x = samples.x.to(sum.device()), y = samples.y.to(sum.device());
        const double share = static_cast<double>(count) / static_cast<double>(job.samples());
        const Tensor loss = labrig::mse_loss(job.model()(x), y) * share;
        loss.backward();
        labrig::add_(sum, loss.detach());
      }
      return true;
    } catch (const labrig::OutOfMemoryError&) {
      if (micro == 1) throw;
      return false;
    }
  }
};

LABRIG_SUBMISSION(Solution)
