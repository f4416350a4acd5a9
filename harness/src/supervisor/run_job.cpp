#include "supervisor/run_job.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "labrig/device.hpp"
#include "loader/elf_file.hpp"
#include "supervisor/attempt.hpp"
#include "supervisor/limits.hpp"
#include "supervisor/ordering.hpp"
#include "supervisor/reference_store.hpp"

namespace labrig::supervisor {

using grade::CaseOutcome;
using grade::Status;

namespace {

// Where the core lies that this process and every worker runs on.
std::filesystem::path core_library() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&labrig::device_count), &info) == 0 || info.dli_fname == nullptr)
    return {};
  return info.dli_fname;
}

// Read off the module's imports: a call module that cannot be read is one that fails later, with a reason.
bool starts_counting(const std::filesystem::path& call_module) {
  const Result<loader::ElfFile> file = loader::read_elf(call_module);
  return file && std::ranges::any_of(file.value().imported, [](const std::string& symbol) {
           return loader::demangled(symbol) == "labrig::lab::Call::start_counting()";
         });
}

class Run {
 public:
  Run(const Job& job, int cancelled)
      : job_(job),
        around_{spec::load_lab(job.lab).value(),
                job.programs,
                starts_counting(job.lab / "call.so"),
                cancelled,
                &orphans_,
                &judging_},
        references_(around_.lab, job.cache,
                    {job.solution, job.lab / "judge.so", job.lab / "call.so", core_library(),
                     job.programs / "labrig-device", job.programs / "labrig-supervisor"}) {}

  // With its reference. A fault is tried once more.
  CaseOutcome run_case(const spec::Case& plan) {
    CaseOutcome outcome = try_case(plan);
    if (outcome.status == Status::fault && !is_cancelled()) outcome = try_case(plan);
    return outcome;
  }

  bool is_cancelled() const {
    pollfd polled{around_.cancelled, POLLIN, 0};
    return ::poll(&polled, 1, 0) > 0;
  }

 private:
  CaseOutcome try_case(const spec::Case& plan) {
    std::optional<grade::Reference> reference = job_.record_reference ? std::nullopt : references_.find(plan);
    const bool complete = reference && (plan.device == DeviceType::cpu || !reference->trace.is_null());
    if (!complete && (!reference || !job_.solution.empty())) {
      CaseOutcome solution = solve(plan);
      if (solution.status == Status::ok) {
        grade::Reference made{solution.metrics, solution.figures, solution.cpu_ms, solution.trace};
        if (!job_.record_reference) references_.keep(plan, made);
        if (reference)
          reference->trace = std::move(made.trace);  // figures that ship with the lab are the ones that count
        else
          reference = std::move(made);
      } else if (!reference) {
        return reference_failed(std::move(solution), plan);
      }
    }
    CaseOutcome outcome;
    outcome.plan = plan;
    if (!job_.record_reference) outcome = submitted(plan, *reference);
    outcome.reference = std::move(reference);
    return outcome;
  }

  CaseOutcome submitted(const spec::Case& plan, const grade::Reference& reference) {
    // First with effects carried out at once: the values, and the metrics.
    CaseOutcome outcome = attempt(around_, plan, job_.submission, sim::Mode::eager, &reference);
    const double limit_ms = host_work_limit_ms(reference.cpu_ms, extra_virtual_ms(outcome, reference));
    const auto is_over = [&] {
      return plan.device == DeviceType::sim && grade::returned(outcome.status) && outcome.cpu_ms > limit_ms;
    };
    // CPU time is measured, and a machine can only make it longer: the better of two runs counts.
    if (is_over()) outcome = attempt(around_, plan, job_.submission, sim::Mode::eager, &reference);
    if (is_over()) {
      outcome.status = Status::over_limit;
      outcome.reason = grade::Reason{
          "host-work", fmt::format("the host worked for more than {:.1f} s: three times as long as with the reference "
                                   "solution, and half a second; this work is in no operator and the card's clock does "
                                   "not see it",
                                   limit_ms / 1e3)};
    }
    if (!wants_late_run(outcome)) return with_order(std::move(outcome), std::nullopt);
    CaseOutcome late = attempt(around_, plan, job_.submission, sim::Mode::late, &reference);
    const double wall_ms = outcome.wall_ms + late.wall_ms;
    outcome = with_order(std::move(outcome), late);
    outcome.wall_ms = wall_ms;
    return outcome;
  }

  // Of the card's clock, beyond the reference's: there the core's operators on the host are charged.
  static double extra_virtual_ms(const CaseOutcome& outcome, const grade::Reference& reference) {
    double extra_ps = 0;
    for (const auto& [name, value] : outcome.metrics)
      if (name == "time_ps") extra_ps += static_cast<double>(value);
    for (const auto& [name, value] : reference.metrics)
      if (name == "time_ps") extra_ps -= static_cast<double>(value);
    return std::max(extra_ps, 0.0) / 1e9;
  }

  CaseOutcome solve(const spec::Case& plan) {
    if (!job_.solution.empty()) return attempt(around_, plan, job_.solution, sim::Mode::eager, nullptr);
    CaseOutcome none;
    none.plan = plan;
    none.status = Status::fault;
    none.reason =
        grade::Reason{"no-reference", "there are no figures for this case, and no reference solution to make them"};
    return none;
  }

  static CaseOutcome reference_failed(CaseOutcome solution, const spec::Case& plan) {
    CaseOutcome outcome;
    outcome.plan = plan;
    outcome.status = solution.status == Status::not_run ? Status::not_run : Status::fault;
    const grade::Reason why = solution.reason.value_or(grade::Reason{name_of(solution.status), ""});
    outcome.reason =
        grade::Reason{solution.status == Status::not_run ? why.code : "reference-failed",
                      fmt::format("the reference solution ended with {}: {}", name_of(solution.status), why.text)};
    return outcome;
  }

  const Job& job_;
  Orphans orphans_;
  std::mutex judging_;
  Surroundings around_;
  ReferenceStore references_;
};

}  // namespace

void run_job(const Job& job, int cancelled, const CaseEnded& case_ended) {
  Run run(job, cancelled);
  std::atomic<std::size_t> next = 0;
  std::mutex telling;
  const auto work = [&] {
    for (std::size_t i = next++; i < job.cases.size() && !run.is_cancelled(); i = next++) {
      const CaseOutcome outcome = run.run_case(job.cases[i]);
      const std::lock_guard lock(telling);
      case_ended(i, outcome);
    }
  };
  // The calling thread is one of them: a worker dies with the thread that started it, and these live to the end.
  std::vector<std::jthread> threads;
  const auto count = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(job.jobs, 1)), 1, job.cases.size() + 1);
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
}

}  // namespace labrig::supervisor
