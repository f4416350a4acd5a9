// Lab 02, pinned-nonblocking: what a submission gets, how it is called, and what its answers must be. Whether the order
// was right is the card's finding (rule "ordered" in lab.toml); here are the values, the measure of overlap, and why
// there was too little of it.
#include <algorithm>
#include <cmath>

#include "chunks.hpp"
#include "interface.hpp"
#include "labrig/lab.hpp"
#include "plans.hpp"

namespace pinned_nonblocking {

using namespace labrig;

class PinnedNonblocking {
 public:
  using Submission = pinned_nonblocking::Submission;

  void inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    if (s.kind == "pipeline") return pipeline_inputs(s, data, in);
    if (s.kind == "fetch") return fetch_inputs(s, data, in);
    lab::CostCard card(s.profile);
    in.set("rates", rates_row(measure(card)));
    in.set("plans", plan_rows(draw_plans(static_cast<std::uint64_t>(s.integer("draw")))));
  }

  void call(lab::Call& call, Submission& submission) {
    if (call.inputs().has("pattern")) return call_pipeline(call, submission);
    if (call.inputs().has("base")) return call_fetch(call, submission);
    call_plans(call, submission);
  }

  void judge(const lab::Scenario& s, const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    if (s.kind == "pipeline") return judge_pipeline(in, out, verdict);
    if (s.kind == "fetch") return judge_fetch(in, out, verdict);
    judge_plans(in, out, verdict);
  }

