#include "supervisor/classify.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include "supervisor/limits.hpp"

namespace labrig::supervisor {

using grade::Phase;
using grade::Status;

namespace {

const char* while_doing(Phase phase) {
  switch (phase) {
    case Phase::load:
      return "while loading";
    case Phase::init:
      return "while it was set up";
    case Phase::call:
      return "during the call";
    default:
      return "after the call";
  }
}

// The three lines of an error as one: "what; why; fix".
std::string one_line(std::string text) {
  if (text.starts_with("error: ")) text.erase(0, 7);
  for (const std::string_view mark : {"\n  why: ", "\n  fix: ", "\n"})
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
      text.replace(at, mark.size(), at + mark.size() < text.size() ? "; " : "");
  return text;
}

// The three lines of an error apart: what it was, why, and what to do about it.
grade::Reason reason_from(const std::string& code, std::string text) {
  grade::Reason reason{code, ""};
  const auto cut_off = [&](std::string_view mark, std::string& part) {
    const std::size_t at = text.rfind(mark);
    if (at == std::string::npos) return;
    part = one_line(text.substr(at + mark.size()));
    text.erase(at);
  };
  cut_off("\n  fix: ", reason.fix);
  cut_off("\n  why: ", reason.why);
  reason.text = one_line(text);
  return reason;
}

// The core's codes: of the card's memory, of pinned memory, of the host's.
bool is_out_of_memory(const std::string& code) {
  return (code.starts_with("out-of-") && code.ends_with("memory")) || code == "host-out-of-memory";
}

class Classifier {
 public:
  Classifier(const WorkerRun& run, const std::optional<sim::Report>& report, const spec::Limits& limits)
      : run_(run), report_(report), limits_(limits) {}

  Ending ending(bool has_card) const {
    if (run_.stop == Stop::cancelled) return end(Status::not_run, "interrupted", "the run was interrupted");
    if (run_.ours) {
      const std::string text = run_.exception ? run_.exception->text : "it did not come to an end";
      return end(Status::fault, "lab-module", "the lab's own module failed in the worker: " + text);
    }
    if (has_card && !report_ && run_.card_ended)
      return end(Status::fault, "card-died", "the simulated card gave no report");
    if (violation() == "protocol-error")
      return end(Status::stopped_early, "damaged-command",
                 "the device got a damaged command: " + one_line(report_->violation_text));
    if (violation() == "over-limit") return end(Status::over_limit, "card-limit", one_line(report_->violation_text));
    if (const std::optional<Ending> stopped = stopped_by_us()) return *stopped;
    if (run_.exception) return threw();
    if (!run_.done) return ended_itself();
    // The card lives and is still at work: it was given more than it can carry out.
    if (has_card && !report_)
      return end(
          Status::over_limit, "card-busy",
          fmt::format("work that it left on the card was not done {} s after it had ended", kReportTimeoutMs / 1000));
    // The call came back although the card had refused a command: the error was caught and dropped.
    if (!violation().empty()) return refused();
    if (has_card && !report_->finished)
      return end(Status::stopped_early, "not-finished", "the card was never told that the call was over");
    return {Status::ok, Phase::call, std::nullopt};
  }

 private:
  Ending end(Status status, std::string code, std::string text) const {
    return {status, run_.phase, grade::Reason{std::move(code), std::move(text)}};
  }
  std::string violation() const { return report_ ? report_->violation_code : std::string(); }
  std::string last_command() const {
    return report_ && !report_->last_command.empty()
               ? "; the last thing the card was asked for: " + report_->last_command
               : std::string();
  }

  std::optional<Ending> stopped_by_us() const {
    switch (run_.stop) {
      case Stop::cpu_limit:
        return timed_out();
      case Stop::wall_limit:
        return end(
            Status::timed_out, "timed-out",
            fmt::format("stopped after {:.1f} s {}, most of it waiting{}",
                        static_cast<double>(wall_limit_ms(limits_)) / 1e3, while_doing(run_.phase), last_command()));
      case Stop::flood:
        return end(Status::over_limit, "output",
                   fmt::format("it printed more than {} MiB {}", kFlood >> 20, while_doing(run_.phase)));
      case Stop::too_large:
        return end(Status::over_limit, "large-result",
                   fmt::format("its results are larger than the {} MiB of memory it may use", limits_.memory_mib));
      case Stop::damage:
        return end(Status::stopped_early, "damaged-data", "it sent damaged data to the harness: " + run_.damage);
      case Stop::card_ended:
        return end(Status::fault, "card-ended", "the simulated card ended before the submission did");
      default:
        return std::nullopt;
    }
  }

  Ending timed_out() const {
    return end(Status::timed_out, "timed-out",
               fmt::format("used more than {:.1f} s of CPU time {}{}", static_cast<double>(cpu_limit_ms(limits_)) / 1e3,
                           while_doing(run_.phase), last_command()));
  }

  Ending threw() const {
    const bool out_of_memory = is_out_of_memory(run_.exception->code);
    return {out_of_memory ? Status::out_of_memory : Status::crashed, run_.phase, run_.exception};
  }

  Ending refused() const {
    return {is_out_of_memory(violation()) ? Status::out_of_memory : Status::crashed, run_.phase,
            reason_from(violation(), report_->violation_text)};
  }

  Ending ended_itself() const {
    if (WIFEXITED(run_.wait_status))
      return end(
          Status::stopped_early, "stopped-early",
          fmt::format("ended itself with exit code {} {}", WEXITSTATUS(run_.wait_status), while_doing(run_.phase)));
    const int signal = WIFSIGNALED(run_.wait_status) ? WTERMSIG(run_.wait_status) : 0;
    if (signal == SIGXCPU) return timed_out();
    const char* name = ::sigabbrev_np(signal);
    const std::string ended =
        name != nullptr ? fmt::format("SIG{} ({})", name, ::strsignal(signal)) : fmt::format("signal {}", signal);
    if (signal == SIGABRT)
      return end(Status::crashed, "aborted", fmt::format("the program aborted {}: {}", while_doing(run_.phase), ended));
    // The card words a fault with the names of its own blocks.
    if (report_ && !report_->crash_text.empty())
      return end(Status::crashed, "crashed",
                 fmt::format("{} {}: {}", ended, while_doing(run_.phase), one_line(report_->crash_text)));
    return end(Status::crashed, "crashed", fmt::format("{} {}", ended, while_doing(run_.phase)));
  }

  const WorkerRun& run_;
  const std::optional<sim::Report>& report_;
  const spec::Limits& limits_;
};

}  // namespace

Ending classify(const WorkerRun& run, bool has_card, const std::optional<sim::Report>& report,
                const spec::Limits& limits) {
  return Classifier(run, report, limits).ending(has_card);
}

}  // namespace labrig::supervisor
