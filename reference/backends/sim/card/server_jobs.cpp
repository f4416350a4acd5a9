// Workers of loaders (S5, rule 8). A worker is a host thread that exists only as a clock: its jobs run one after
// another beside the host, and the host meets them where it takes their results.
//
//   host      job job ──── work ──── take_job ── work ── take_job ……┐
//   worker 0  ▐ job ▌                                               ▼
//   worker 1  ▐ job ────────────────────────────────────────────────▌
#include "card/server.hpp"

namespace labrig::sim {

Server::Worker* Server::worker_ok(const Command& command) {
  if (command.arg[0] < kMaxWorkers) return &workers_[command.arg[0]];
  refuse({"bad-handle", "there is no worker " + std::to_string(command.arg[0]),
          "a machine has " + std::to_string(kMaxWorkers) + " workers for loaders", "give loaders fewer workers"});
  return nullptr;
}

void Server::job(const Command& command) {
  Worker* const worker = worker_ok(command);
  if (worker == nullptr) return;
  if (worker->finish_ps.size() >= kMaxJobs) {
    refuse({"over-limit", "worker " + std::to_string(command.arg[0]) + " has too many jobs waiting",
            "at most " + std::to_string(kMaxJobs) + " batches may be ready that nobody took",
            "give the loader a smaller prefetch_factor"});
    return;
  }
  const std::int64_t start = std::max(worker->free_from_ps, scheduler_.host_ps());
  worker->free_from_ps = later(start, card_of(command).prices.job_ps(command.arg[1], command.arg[2], command.arg[3]));
  worker->finish_ps.push_back(worker->free_from_ps);
}

void Server::take_job(const Command& command) {
  Worker* const worker = worker_ok(command);
  if (worker == nullptr) return;
  if (worker->finish_ps.empty()) {
    refuse({"bad-handle", "worker " + std::to_string(command.arg[0]) + " has no job to take",
            "each job is taken once, after it was queued", "take the batches of a loader in their order"});
    return;
  }
  const std::int64_t start = scheduler_.host_ps(), finish = worker->finish_ps.front();
  worker->finish_ps.pop_front();
  if (finish <= start) return;
  scheduler_.charge(finish - start);
  account_.add_host_span("wait for a loader's worker", start, scheduler_.host_ps(), command.header.device, 0);
}

void Server::close_worker(const Command& command) {
  if (Worker* const worker = worker_ok(command)) *worker = {};
}

}  // namespace labrig::sim
