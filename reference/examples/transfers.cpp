// Which lines of a program move data, and which make the host wait? The recorder writes every event down with its
// cause. Look at the last event: printing one number of a card's tensor is a copy and a wait.
//
//   build/bin/example-transfers               on the simulated card
//   LABRIG_DEVICE=cuda build/bin/example-transfers
#include <cstdio>
#include <cstdlib>

#include "labrig/ops.hpp"
#include "labrig/trace.hpp"

namespace {

const char* name_of(labrig::trace::Kind kind) {
  constexpr const char* kNames[] = {"upload", "download", "device copy", "host copy",
                                    "launch", "sync",     "allocate",    "release"};
  return kNames[static_cast<int>(kind)];
}

const char* name_of(labrig::trace::Cause cause) {
  constexpr const char* kNames[] = {"asked for", "a value was read", "a copy that waits", "hidden", "the driver"};
  return kNames[static_cast<int>(cause)];
}

}  // namespace

int main() {
  using namespace labrig;
  const Device device = std::getenv("LABRIG_DEVICE") ? pick_device() : Device("sim:0");
  Tensor batch = ones({64, 128}), weights = ones({10, 128});
  batch.set_name("batch");
  weights.set_name("weights");

  const trace::Recorder recorder;
  const Tensor on_card = batch.to(device);
  const Tensor transposed = weights.t().to(device);  // packed on the host first: a hidden copy
  const Tensor scores = matmul(on_card, transposed);
  const double first = scores[0][0].item();

  std::printf("the first score is %g; what happened on %s:\n", first, device.str().c_str());
  for (const trace::Event& event : recorder.events()) {
    std::printf("  %-12s %8zu bytes  %-10s (%s)\n", name_of(event.kind), event.bytes, event.name.c_str(),
                name_of(event.cause));
  }
}