 private:
  // --- pipeline ------------------------------------------------------------------------------------------------------
  void pipeline_inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    const std::int64_t rows = s.integer("rows"), columns = s.integer("columns");
    in.set("chunks", s.integer("chunks"));
    in.set("rows", rows);
    in.set("columns", columns);
    in.set("pattern", data.uniform_tensor({2 * columns}, -1, 1));
    in.set("scale", data.uniform_tensor({columns}, 0.5, 1.5));
    in.set("shift", data.uniform_tensor({columns}, -0.5, 0.5));
    // Room for two chunks, and for what is fetched.
    in.set("budget_bytes", static_cast<std::int64_t>(sizeof(float)) * rows * columns * 5 / 2);
  }

  void call_pipeline(lab::Call& call, Submission& submission) {
    const Job job(call.inputs());
    const CardWork work(job, call.device());
    PatternSource source(job, call);
    const auto budget_bytes = static_cast<std::size_t>(call.inputs().integer("budget_bytes"));
    call.start_counting();
    const Tensor results = submission.pipeline(source, work, call.device(), budget_bytes);
    if (!results.defined()) return;
    call.output("on_host", results.device().is_cpu() ? 1 : 0);
    call.output("results", results);
  }

  void judge_pipeline(const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    if (!out.has("results")) return verdict.wrong("no-result", "pipeline() returned an undefined tensor");
    if (out.integer("on_host") == 0)
      return verdict.wrong("result-not-on-the-host",
                           "pipeline() returned a tensor on the card; the results are wanted on the CPU");
    verdict.require(lab::compare(out.tensor("results"), Job(in).expected(), 1e-3, 1e-5), "the results of the chunks");

    const double uploaded = count(verdict, "h2d_bytes"), asynchronous = count(verdict, "h2d_async_bytes");
    const double share = uploaded > 0 ? asynchronous / uploaded : 0;
    verdict.figures["asynchronous_share"] = share;
    verdict.figures["overlap_reached"] = overlap_reached(verdict);
    const bool asked = count(verdict, "h2d_non_blocking_bytes") >= 0.9 * uploaded;
    const lab::Verdict::Finding copies = {
        share, asked ? "pageable" : "blocking",
        asked ? "in {case} the uploads are asked not to block, but a share of {value} of their bytes comes from pinned "
                "memory, and 0.9 are wanted: from pageable memory the host waits all the same"
              : "in {case} the host waits for uploads: a share of {value} of their bytes is copied with non_blocking "
                "from pinned memory, and 0.9 are wanted"};
    verdict.findings["copies"] = copies;
    verdict.findings["waiting"] = share < 0.9 ? because_of(copies) : why_it_waits(in, verdict);
  }

  static double count(const lab::Verdict& verdict, const std::string& name) { return of(verdict.counted, name); }
  static double of(const std::map<std::string, double>& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
  }

  // The reference's copy and compute time, less what the loop took, as a part of the smaller of the two: 1 where all of
  // that is hidden behind the other, 0 where they come one after the other.
  static double overlap_reached(const lab::Verdict& verdict) {
    const double copying = of(verdict.reference, "busy_up_ps"), computing = of(verdict.reference, "busy_compute_ps");
    const double smaller = std::min(copying, computing);
    return smaller > 0 ? (copying + computing - count(verdict, "loop_ps")) / smaller : 0;
  }

  static constexpr const char* kOverlap = "the overlap is {value} in {case}, and {reference} with the reference: ";

  static lab::Verdict::Finding because_of(const lab::Verdict::Finding& copies) {
    return {
        0, copies.code,
        std::string(kOverlap) + (copies.code == "pageable"
                                     ? "before every upload from pageable memory the host waits until the stream has "
                                       "done all that was queued in it, and then copies the bytes for the driver"
                                     : "the host waits for the end of every upload, and reads nothing meanwhile")};
  }

  // Of a pipeline whose copies do not block: what else keeps the card from doing two things at once.
  static lab::Verdict::Finding why_it_waits(const lab::Values& in, const lab::Verdict& verdict) {
    const std::string overlap = kOverlap;
    if (count(verdict, "loop_pinned_tensors") >= static_cast<double>(in.integer("chunks")) / 2)
      return {0, "pin-per-chunk",
              overlap +
                  "a new pinned tensor is made for every chunk; to pin takes longer than to copy "
                  "to the card, and pin_memory() copies the chunk on the host besides"};
    if (count(verdict, "loop_full_stops") > 0)
      return {0, "stops-the-card", overlap + "the host waits inside the loop until the whole card is idle"};
    const double smaller = std::min(count(verdict, "busy_up_ps"), count(verdict, "busy_compute_ps"));
    if (count(verdict, "overlap") < 0.1 * smaller)
      return {0, "serial", overlap + "copies and kernels take turns on the card, as work of one stream does"};
    return {0, "waits-too-soon", overlap + "the host waits earlier than it has to, and the card runs out of work"};
  }

  // --- fetch ---------------------------------------------------------------------------------------------------------
  // `rounds` times: results are computed, fetched, and read on the host at once.
  void fetch_inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    const Dtype dtype = s.integer("half") != 0 ? kF16 : kF32;
    in.set("base", data.uniform_tensor({s.integer("rows"), s.integer("columns")}, 1.0957, 2, dtype));
    in.set("rounds", s.integer("rounds"));
    in.set("results", s.integer("results"));
  }

  void call_fetch(lab::Call& call, Submission& submission) {
    const Tensor base = call.inputs().tensor("base"), there = base.to(call.device());
    const std::int64_t rounds = call.inputs().integer("rounds"), in_a_round = call.inputs().integer("results");
    std::vector<Tensor> all;
    for (std::int64_t i = 0; i < rounds * in_a_round; ++i) {
      all.push_back(full(base.sizes(), 0, Options(base.dtype()).pinned_memory()));
      all.back().set_name("buffer " + std::to_string(i));
    }
    call.start_counting();
    for (std::int64_t round = 0; round < rounds; ++round) {
      const std::span<const Tensor> buffers = std::span(all).subspan(round * in_a_round, in_a_round);
      std::vector<Tensor> results;
      for (std::int64_t i = 0; i < in_a_round; ++i) {
        const std::int64_t number = round * in_a_round + i;
        results.push_back(mul(there, factor(number)).set_name("result " + std::to_string(number)));
      }
      submission.fetch(results, buffers);
      // The caller reads the buffers as they stand: an operator on the host, as the loop of any program has one.
      call.output("fetched." + std::to_string(round), cat({buffers.begin(), buffers.end()}));
    }
  }

  static double factor(std::int64_t number) { return 1 + static_cast<double>(number); }

  void judge_fetch(const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    const Tensor base = in.tensor("base");
    const std::int64_t in_a_round = in.integer("results");
    for (std::int64_t round = 0; round < in.integer("rounds"); ++round) {
      std::vector<Tensor> expected;
      for (std::int64_t i = 0; i < in_a_round; ++i)
        expected.push_back(mul(base, factor(round * in_a_round + i)).to(kF64));
      verdict.require(lab::compare(out.tensor("fetched." + std::to_string(round)), cat(expected), 1e-6, 0),
                      "what fetch() brought in round " + std::to_string(round));
    }
  }

  // --- staging_plan --------------------------------------------------------------------------------------------------
  void call_plans(lab::Call& call, Submission& submission) {
    const Rates rates = rates_of(call.inputs().tensor("rates"));
    const std::vector<Staging> plans = plans_of(call.inputs().tensor("plans"));
    const Tensor decisions = zeros({kPlans, kBuffers}, kU8);
    std::uint8_t* next = decisions.data<std::uint8_t>().data();
    for (const Staging& plan : plans) {
      const std::vector<bool> pin = submission.staging_plan(plan.transfers, rates, plan.budget_bytes);
      if (pin.size() != plan.transfers.size()) return;
      next = std::copy(pin.begin(), pin.end(), next);
    }
    call.output("decisions", decisions);
  }

  void judge_plans(const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    if (!out.has("decisions"))
      return verdict.wrong("wrong-size", "staging_plan() did not return one answer for each buffer");
    if (out.tensor("decisions").sizes() != Dims{kPlans, kBuffers})
      return verdict.wrong("wrong-size", "there is not one answer for each buffer of each plan");
    const Rates rates = rates_of(in.tensor("rates"));
    const auto decisions = out.tensor("decisions").data<const std::uint8_t>();
    const std::vector<Staging> plans = plans_of(in.tensor("plans"));
    double regret = 0;
    int over = 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      std::vector<bool> pin(kBuffers);
      for (std::size_t j = 0; j < pin.size(); ++j) pin[j] = decisions[i * kBuffers + j] != 0;
      if (plans[i].pinned_bytes(pin) > plans[i].budget_bytes) {  // cannot be carried out: nothing is pinned
        ++over;
        pin.assign(kBuffers, false);
      }
      regret += (plans[i].seconds(pin, rates) / plans[i].least_seconds(rates) - 1) / kPlans;
    }
    verdict.figures["regret"] = regret;
    verdict.findings["regret"] = plan_finding(regret, over);
  }

  static lab::Verdict::Finding plan_finding(double regret, int over) {
    if (over == 0 && regret <= 0.05) return {};
    const std::string cost = "together that costs " + std::to_string(std::llround(regret * 100)) +
                             " % more time than the best plans, and 5 % are allowed";
    if (over > 0)
      return {0, "over-budget",
              std::to_string(over) + " of " + std::to_string(kPlans) +
                  " plans pin more than the budget, so nothing can be pinned there; " + cost};
    return {0, "wrong-buffers",
            "every plan keeps to its budget, but pins buffers that save less than others would; " + cost};
  }

  static Tensor rates_row(const Rates& r) {
    return tensor<double>({r.pageable_fixed_s, r.pageable_s_per_byte, r.pinned_fixed_s, r.pinned_s_per_byte,
                           r.pin_fixed_s, r.pin_s_per_byte});
  }
  static Rates rates_of(const Tensor& row) {
    const auto v = row.data<const double>();
    return {v[0], v[1], v[2], v[3], v[4], v[5]};
  }
  // A row a plan: the budget, then bytes and uploads of each buffer.
  static Tensor plan_rows(const std::vector<Staging>& plans) {
    std::vector<std::int64_t> values;
    for (const Staging& plan : plans) {
      values.push_back(static_cast<std::int64_t>(plan.budget_bytes));
      for (const Transfer& t : plan.transfers)
        values.insert(values.end(), {static_cast<std::int64_t>(t.bytes), t.uploads});
    }
    return tensor<std::int64_t>(values, {kPlans, 1 + 2 * kBuffers});
  }
  static std::vector<Staging> plans_of(const Tensor& rows) {
    const std::int64_t* next = rows.data<const std::int64_t>().data();
    std::vector<Staging> plans(static_cast<std::size_t>(rows.size(0)));
    for (Staging& plan : plans) {
      plan.budget_bytes = static_cast<std::size_t>(*next++);
      for (int i = 0; i < kBuffers; ++i, next += 2)
        plan.transfers.push_back({static_cast<std::size_t>(next[0]), next[1]});
    }
    return plans;
  }
};

}  // namespace pinned_nonblocking

LABRIG_LAB(pinned_nonblocking::PinnedNonblocking)
