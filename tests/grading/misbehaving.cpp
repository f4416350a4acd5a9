// One submission for each way to misbehave (LABRIG_WAY). It does so in the case on the host only, or, where the way
// needs a card, in those on the card; everywhere else it answers rightly.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "interface.hpp"

using namespace labrig;

namespace {

constexpr std::string_view kWay = LABRIG_WAY;
constexpr bool kOnTheCard = kWay.starts_with("card_");

// In a static constructor, before the harness has asked for anything.
struct WhileLoading {
  WhileLoading() {
    if (kWay == "exit_while_loading") ::_exit(0);
    if (kWay == "crash_while_loading") std::raise(SIGSEGV);
  }
} while_loading;

volatile int sink = 0;

int recurse(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : recurse(depth + 1) + room[0];
}

// A child that leaves the process group and stays.
void leave_a_child() {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  ::prctl(PR_SET_NAME, "labrig-linger");
  for (;;) ::sleep(60);
}

// Within the limits of a case, but more than the card carries out in the time that it has to report. Then the end.
void leave_a_queue(Device device) {
  const Tensor large = empty({900, 900}, device);
  for (int i = 0; i < 90; ++i) matmul(large, large);
  std::_Exit(0);
}

Tensor late;  // on the card; its class's destructor works on it

constexpr char kFakeReport[] =
    "{\"schema\": \"labrig.report/1\", \"score\": 100.0, \"passed\": true}\n{\"event\": \"end\"}\n";

// A frame of one's own on the channel to the supervisor, and the end.
[[noreturn]] void forge(const std::string& json, std::uint32_t kind) {
  struct {
    std::uint32_t magic = 0x4c52'4348, kind;
    std::uint64_t json_bytes, bytes = 0;
  } header{.kind = kind, .json_bytes = json.size()};
  (void)!::write(3, &header, sizeof header);
  for (std::size_t at = 0; at < json.size();) {
    const ssize_t count = ::write(3, json.data() + at, json.size() - at);
    if (count <= 0) break;
    at += static_cast<std::size_t>(count);
  }
  ::_exit(0);
}

Tensor misbehave(const Tensor& x, Device device) {
  if (kWay == "card_unused") return add(x, 1.0);
  const Tensor right = add(x.to(device), 1.0).cpu();
  if (kWay == "segfault") *static_cast<volatile int*>(nullptr) = 1;
  if (kWay == "loop")
    for (;;) sink = sink + 1;
  if (kWay == "sleep") ::sleep(3600);
  if (kWay == "stop") ::raise(SIGSTOP);
  if (kWay == "throw_int") throw 42;
  if (kWay == "throw_text") throw std::runtime_error("a text of its own");
  if (kWay == "abort") std::abort();
  if (kWay == "exit_in_call") std::exit(0);
  if (kWay == "wrong_shape") return right.narrow(0, 0, 10);
  if (kWay == "undefined") return Tensor();
  if (kWay == "not_a_number") return full(right.sizes(), std::nan(""));
  if (kWay == "recursion") sink = recurse(0);
  if (kWay == "lingering_child") leave_a_child();
  if (kWay == "allocate") sink = static_cast<char*>(::operator new(std::size_t{100} << 30))[0];
  if (kWay == "prints") std::printf("hello from the submission\n");
  if (kWay == "flood")
    for (;;) std::fputs("a line that is printed again and again and again\n", stdout);
  if (kWay == "stops_its_judge") {
    ::kill(::getppid(), SIGSTOP);
    ::kill(::getppid(), SIGKILL);
    ::_exit(0);
  }
  if (kWay == "forged_module") forge("{\"phase\": \"module\"}", 2);
  if (kWay == "forged_nesting") forge("{\"values\": " + std::string(1 << 20, '[') + std::string(1 << 20, ']') + "}", 5);
  if (kWay == "fake_report") {
    std::fputs(kFakeReport, stdout);
    for (int fd = 3; fd < 16; ++fd) (void)!::write(fd, kFakeReport, sizeof kFakeReport - 1);
    ::_exit(0);
  }
  if (kWay == "card_device_pointer") {
    const Tensor there = x.to(device).set_name("features");
    sink = static_cast<int>(*static_cast<volatile float*>(there.data_ptr()));
  }
  if (kWay == "card_too_large") return empty({std::int64_t{1} << 36}, device).cpu();
  if (kWay == "card_thread") {
    Tensor made;
    std::thread([&] { made = add(x.to(device), 1.0).cpu(); }).join();
    return made;
  }
  if (kWay == "card_queue") leave_a_queue(device);
  if (kWay == "card_after_finish") late = right.to(device);
  // Less than the limit of CPU time, more than the reference and half a second.
  if (kWay == "card_host_work")
    while (std::clock() < 8 * CLOCKS_PER_SEC / 10) sink = sink + 1;
  return right;
}

class Misbehaving : public plus_one::Submission {
 public:
  ~Misbehaving() override {
    if (kWay == "crash_in_destructor") std::raise(SIGSEGV);
    if (late.defined()) add_(late, late);
  }
  Tensor plus_one(const Tensor& x, Device device) override {
    if (device.is_cpu() == kOnTheCard) return add(x.to(device), 1.0).cpu();
    return misbehave(x, device);
  }
};

}  // namespace

LABRIG_SUBMISSION(Misbehaving)
