// Lab 01, transfer-cost: what a submission gets, how it is called, and what its answers must be. The counted checks
// (bytes, copies, waits, time, memory) stand in lab.toml; here are the values.
#include <algorithm>
#include <cmath>

#include "interface.hpp"
#include "labrig/lab.hpp"
#include "size_sweep.hpp"
#include "workloads.hpp"

namespace transfer_cost {

using namespace labrig;

inline std::string numbered(const char* field, std::int64_t batch) {
  return std::string(field) + "." + std::to_string(batch);
}

inline std::int64_t bytes_of(std::int64_t elements, Dtype dtype = kF32) {
  return elements * static_cast<std::int64_t>(element_bytes(dtype));
}

class TransferCost {
 public:
  using Submission = transfer_cost::Submission;

  void inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    if (s.kind == "score") return score_inputs(s, data, in);
    if (s.kind == "constant") {
      in.set("rows", s.integer("rows"));
      in.set("columns", s.integer("columns"));
      in.set("value", data.uniform(0.5, 2.0));
      return;
    }
    lab::CostCard card(s.profile);
    in.set("machine", machine_row(measure(card)));
    in.set("work", work_rows(draw_workloads(static_cast<std::uint64_t>(s.integer("draw")))));
  }

  void call(lab::Call& call, Submission& submission) {
    const lab::Values& in = call.inputs();
    if (in.has("expand")) {
      const std::vector<Batch> batches = batches_of(in);
      const Model model = model_of(in);
      const Tensor scores = submission.score(batches, model, call.device());
      if (scores.defined()) {
        call.output("on_host", scores.device().is_cpu() ? 1 : 0);
        call.output("scores", scores);
      }
    } else if (in.has("rows")) {
      const Tensor made =
          submission.constant({in.integer("rows"), in.integer("columns")}, in.real("value"), call.device());
      if (made.defined()) {
        call.output("on_card", made.device() == call.device() ? 1 : 0);
        call.output("constant", made);
      }
    } else {
      const auto works = in.tensor("work");
      const Machine machine = machine_of(in.tensor("machine"));
      const Tensor decisions = empty({works.size(0)}, kU8);
      for (std::int64_t i = 0; i < works.size(0); ++i)
        decisions.data<std::uint8_t>()[i] = submission.worth_moving(work_of(works[i]), machine) ? 1 : 0;
      call.output("decisions", decisions);
    }
  }

  void judge(const lab::Scenario& s, const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    if (s.kind == "score") return judge_scores(in, out, verdict);
    if (s.kind == "constant") return judge_constant(in, out, verdict);
    judge_decisions(s, out, verdict);
  }

