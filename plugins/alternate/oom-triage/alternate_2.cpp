// A correct answer to lab 03 of another design again: the diagnosis gives each cause a score; the training collects the
// gradients itself, so that a failed micro-batch leaves nothing and the step goes on behind the last good one; the
// estimate plays a step through and looks for the largest batch.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "interface.hpp"
#include "labrig/autograd.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"

using labrig::Device;
using labrig::MemoryCause;
using labrig::MemoryHistory;
using labrig::Tensor;
using oom_triage::Diagnosis;

namespace {

constexpr double kMiB = 1 << 20;

struct Suspect {
  MemoryCause cause;
  double score;  // 1 and above: proven
  std::vector<std::int64_t> rows;
};

class Scores {
 public:
  explicit Scores(const MemoryHistory& history) : h_(history), end_(static_cast<std::int64_t>(history.rows.size())) {
    for (std::int64_t i = 0; i < end_; ++i) {
      const auto& row = h_.rows[static_cast<std::size_t>(i)];
      if (row.phase == "train") train_.push_back(i);
      if (row.phase == "eval") eval_.push_back(i);
    }
  }

  // In the order in which they are asked.
  std::vector<Suspect> all() const {
    return {{MemoryCause::other_process, h_.failure ? missing() * 10 : 0, {end_}},
            {MemoryCause::losses_keep_graph, kept_kinds() > 1 ? climb() : 0, ends()},
            {MemoryCause::outputs_kept, kept_kinds() == 1 ? climb() : 0, ends()},
            {MemoryCause::resume_loads_state, checkpoint_mib() / 24, checkpoint_rows()},
            {MemoryCause::eval_without_no_grad, eval_.empty() ? 0 : level(eval_) / level(train_) / 1.3, eval_},
            {MemoryCause::fragmentation, pieces(), {end_}},
            {MemoryCause::operator_spike, spike(), {end_}},
            {MemoryCause::batch_too_big, h_.failure ? 1.0 : 0.0, {end_}},
            {MemoryCause::healthy, 1, outermost()}};
  }

 private:
  double mib(std::int64_t row) const {
    return static_cast<double>(h_.rows[static_cast<std::size_t>(row)].allocated_bytes) / kMiB;
  }

  double missing() const {
    const auto known = h_.card.context_bytes + h_.failure->free_bytes + h_.failure->reserved_bytes;
    return 1 - static_cast<double>(known) / static_cast<double>(h_.card.total_bytes);
  }

  // By how much the last eleven training rows climb, against a twentieth; nothing when one of them is a step back.
  double climb() const {
    if (train_.size() < 11) return 0;
    for (std::size_t i = train_.size() - 10; i < train_.size(); ++i)
      if (mib(train_[i]) < mib(train_[i - 1])) return 0;
    return (mib(train_.back()) / mib(train_[train_.size() - 11]) - 1) * 20;
  }
  std::vector<std::int64_t> outermost() const {
    return train_.empty() ? train_ : std::vector<std::int64_t>{train_.front(), train_.back()};
  }
  std::vector<std::int64_t> ends() const {
    if (train_.size() < 11) return train_;
    return {train_[train_.size() - 11], train_.back()};
  }

  // Operators of which more than a block for every other step is held at the end.
  int kept_kinds() const {
    std::map<std::string, std::int64_t> blocks;
    for (const auto& owner : h_.owners)
      if (owner.row == h_.owners.back().row) blocks[owner.op] += owner.blocks;
    int kinds = 0;
    for (const auto& [op, count] : blocks)
      kinds += op != "model" && op != "gradient" && op != "optimizer" &&
               3 * count > static_cast<std::int64_t>(train_.size());
    return kinds;
  }

  double checkpoint_mib() const {
    double most = 0;
    for (const auto& owner : h_.owners)
      if (owner.op == "checkpoint") most = std::max(most, static_cast<double>(owner.bytes) / kMiB);
    return most;
  }
  std::vector<std::int64_t> checkpoint_rows() const {
    std::vector<std::int64_t> rows;
    for (const auto& owner : h_.owners)
      if (owner.op == "checkpoint") rows.push_back(owner.row);
    return rows;
  }

  double level(std::vector<std::int64_t> rows) const {
    std::ranges::sort(rows, {}, [&](std::int64_t row) { return mib(row); });
    return rows.empty() ? 1e9 : mib(rows[rows.size() / 2]);
  }

  double pieces() const {
    const auto& f = h_.failure;
    if (!f || f->largest_free_block_bytes >= f->requested_bytes) return 0;
    return static_cast<double>(f->reserved_bytes - f->allocated_bytes) / static_cast<double>(f->requested_bytes);
  }

