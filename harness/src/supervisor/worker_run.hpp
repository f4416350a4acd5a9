// One worker from the supervisor's side: talks to it, keeps what it prints, watches its clock, and ends it. What came
// of it is a plain record; classify.hpp says what that means.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "grade/outcome.hpp"
#include "labrig/lab.hpp"
#include "spec/lab_spec.hpp"
#include "supervisor/spawn.hpp"

namespace labrig::supervisor {

// Why the supervisor ended the worker.
enum class Stop : std::uint8_t {
  none,      // it ended by itself
  finished,  // it had sent the token
  cpu_limit,
  wall_limit,
  flood,       // printed without end
  too_large,   // sent more than it may hold
  damage,      // sent what makes no sense
  failed,      // it reported an exception
  card_ended,  // the card was gone before it
  cancelled,
};

struct WorkerRun {
  Stop stop = Stop::none;
  bool ours = false;  // what failed was the lab's own module
  grade::Phase phase = grade::Phase::load;
  std::optional<grade::Reason> exception;
  std::optional<lab::Values> outputs;
  bool from_threads = false;  // it says that threads of its own drove the card
  bool done = false;          // the token came
  std::string damage;         // with Stop::damage
  int wait_status = 0;
  std::string output;
  bool output_cut = false;
  double cpu_ms = 0, wall_ms = 0;
  bool card_ended = false;  // the card's process was gone when it should have reported
};

struct WorkerOrders {
  std::string start;  // the encoded frame
  std::string token;
  // Called once the worker is on its way: makes the encoded frame with the inputs.
  std::function<std::string()> inputs;
  spec::Limits limits;
  int card_ended = -1;  // readable when the card's process has ended; -1 without one
  int cancelled = -1;   // readable when the run is to be given up
};

// Returns when the worker and everything in its process group is dead and reaped. What `inputs` throws comes out after
// that.
WorkerRun run_worker(SpawnedWorker worker, const WorkerOrders& orders);

}  // namespace labrig::supervisor
