// labrig-worker: the process in which a submission runs. Started by labrig-supervisor for one case (no arguments), by
// `labrig plugin doctor` to try the upper rungs of the loading ladder (--climb), and by `labrig check` to run
// cases one after another in one process: under a debugger if need be (--debug), or on a real card (--values).
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>

#include "labrig/error.hpp"
#include "loader/climb.hpp"
#include "worker/debug.hpp"
#include "worker/on_device.hpp"
#include "worker/serve.hpp"

namespace {

int run(int argc, char** argv) {
  using namespace labrig;
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode.empty()) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return worker::serve();
  }
  if (mode == "--climb" && argc == 3) return loader::climb_main(argv[2], loader::kClimbDescriptor);
  if (mode == "--values" && argc >= 4) return worker::values_on(argv[2], argv[3], argc == 5);
  if (mode == "--debug" && argc == 3) return worker::debug(argv[2], false);
  if (mode == "--debug" && argc == 4 && std::string_view(argv[3]) == "--json") return worker::debug(argv[2], true);
  std::fputs("labrig-worker is started by labrig; run `labrig --help`\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  int code = 5;
  try {
    code = run(argc, argv);
  } catch (const labrig::Error& error) {
    std::fprintf(stderr, "%s\n", error.message().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: labrig-worker failed: %s\n", error.what());
  }
  // Not exit(): nothing of a submission runs after its case.
  std::fflush(nullptr);
  ::_exit(code);
}