 private:
  // --- score ---------------------------------------------------------------------------------------------------------
  void score_inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    const std::int64_t batches = s.integer("batches"), rows = s.integer("rows"), width = s.integer("width");
    const std::int64_t hidden = s.integer("hidden"), classes = s.integer("classes"), depth = s.integer("depth");
    auto weights = [&](std::int64_t from, std::int64_t to, double gain) {
      const double limit = std::sqrt(gain / static_cast<double>(from));
      return data.uniform_tensor({from, to}, -limit, limit);
    };
    in.set("expand", weights(width, hidden, 6));
    in.set("shift", data.uniform_tensor({hidden}, -0.5, 0.5));
    in.set("contract", weights(hidden, width, 3));
    // Near the identity, so that many steps neither blow the values up nor wipe them out.
    const Tensor step = weights(width, width, 0.6);
    for (std::int64_t i = 0; i < width; ++i) step.data<float>()[i * width + i] += 0.8f;
    in.set("step", step);
    in.set("head", weights(width, classes, 3));
    in.set("fill", data.uniform(0.25, 0.75));
    in.set("depth", depth);
    for (std::int64_t b = 0; b < batches; ++b) {
      in.set(numbered("features", b), data.uniform_tensor({rows, width}, -1, 1));
      in.set(numbered("mask", b), data.bernoulli_tensor({rows, width}, 0.2));
      in.set(numbered("bias", b), data.uniform_tensor({rows}, -1, 1));
    }
    in.set("batches", batches);
    // The model, and two batches with everything computed on the way to their scores, with a little to spare.
    const std::int64_t model = bytes_of(2 * width * hidden + hidden + width * width + width * classes);
    const std::int64_t batch = bytes_of(rows * width) + bytes_of(rows * width, kBool) + bytes_of(rows);
    const std::int64_t on_the_way = bytes_of(rows * (3 * hidden + 2 * width)) + 3 * bytes_of(rows * classes);
    const std::int64_t scores = 2 * batches * bytes_of(rows * classes);
    in.set("budget_bytes", (model + 2 * batch + on_the_way + scores) * 43 / 40);
  }

  static Model model_of(const lab::Values& in) {
    Model model{in.tensor("expand"), in.tensor("shift"), in.tensor("contract"), in.tensor("step"), in.tensor("head")};
    model.fill = in.real("fill");
    model.depth = static_cast<int>(in.integer("depth"));
    model.device_budget_bytes = static_cast<std::size_t>(in.integer("budget_bytes"));
    return model;
  }

  static std::vector<Batch> batches_of(const lab::Values& in) {
    std::vector<Batch> batches;
    for (std::int64_t b = 0; b < in.integer("batches"); ++b)
      batches.push_back(
          {in.tensor(numbered("features", b)), in.tensor(numbered("mask", b)), in.tensor(numbered("bias", b))});
    return batches;
  }

  // In float64, on the host.
  void judge_scores(const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    if (!out.has("scores")) return verdict.wrong("no-result", "score() returned an undefined tensor");
    if (out.integer("on_host") == 0)
      return verdict.wrong("result-not-on-the-host",
                           "score() returned a tensor on the card; the scores are wanted on the CPU");
    const Model m = model_of(in);
    const Tensor expand = m.expand.to(kF64), shift = m.shift.to(kF64), contract = m.contract.to(kF64),
                 step = m.step.to(kF64), head = m.head.to(kF64);
    std::vector<Tensor> expected;
    for (const Batch& b : batches_of(in)) {
      Tensor x = masked_fill(b.features.to(kF64), b.mask, m.fill);
      x = matmul(relu(matmul(x, expand) + shift), contract);
      for (int i = 0; i < m.depth; ++i) x = relu(matmul(x, step));
      expected.push_back(matmul(x, head) + b.bias.to(kF64).unsqueeze(1));
    }
    // What a batch's rows would hold if they were not written again: the scores of the batch before.
    std::vector<Tensor> earlier = {full(expected[0].sizes(), NAN, kF64)};
    earlier.insert(earlier.end(), expected.begin(), expected.end() - 1);
    const Tensor all = cat(expected);
    const double largest = std::max(max(all).item(), max(neg(all)).item());
    verdict.require(lab::compare(out.tensor("scores"), all, 1e-3, 1e-4 * largest, std::nullopt, cat(earlier)),
                    "the scores");
  }

  // --- constant ----------------------------------------------------------------------------------------------
  void judge_constant(const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    if (!out.has("constant")) return verdict.wrong("no-result", "constant() returned an undefined tensor");
    if (out.integer("on_card") == 0)
      return verdict.wrong("not-on-the-card",
                           "constant() returned a tensor that is not on the device it was asked for");
    const Tensor expected = full({in.integer("rows"), in.integer("columns")}, in.real("value"), kF64);
    verdict.require(lab::compare(out.tensor("constant"), expected, 1e-6, 0), "the constant");
  }

  // --- worth_moving ------------------------------------------------------------------------------------------

  // Regret: how much longer the chosen sides take than the best ones, each workload repeated until its best side takes
  // one second, so that all weigh the same.
  void judge_decisions(const lab::Scenario& s, const lab::Values& out, lab::Verdict& verdict) {
    lab::CostCard card(s.profile);
    const auto workloads = draw_workloads(static_cast<std::uint64_t>(s.integer("draw")));
    const auto decisions = out.tensor("decisions").data<const std::uint8_t>();
    if (decisions.size() != workloads.size())
      return verdict.wrong("wrong-shape", "there is not one decision for each piece of work");
    double eager = 0, timid = 0;  // regret from moving what should have stayed, and the other way round
    int wrongly_moved = 0, wrongly_kept = 0;
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      const double host = workloads[i].host_seconds(card), there = workloads[i].card_seconds(card);
      if (decisions[i] != 0 && there > host) eager += there / host - 1, ++wrongly_moved;
      if (decisions[i] == 0 && host > there) timid += host / there - 1, ++wrongly_kept;
    }
    const double regret = (eager + timid) / static_cast<double>(workloads.size());
    verdict.figures["regret"] = regret;
    lab::Verdict::Finding finding;
    if (regret > 0.05) {
      finding.share = 0;
      finding.code = eager > timid ? "too-eager" : "too-timid";
      finding.text = "of " + std::to_string(workloads.size()) + " workloads " + std::to_string(wrongly_moved) +
                     " were moved that are done sooner on the host, and " + std::to_string(wrongly_kept) +
                     " were kept that are done sooner on the card; together that costs " +
                     std::to_string(std::llround(regret * 100)) + " % more time than the best decisions";
    }
    verdict.findings["regret"] = finding;
    const auto moved = std::count(decisions.begin(), decisions.end(), std::uint8_t{1});
    if (finding.share == 0 && moved == 0) finding.text += "; nothing was ever moved";
    if (finding.share == 0 && moved == std::ssize(decisions)) finding.text += "; everything was moved";
    for (const Workload::Family family : {Workload::Family::product, Workload::Family::addition})
      verdict.charts.push_back(size_sweep(card, family, workloads, decisions));
  }

  static Tensor machine_row(const Machine& m) {
    return tensor<double>({m.host_flops_per_s, m.host_bytes_per_s, m.device_flops_per_s, m.device_bytes_per_s,
                           m.upload_bytes_per_s, m.download_bytes_per_s, m.seconds_per_copy, m.seconds_per_launch});
  }
  static Machine machine_of(const Tensor& row) {
    const auto v = row.data<const double>();
    return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
  }
  static Tensor work_rows(const std::vector<Workload>& workloads) {
    std::vector<double> values;
    for (const Workload& each : workloads) {
      const Work w = each.work();
      values.insert(values.end(),
                    {w.flops, w.memory_bytes, w.upload_bytes, w.download_bytes, w.uploads, w.downloads, w.launches});
    }
    return tensor<double>(values, {static_cast<std::int64_t>(workloads.size()), 7});
  }
  static Work work_of(const Tensor& row) {
    const auto v = row.data<const double>();
    return {v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
  }
};

}  // namespace transfer_cost

LABRIG_LAB(transfer_cost::TransferCost)
