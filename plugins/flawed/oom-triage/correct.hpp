// What the flawed variants of lab 03 have in common: the parts that are right. Each variant derives from Correct and
// makes one typical mistake, so that a file here reads as the mistake alone.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "interface.hpp"
#include "labrig/autograd.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/optim.hpp"

namespace flawed {

using labrig::Device;
using labrig::HistoryRow;
using labrig::MemoryCause;
using labrig::MemoryHistory;
using labrig::Tensor;
using oom_triage::Diagnosis;
using oom_triage::Job;
using oom_triage::ModelShape;
using oom_triage::Optimizer;

using Numbers = std::vector<std::int64_t>;

inline Numbers rows_of(const MemoryHistory& history, const std::string& phase) {
  Numbers numbers;
  for (std::size_t i = 0; i < history.rows.size(); ++i)
    if (history.rows[i].phase == phase) numbers.push_back(static_cast<std::int64_t>(i));
  return numbers;
}
inline double allocated(const MemoryHistory& history, std::int64_t row) {
  return static_cast<double>(history.rows[static_cast<std::size_t>(row)].allocated_bytes);
}

class Correct : public oom_triage::Submission {
 public:
  // --- task 1 ------------------------------------------------------------------------------------------------
  Diagnosis diagnose(const MemoryHistory& history) override {
    const Numbers train = rows_of(history, "train"), eval = rows_of(history, "eval");
    const Numbers failure = {static_cast<std::int64_t>(history.rows.size())};
    const auto& f = history.failure;
    if (f) {
      const std::size_t known = history.card.context_bytes + f->free_bytes + f->reserved_bytes;
      if (known + history.card.total_bytes / 10 < history.card.total_bytes)
        return {MemoryCause::other_process, failure};
    }
    if (climbs(history, train)) {
      std::map<std::string, std::int64_t> blocks;  // of each operator, at the last look
      for (const auto& owner : history.owners)
        if (owner.row == history.owners.back().row) blocks[owner.op] += owner.blocks;
      const auto many = [&](const auto& each) {
        return each.second >= 8 && each.first != "model" && each.first != "gradient" && each.first != "optimizer";
      };
      return {std::ranges::count_if(blocks, many) > 1 ? MemoryCause::losses_keep_graph : MemoryCause::outputs_kept,
              {train.front(), train.back()}};
    }
    for (const auto& owner : history.owners)
      if (owner.op == "checkpoint") return {MemoryCause::resume_loads_state, {owner.row}};
    if (!eval.empty() && middle(history, eval) > 1.25 * middle(history, train))
      return {MemoryCause::eval_without_no_grad, eval};
    if (!f) return {MemoryCause::healthy, {train.front(), train[train.size() / 2], train.back()}};
    if (f->reserved_bytes - f->allocated_bytes >= f->requested_bytes) return {MemoryCause::fragmentation, failure};
    if (2 * f->requested_bytes > f->allocated_bytes) return {MemoryCause::operator_spike, failure};
    return {MemoryCause::batch_too_big, failure};
  }

  // --- task 2 ------------------------------------------------------------------------------------------------
  Tensor train(Job& job, Device device) override {
    job.model().to(device);
    labrig::optim::SGD optimizer(job.model().parameters(), {.lr = job.learning_rate()});
    const Tensor losses = labrig::zeros({job.steps()}, device);
    std::int64_t micro = job.samples();
    for (std::int64_t step = 0; step < job.steps(); ++step) {
      for (bool done = false; !done;) {
        optimizer.zero_grad();
        try {
          accumulate(job, step, micro, losses.narrow(0, step, 1).zero_());
          done = true;
        } catch (const labrig::OutOfMemoryError&) {
          if (!goes_on(micro)) throw;
          in_the_handler();
        }
        if (!done) micro = next(micro);
      }
      optimizer.step();
      after_step(device);
    }
    return losses;
  }

  // --- task 3 ------------------------------------------------------------------------------------------------
  std::int64_t largest_batch(const ModelShape& model, Optimizer optimizer, labrig::Dtype precision,
                             std::size_t capacity_bytes) override {
    double parameters = 0, widest = 0, kept = 0;
    for (const oom_triage::Layer& layer : model.layers) {
      parameters += static_cast<double>(layer.out * (layer.in + 1));
      kept += static_cast<double>(layer.out);
      widest = std::max(widest, static_cast<double>(layer.out));
    }
    const double samples = static_cast<double>(model.layers.front().in + model.layers.back().out);
    const double bytes = static_cast<double>(labrig::element_bytes(precision));
    const double room = static_cast<double>(capacity_bytes) - bytes * parameters * (2 + state(optimizer));
    const double token = bytes * (samples + activations(kept, widest));
    return static_cast<std::int64_t>(0.8 * room / (token * static_cast<double>(model.tokens)));
  }

 protected:
  // Whether to try again after a failure, and with how many samples.
  virtual bool goes_on(std::int64_t micro) { return micro > 1; }
  virtual std::int64_t next(std::int64_t micro) { return (micro + 1) / 2; }
  virtual void in_the_handler() {}
  virtual void after_step(Device) {}
  virtual double share(std::int64_t count, std::int64_t samples) {
    return static_cast<double>(count) / static_cast<double>(samples);
  }
  virtual Tensor output_of(labrig::nn::Sequential& model, const Tensor& x) { return model(x); }
  // Numbers of state for each parameter; numbers that a token leaves on the card.
  virtual double state(Optimizer optimizer) { return static_cast<double>(static_cast<int>(optimizer)); }
  virtual double activations(double kept, double widest) { return kept + 2 * widest; }

 private:
  void accumulate(Job& job, std::int64_t step, std::int64_t micro, const Tensor& sum) {
    for (std::int64_t first = 0; first < job.samples(); first += micro) {
      const std::int64_t count = std::min(micro, job.samples() - first);
      const oom_triage::Samples samples = job.take(step, first, count);
      const Tensor output = output_of(job.model(), samples.x.to(sum.device()));
      const Tensor loss = labrig::mse_loss(output, samples.y.to(sum.device())) * share(count, job.samples());
      loss.backward();
      labrig::add_(sum, loss.detach());
    }
  }

  static bool climbs(const MemoryHistory& history, const Numbers& train) {
    if (train.size() < 11) return false;
    for (std::size_t i = train.size() - 10; i < train.size(); ++i)
      if (allocated(history, train[i]) < allocated(history, train[i - 1])) return false;
    return allocated(history, train.back()) > 1.05 * allocated(history, train[train.size() - 11]);
  }
  static double middle(const MemoryHistory& history, const Numbers& rows) {
    std::vector<double> values;
    for (const std::int64_t row : rows) values.push_back(allocated(history, row));
    std::ranges::sort(values);
    return values.empty() ? 0 : values[values.size() / 2];
  }
};

}  // namespace flawed
