// A worker for the tests: attaches to a card process by the descriptors it inherits and does what it is told.
//
//   sim-test-worker PROGRAM SEED HANDLES
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "backends/sim/machine.hpp"
#include "handles_word.hpp"
#include "labrig/ops.hpp"
#include "programs/generate.hpp"
#include "programs/library_run.hpp"
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

// A word that the table does not have.
void look_up_a_row_that_is_not_there() {
  const Tensor table = full({4, 2}, 1, Device("sim")).set_name("table");
  const Tensor ids = tensor<std::int64_t>(std::vector<std::int64_t>{3, 4, 0}).set_name("ids").to("sim");
  embedding(ids, table);
}

}  // namespace

int main(int, char** arguments) {
  const std::string program = arguments[1];
  sim::attach(sim::unpacked(arguments[3]));
  sim::begin_region();
  if (program == "random" || program == "jitter") {
    sim::run_random_program(static_cast<std::uint32_t>(number(arguments[2])), program == "jitter");
  } else if (program == "judged") {
    using namespace sim::programs;
    const Program judged = for_the_library(random_program(number(arguments[2])));
    std::fputs(run_with_library(judged).text().c_str(), stderr);
  } else if (program == "dereference") {
    dereference();
  } else if (program == "assert") {
    look_up_a_row_that_is_not_there();
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
