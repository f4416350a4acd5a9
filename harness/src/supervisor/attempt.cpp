#include "supervisor/attempt.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <set>

#include "channel/frame.hpp"
#include "channel/values.hpp"
#include "store/digest.hpp"
#include "supervisor/card_facts.hpp"
#include "supervisor/classify.hpp"
#include "supervisor/judging.hpp"
#include "supervisor/limits.hpp"
#include "supervisor/spawn.hpp"
#include "supervisor/worker_run.hpp"

namespace labrig::supervisor {

using grade::CaseOutcome;
using grade::Status;
using Json = nlohmann::json;

namespace {

// A crash's frames, "folder/file(symbol+0x1)[0x7f…]", keep file and symbol: folders and addresses differ from machine
// to machine and run to run, and a case must not.
std::string without_places(const std::string& output) {
  std::string kept;
  std::size_t start = 0;
  while (start < output.size()) {
    const std::size_t end = std::min(output.find('\n', start), output.size());
    std::string line = output.substr(start, end - start);
    const std::size_t symbol = line.find('('), address = line.rfind("[0x");
    if (line.starts_with('/') && symbol != std::string::npos && address != std::string::npos && line.ends_with(']'))
      line = "  " + line.substr(line.rfind('/', symbol) + 1, address - line.rfind('/', symbol) - 1);
    kept += line;
    if (end < output.size()) kept += '\n';
    start = end + 1;
  }
  return kept;
}

bool is_readable(int descriptor) {
  pollfd polled{descriptor, POLLIN, 0};
  return ::poll(&polled, 1, 0) > 0;
}

Json card_json(const sim::Handles& handles) {
  return {{"device_page_fd", handles.device_page_fd},
          {"worker_page_fd", handles.worker_page_fd},
          {"arena_fd", handles.arena_fd},
          {"base", handles.base},
          {"capacity_bytes", handles.capacity_bytes},
          {"arena_bytes", handles.arena_bytes},
          {"card_names", handles.card_names},
          {"without_bf16", handles.without_bf16},
          {"data", handles.data},
          {"mode", static_cast<int>(handles.mode)}};
}

class Attempt {
 public:
  Attempt(const Surroundings& surroundings, const spec::Case& plan, const std::filesystem::path& plugin, sim::Mode mode,
          const grade::Reference* reference)
      : around_(surroundings), plugin_(plugin), mode_(mode), reference_(reference) {
    outcome_.plan = plan;
  }

  CaseOutcome run() {
    try {
      if (outcome_.plan.device == DeviceType::sim) outcome_.card = card_rates_json(outcome_.plan);
      Judge judge(around_.lab.folder, around_.lab.id, *around_.judging);
      lab::Values inputs;
      WorkerRun run = run_processes([&] {
        inputs = judge.inputs(outcome_.plan);
        const channel::EncodedValues encoded = channel::encode_values(inputs);
        return channel::encode(channel::Kind::inputs, {{"values", encoded.json}}, encoded.bytes);
      });
      take(run);
      if (outcome_.status == Status::ok) judge.judge(inputs, *run.outputs, reference_, outcome_);
    } catch (const Error& error) {
      fault(error.code(), fmt::format("{} ({})", error.what(), error.why()));
    } catch (const std::exception& error) {
      fault("judge", fmt::format("the lab's judge failed: {}", error.what()));
    } catch (...) {
      fault("judge", "the lab's judge threw something that is not a std::exception");
    }
    return std::move(outcome_);
  }

 private:
  WorkerRun run_processes(const std::function<std::string()>& inputs) {
    const bool has_card = outcome_.plan.device == DeviceType::sim;
    std::unique_ptr<sim::CardProcess> card;
    SpawnedWorker worker;
    around_.orphans->adopt([&]() -> std::set<pid_t> {
      if (has_card)
        card = std::make_unique<sim::CardProcess>(around_.programs / "labrig-device",
                                                  machine_options(outcome_.plan, around_.lab.limits, mode_));
      worker = spawn_worker(around_.programs / "labrig-worker", card ? std::optional(card->handles()) : std::nullopt);
      std::set<pid_t> started = {worker.pid};
      if (card) started.insert(card->pid());
      return started;
    });
    const pid_t worker_pid = worker.pid;
    const pid_t card_pid = card ? card->pid() : -1;
    WorkerOrders orders;
    orders.token = store::random_token();
    orders.start = start_frame(orders.token, card.get());
    orders.inputs = inputs;
    orders.limits = around_.lab.limits;
    orders.cancelled = around_.cancelled;
    Descriptor card_ended;
    if (card) {
      card->worker_started(worker_pid);
      card_ended = process_descriptor(card_pid);
      orders.card_ended = card_ended.get();
    }
    WorkerRun run = run_worker(std::move(worker), orders);
    around_.orphans->forget(worker_pid);
    if (card && run.stop != Stop::cancelled) {
      report_ = card->report(kReportTimeoutMs);
      run.card_ended = is_readable(card_ended.get());
    }
    card.reset();
    around_.orphans->forget(card_pid);
    around_.orphans->sweep();
    return run;
  }

  std::string start_frame(const std::string& token, const sim::CardProcess* card) const {
    const spec::Limits& limits = around_.lab.limits;
    const Json start = {
        {"lab", around_.lab.id},
        {"call", (around_.lab.folder / "call.so").string()},
        {"submission", plugin_.string()},
        {"card", card != nullptr ? card_json(handles_in_worker(card->handles())) : Json(nullptr)},
        {"device", spec::device_of(outcome_.plan).str()},
        {"start_counting", !around_.lab_starts_counting},
        {"token", token},
        {"limits",
         {{"cpu_s", cpu_limit_ms(limits) / 1000 + 2}, {"data_bytes", kLimitMemory ? limits.memory_mib << 20 : 0}}}};
    return channel::encode(channel::Kind::start, start);
  }

  void take(const WorkerRun& run) {
    const bool has_card = outcome_.plan.device == DeviceType::sim;
    const Ending ending = classify(run, has_card, report_, around_.lab.limits);
    outcome_.status = ending.status;
    outcome_.phase = ending.phase;
    outcome_.reason = ending.reason;
    outcome_.output = without_places(run.output);
    outcome_.output_cut = run.output_cut;
    outcome_.cpu_ms = run.cpu_ms;
    outcome_.wall_ms = run.wall_ms;
    outcome_.from_threads = run.from_threads;
    if (!report_) return;
    outcome_.metrics = metric_rows(outcome_.plan, *report_);
    outcome_.hazards = hazards_of(*report_);
    outcome_.notes = report_->notes;
    outcome_.trace = trace_json(*report_);
  }

  void fault(std::string code, std::string text) {
    outcome_.status = Status::fault;
    outcome_.reason = grade::Reason{std::move(code), std::move(text)};
  }

  const Surroundings& around_;
  std::filesystem::path plugin_;
  sim::Mode mode_;
  const grade::Reference* reference_;
  CaseOutcome outcome_;
  std::optional<sim::Report> report_;
};

}  // namespace

CaseOutcome attempt(const Surroundings& surroundings, const spec::Case& plan, const std::filesystem::path& plugin,
                    sim::Mode mode, const grade::Reference* reference) {
  return Attempt(surroundings, plan, plugin, mode, reference).run();
}

}  // namespace labrig::supervisor
