// A worker for the tests: attaches to a card process by the descriptors it inherits and does what it is told.
//
//   sim-test-worker PROGRAM SEED DEVICE_PAGE WORKER_PAGE ARENA BASE ARENA_BYTES CAPACITY DATA
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "backends/sim/machine.hpp"
#include "labrig/ops.hpp"
#include "random_program.hpp"

using namespace labrig;

namespace {

std::uint64_t number(const char* text) { return std::strtoull(text, nullptr, 0); }

// Byte 100 of a tensor of 4,096 bytes, on the host.
void dereference() {
  const Tensor weight = full({32, 32}, 1).set_name("model.layer1.weight").to("sim");
  volatile const float* data = static_cast<const float*>(weight.data_ptr());
  std::printf("%f\n", static_cast<double>(data[25]));
}

}  // namespace

int main(int, char** arguments) {
  const std::string program = arguments[1];
  sim::Handles handles;
  handles.device_page_fd = static_cast<int>(number(arguments[3]));
  handles.worker_page_fd = static_cast<int>(number(arguments[4]));
  handles.arena_fd = static_cast<int>(number(arguments[5]));
  handles.base = number(arguments[6]);
  handles.arena_bytes = number(arguments[7]);
  handles.capacity_bytes = {number(arguments[8])};
  handles.card_names = {"desktop"};
  handles.data = number(arguments[9]) != 0;
  sim::attach(handles);
  sim::begin_region();
  if (program == "random" || program == "jitter") {
    sim::run_random_program(static_cast<std::uint32_t>(number(arguments[2])), program == "jitter");
  } else if (program == "dereference") {
    dereference();
  } else if (program == "null") {
    volatile std::uintptr_t sixteen = 16;
    *reinterpret_cast<volatile int*>(sixteen) = 1;
  } else if (program == "leave") {
    _exit(0);
  } else if (program == "scribble") {
    // A second `begin` is what a program that drives the card by itself would send.
    try {
      sim::begin_region();
    } catch (const Error&) {
    }
    for (;;) pause();
  }
  sim::finish_region();
  return 0;
}
