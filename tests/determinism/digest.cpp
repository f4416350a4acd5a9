// Prints all that a fixed set of programs makes the simulated card report: metrics, timeline, memory curve, hazards,
// and the bits of every value and the address of every tensor that the programs see. compare.sh holds the outputs of
// builds at -O0 and -O3, of two compilers, of both homes of the card and of a busy machine against each other.
//
//   determinism-digest thread                    the card is a thread of this program
//   determinism-digest process LABRIG_DEVICE     the card is a process, each program a worker of its own
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "backends/sim/machine.hpp"
#include "handles_word.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"
#include "programs/generate.hpp"
#include "programs/library_run.hpp"
#include "random_program.hpp"

extern char** environ;

namespace labrig::sim {
namespace {

// Numbers of the programs: those of random_program.hpp, those of programs/generate.hpp, and two of this file.
constexpr std::uint32_t kPlainPrograms = 12, kRacyPrograms = 40;
constexpr std::uint32_t kPrograms = kPlainPrograms + kRacyPrograms + 2;

// --- the programs -------------------------------------------------------------------------------------------------

std::uint64_t digest(const void* data, std::size_t bytes, std::uint64_t hash = 0xcbf29ce484222325) {
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const std::uint8_t*>(data)[i]) * 0x100000001b3;
  return hash;
}
std::uint64_t digest(const std::string& text) { return digest(text.data(), text.size()); }

void print_bits(const char* what, const Tensor& tensor) {
  const Tensor host = tensor.cpu().contiguous();
  std::printf("  %s %s: %016llx\n", what, name_of(tensor.dtype()),
              static_cast<unsigned long long>(digest(host.data_ptr(), host.nbytes())));
}

// Arithmetic whose last bit depends on the order of operations, in every type of floating point.
void arithmetic() {
  const Device card("sim");
  for (const Dtype dtype : {kF32, kF16, kBF16, kF64}) {
    const Tensor x = (arange(77 * 33, Options(kF32)).reshape({77, 33}) / 977.0 - 1.25).to(dtype).to(card);
    const Tensor above = x * 3.0 + 0.3;  // a line each: compilers differ in which operand they compute first
    const Tensor below = x - 7.0;
    const Tensor y = above / below;
    print_bits("elements", y);
    print_bits("product", matmul(x, y.t()));
    print_bits("sums", sum(y, 0));
    print_bits("means", mean(y, 1));
    print_bits("largest", max(y));
    print_bits("strided", relu(x.t() + x.t()).narrow(0, 3, 20));
  }
}

// Where tensors come to lie, as distances from the first one, with two streams and memory that is used again.
void addresses() {
  const Device card("sim");
  const Tensor first = empty({16}, card);
  const auto* base = static_cast<const char*>(first.data_ptr());
  std::vector<Tensor> held;
  const Stream side = new_stream(card);
  std::uint32_t random = 12345;
  for (int i = 0; i < 300; ++i) {
    random = random * 1664525 + 1013904223;
    if (random >> 31 != 0 && !held.empty()) {
      held.erase(held.begin() + static_cast<std::ptrdiff_t>((random >> 8) % held.size()));
      continue;
    }
    const StreamGuard guard((random >> 30 & 1) != 0 ? side : current_stream(card));
    held.push_back(empty({1 + (random >> 6) % 700'000}, card));
    std::printf("  address %lld\n", static_cast<long long>(static_cast<const char*>(held.back().data_ptr()) - base));
  }
  for (const auto& [key, value] : memory_stats(card)) {
    std::printf("  %s %lld\n", key.c_str(), static_cast<long long>(value));
  }
}

void run_program(std::uint32_t number) {
  if (number < kPlainPrograms) {
    const double read = run_random_program(number + 1, false);
    std::printf("  read %016llx\n", static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(read)));
  } else if (number < kPlainPrograms + kRacyPrograms) {
    const programs::Program racy = programs::for_the_library(programs::random_program(number));
    std::printf("  saw %016llx\n", static_cast<unsigned long long>(digest(programs::run_with_library(racy).text())));
  } else if (number + 1 < kPrograms) {
    arithmetic();
  } else {
    addresses();
  }
}

// --- what the card reports ------------------------------------------------------------------------------------------

void print_report(const Report& report) {
  for (const auto& [name, value] : to_rows(report.metrics)) {
    std::printf("  %s %lld\n", name.c_str(), static_cast<long long>(value));
  }
  std::string timeline, memory;
  for (const Span& span : report.timeline) {
    timeline += span.name;
    for (const std::int64_t value : {std::int64_t{static_cast<int>(span.lane)}, std::int64_t{span.device},
                                     std::int64_t{span.stream}, span.start_ps, span.end_ps}) {
      timeline += " " + std::to_string(value);
    }
  }
  for (const MemoryPoint& point : report.memory) {
    memory += std::to_string(point.time_ps) + " " + std::to_string(point.allocated_bytes) + " " +
              std::to_string(point.reserved_bytes) + " " + std::to_string(point.pinned_bytes) + " ";
  }
  std::printf("  timeline %zu %016llx\n", report.timeline.size(), static_cast<unsigned long long>(digest(timeline)));
  std::printf("  memory %zu %016llx\n", report.memory.size(), static_cast<unsigned long long>(digest(memory)));
  for (const Hazard& hazard : report.hazards) {
    std::printf("  hazard %llu %s\n", static_cast<unsigned long long>(hazard.count), hazard.text.c_str());
  }
  for (const std::string& note : report.notes) std::printf("  note %s\n", note.c_str());
  std::printf("  ended %d %s %s\n", report.finished, report.violation_code.c_str(), report.last_command.c_str());
}

// --- both homes -----------------------------------------------------------------------------------------------------

MachineOptions options(Mode mode) {
  MachineOptions made;
  made.mode = mode;
  made.cards.assign(2, load_profile("desktop").value());
  return made;
}

void in_thread(std::uint32_t number, Mode mode) {
  InProcessMachine machine(options(mode));
  begin_region();
  run_program(number);
  finish_region();
  print_report(machine.report());
}

// The worker's half of in_process.
int worker(const std::string& number, const std::string& handles) {
  attach(unpacked(handles));
  begin_region();
  run_program(static_cast<std::uint32_t>(std::stoul(number)));
  finish_region();
  return 0;
}

bool in_process(std::uint32_t number, Mode mode, const char* device) {
  constexpr const char* self = "/proc/self/exe";
  CardProcess card(device, options(mode));
  const Handles& handles = card.handles();
  std::array<int, 3> fds = {handles.device_page_fd, handles.worker_page_fd, handles.arena_fd};
  for (int& fd : fds) fd = fcntl(fd, F_DUPFD, 20);  // without FD_CLOEXEC
  std::vector<std::string> words = {self, "worker", std::to_string(number), packed(handles, fds)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(stdout);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, self, nullptr, nullptr, arguments.data(), environ);
  for (const int fd : fds) close(fd);
  if (failed != 0) return false;
  card.worker_started(pid);
  int status = 0;
  waitpid(pid, &status, 0);
  const auto report = card.report(30'000);
  if (status != 0 || !report) return false;
  print_report(*report);
  return true;
}

}  // namespace
}  // namespace labrig::sim

int main(int count, char** words) {
  using namespace labrig::sim;
  const std::string home = count > 1 ? words[1] : "";
  if (home == "worker") return count == 4 ? worker(words[2], words[3]) : 2;
  if (home != "thread" && (home != "process" || count != 3)) {
    std::fprintf(stderr, "usage: %s thread | process LABRIG_DEVICE\n", words[0]);
    return 2;
  }
  for (std::uint32_t number = 0; number < kPrograms; ++number) {
    for (const Mode mode : {Mode::eager, Mode::late}) {
      std::printf("program %u, %s\n", number, mode == Mode::late ? "late" : "eager");
      if (home == "thread") {
        in_thread(number, mode);
      } else if (!in_process(number, mode, words[2])) {
        std::fprintf(stderr, "program %u did not end well\n", number);
        return 1;
      }
    }
  }
  return 0;
}
