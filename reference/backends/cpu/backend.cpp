// The host as a device: kernels run at once in the calling thread, so that a stream has never anything left to do.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "device/thread_state.hpp"
#include "kernels.hpp"
#include "ops/plain/kernels.hpp"

namespace labrig {
namespace {

using Clock = std::chrono::steady_clock;

// The value of "name: value" in one of Linux's text files; empty when it is not there.
std::string field_of(const char* file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const std::size_t colon = line.find(':');
    const std::size_t start = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    if (start != std::string::npos) return line.substr(start);
  }
  return {};
}

void add_to(JobCost& job, const KernelCost& cost) {
  job.flops += cost.flops;
  job.bytes += cost.bytes;
  ++job.calls;
}

class CpuBackend final : public Backend {
 public:
  Device device() const override { return {}; }

  std::string describe() const override {
    std::string model = field_of("/proc/cpuinfo", "model name");
    if (model.empty()) model = "a processor that does not say its name";
    const auto mib = host_memory().total_bytes >> 20;
    return "cpu: " + model + ", " + std::to_string(std::thread::hardware_concurrency()) + " threads, " +
           std::to_string(mib) + " MiB";
  }

  MemoryInfo memory_info() override { return host_memory(); }

  void* driver_malloc(std::size_t bytes) override {
    void* memory = nullptr;
    return posix_memalign(&memory, 512, bytes) == 0 ? memory : nullptr;
  }
  void driver_free(void* memory) override { std::free(memory); }
  // All host memory is within the host's own reach.
  void* pinned_malloc(std::size_t bytes) override { return driver_malloc(bytes); }
  void pinned_free(void* memory) override { driver_free(memory); }

  void copy(const CopyRequest& request) override { std::memmove(request.destination, request.source, request.bytes); }

  void launch(const KernelCall& call, StreamId) override {
    if (const auto violation = schema_violation(call)) {
      throw Error("kernel-refused", "the cpu refuses kernel '" + std::string(name_of(call.kernel)) + "': " + *violation,
                  "an operator made a call that does not fit the kernel's schema, which is a mistake in labrig",
                  "please report it, with the shapes and types of the operands");
    }
    run(call);
    if (JobCost* const job = thread_state().job)
      add_to(*job, cost_of(call));
    else if (Backend* const clock = attached_sim_clock())
      clock->host_work(cost_of(call));
  }

  StreamId create_stream() override { return 0; }
  void synchronize_stream(StreamId, trace::Cause) override {}
  void synchronize_device(trace::Cause) override {}
  bool query_stream(StreamId) override { return true; }

  EventId create_event(bool /*timing*/) override {
    const std::lock_guard lock(mutex_);
    events_[++last_event_] = {};
    return last_event_;
  }
  void destroy_event(EventId event) override {
    const std::lock_guard lock(mutex_);
    events_.erase(event);
  }
  void record_event(EventId event, StreamId) override {
    const std::lock_guard lock(mutex_);
    events_[event] = Clock::now();
  }
  void wait_event(EventId, StreamId, Backend&) override {}
  void synchronize_event(EventId) override {}
  bool query_event(EventId) override { return true; }
  double elapsed_ms(EventId from, EventId to) override {
    const std::lock_guard lock(mutex_);
    return std::chrono::duration<double, std::milli>(events_.at(to) - events_.at(from)).count();
  }

 private:
  static MemoryInfo host_memory() {
    const std::string available = field_of("/proc/meminfo", "MemAvailable");
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    MemoryInfo info;
    info.total_bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page;
    info.free_bytes = available.empty() ? static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * page
                                        : std::strtoull(available.c_str(), nullptr, 10) << 10;
    return info;
  }

  static void run(const KernelCall& call) {
    switch (call.kernel) {
      case Kernel::matmul:
      case Kernel::bmm:
      case Kernel::linear:
        return cpu::matmul(call);
      case Kernel::conv2d:
      case Kernel::conv2d_input_backward:
      case Kernel::conv2d_weight_backward:
        return cpu::conv2d(call);
      case Kernel::sum:
      case Kernel::mean:
      case Kernel::max:
      case Kernel::norm:
        return cpu::reduction(call);
      default:
        return kernels::run(call);  // elementwise: the same loops on every device that is a program
    }
  }

  std::mutex mutex_;
  std::unordered_map<EventId, Clock::time_point> events_;
  EventId last_event_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace labrig