  double spike() const {
    if (!h_.failure) return 0;
    double usual =
        (static_cast<double>(h_.failure->allocated_bytes) - static_cast<double>(h_.rows.back().allocated_bytes));
    for (const std::int64_t i : train_) {
      const auto& row = h_.rows[static_cast<std::size_t>(i)];
      usual = std::max(usual, static_cast<double>(row.peak_allocated_bytes - row.allocated_bytes));
    }
    return static_cast<double>(h_.failure->requested_bytes) / usual;
  }

  const MemoryHistory& h_;
  std::int64_t end_;
  std::vector<std::int64_t> train_, eval_;
};

// What a step holds at most, played through: forward, then backward layer by layer.
double step_bytes(const oom_triage::ModelShape& model, double copies, double size, double batch) {
  const double tokens = batch * static_cast<double>(model.tokens);
  double live = tokens * static_cast<double>(model.layers.front().in + model.layers.back().out), peak = 0, fixed = 0;
  for (const auto& layer : model.layers) {
    const double weight = static_cast<double>(layer.out * (layer.in + 1));
    fixed += weight * copies;
    peak = std::max(peak, live + tokens * static_cast<double>(layer.relu ? 2 * layer.out : layer.out));
    live += tokens * static_cast<double>(layer.out);
  }
  for (std::size_t i = model.layers.size(); i-- > 0;) {
    const auto& layer = model.layers[i];
    const auto gradients =
        static_cast<double>(2 * layer.out + layer.in);  // of what it gave, twice with a ReLU; of what it got
    peak = std::max(peak, live + tokens * gradients + static_cast<double>(layer.out * layer.in));
    live -= tokens * static_cast<double>(layer.out);
  }
  return size * (fixed + peak);
}

}  // namespace

class AlternateTwo : public oom_triage::Submission {
 public:
  Diagnosis diagnose(const MemoryHistory& history) override {
    for (const Suspect& suspect : Scores(history).all())
      if (suspect.score >= 1) return {suspect.cause, suspect.rows};
    return {};
  }

  Tensor train(oom_triage::Job& job, Device device) override {
    job.model().to(device);
    const std::vector<Tensor> parameters = job.model().parameters();
    const Tensor losses = labrig::zeros({job.steps()}, device);
    std::int64_t most = job.samples();
    for (std::int64_t step = 0; step < job.steps(); ++step) {
      std::vector<Tensor> sums;
      for (std::int64_t done = 0; done < job.samples();) {
        const std::int64_t count = std::min(most, job.samples() - done);
        if (add_part(job, step, done, count, parameters, sums, losses.narrow(0, step, 1))) {
          done += count;
        } else {
          most = (count + 1) / 2;
        }
      }
      const labrig::NoGradGuard guard;
      for (std::size_t i = 0; i < parameters.size(); ++i) labrig::sub_(parameters[i], sums[i] * job.learning_rate());
    }
    return losses;
  }

  std::int64_t largest_batch(const oom_triage::ModelShape& model, oom_triage::Optimizer optimizer,
                             labrig::Dtype precision, std::size_t capacity_bytes) override {
    const double copies = 2 + static_cast<double>(static_cast<int>(optimizer));
    const auto size = static_cast<double>(labrig::element_bytes(precision));
    const double room = static_cast<double>(capacity_bytes);
    const auto fits = [&](std::int64_t batch) {
      const double fixed = step_bytes(model, copies, size, 0);
      return fixed + 1.1 * (step_bytes(model, copies, size, static_cast<double>(batch)) - fixed) < room;
    };
    std::int64_t low = 0, high = 1;
    while (fits(high)) high *= 2;
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (fits(middle) ? low : high) = middle;
    }
    return low;
  }

 private:
  // Adds loss and gradients of some samples to what there is; false, and nothing changed, when they do not fit.
  static bool add_part(oom_triage::Job& job, std::int64_t step, std::int64_t first, std::int64_t count,
                       const std::vector<Tensor>& parameters, std::vector<Tensor>& sums, const Tensor& total) {
    try {
      const auto samples = job.take(step, first, count);
      const Tensor x = samples.x.to(total.device()), y = samples.y.to(total.device());
      const Tensor loss =
          labrig::mse_loss(job.model()(x), y) * (static_cast<double>(count) / static_cast<double>(job.samples()));
      const std::vector<Tensor> gradients = labrig::autograd::grad({loss}, parameters);
      if (sums.empty()) {
        sums = gradients;
      } else {
        for (std::size_t i = 0; i < sums.size(); ++i) labrig::add_(sums[i], gradients[i]);
      }
      labrig::add_(total, loss.detach());
      return true;
    } catch (const labrig::OutOfMemoryError&) {
      if (count == 1) throw;
      return false;
    }
  }
};

LABRIG_SUBMISSION(AlternateTwo)
