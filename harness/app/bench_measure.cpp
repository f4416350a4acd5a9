// BenchDevice: what is measured; how, is labrig::bench's matter (bench.hpp).
#include "bench_measure.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

#include "device/backend.hpp"
#include "labrig/bench.hpp"
#include "labrig/error.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"

namespace labrig::app {
namespace {

constexpr std::array<std::int64_t, 4> kSides = {64, 256, 1024, 4096};
constexpr std::array<std::size_t, 7> kCopyBytes = {
    4, 4 << 10, 64 << 10, 1 << 20, 4 << 20, 64 << 20, std::size_t{1} << 30};
constexpr std::size_t kSmallCopyBytes = 64 << 10;

sim::MachineOptions cost_only(const sim::Profile& profile) {
  sim::MachineOptions options;
  options.cards = {profile};
  options.data = false;
  options.limits.pinned_bytes = std::uint64_t{2} << 30;  // address space: nothing is ever written there
  options.limits.trace_events = 0;
  return options;
}

// Values from -1/2 to 1/2 that all differ: some cards multiply equal ones faster.
Tensor varied(std::int64_t n) {
  return arange(n * n, Options(kF32)).reshape({n, n}) / static_cast<double>(n * n) - 0.5;
}

}  // namespace

BenchDevice::BenchDevice(Device device, const std::string& profile) : device_(device) {
  if (device.type() != DeviceType::sim) {
    if (!profile.empty()) {
      throw Error("profile-without-sim", "--profile says nothing about " + device.str(),
                  "a profile describes a simulated card, and this device is measured as it is",
                  "leave --profile out, or use --device sim");
    }
    device_ = resolve(device);
    return;
  }
  profile_ = sim::load_profile(profile.empty() ? "desktop" : profile).value();
  machine_ = std::make_unique<sim::InProcessMachine>(cost_only(profile_));
  device_ = resolve(device);
}

int BenchDevice::host_threads() const {
  if (simulated()) return profile_.host_threads;
  const char* set = std::getenv("LABRIG_CPU_THREADS");
  const int asked = set == nullptr ? 0 : std::atoi(set);
  return asked > 0 ? asked : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

double BenchDevice::wall_ms(const std::function<void()>& work) const {
  return bench_end_to_end(work, device_, {.work_waits = true}).median_ms;
}

double BenchDevice::device_ms(const std::function<void()>& work) const {
  return bench_compute(work, device_).median_ms;
}

double BenchDevice::empty_event_pair_ms() const {
  return device_ms([] {});
}

double BenchDevice::host_product_ms(std::int64_t n) const {
  if (simulated()) {
    // What the CPU operator would report; nothing is computed.
    const auto side = static_cast<std::uint64_t>(n);
    KernelCost cost;
    cost.flops = 2 * side * side * side;
    cost.bytes = 3 * side * side * sizeof(float);
    return wall_ms([&] { attached_sim_clock()->host_work(cost); });
  }
  const Tensor a = varied(n), b = varied(n);
  return bench_end_to_end([&] { matmul(a, b); }, Device{}).median_ms;
}

std::vector<CrossoverRow> BenchDevice::crossover() const {
  std::vector<CrossoverRow> rows;
  for (const std::int64_t n : kSides) {
    CrossoverRow row;
    row.n = n;
    row.cpu_ms = host_product_ms(n);
    if (!device_.is_cpu()) {
      const auto host = [&] { return simulated() ? empty({n, n}) : varied(n); };
      const Tensor a = host(), b = host(), c = host();
      const Tensor x = empty({n, n}, device_), y = empty({n, n}, device_);
      if (!simulated()) x.copy_(a), y.copy_(b);
      row.compute_ms = device_ms([&] { matmul(x, y); });
      row.end_to_end_ms = wall_ms([&] {
        x.copy_(a);
        y.copy_(b);
        c.copy_(matmul(x, y));
      });
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<CopyRow> BenchDevice::copies() const {
  if (device_.is_cpu()) {
    throw Error("no-copies-on-the-host", "there are no copies to measure on cpu",
                "a copy to a device crosses a bus, and the host is on one side of it only",
                "use --device sim, or --device cuda:0 where there is a card");
  }
  std::vector<CopyRow> rows;
  const std::size_t room = mem_get_info(device_).free_bytes / 2;
  // The host waits for every copy. A small one from pageable memory returns as soon as its bytes are on their way.
  const auto add = [&](const char* direction, const char* memory, const Tensor& to, const Tensor& from) {
    const bool returns_early = !to.device().is_cpu() && !from.is_pinned() && from.nbytes() <= kSmallCopyBytes;
    rows.push_back({from.nbytes(), direction, memory, wall_ms([&] {
                      to.copy_(from);
                      if (returns_early) current_stream(device_).synchronize();
                    })});
  };
  for (const std::size_t bytes : kCopyBytes) {
    if (bytes > room) break;
    const auto count = static_cast<std::int64_t>(bytes);
    const Tensor card = empty({count}, Options(kU8, device_));
    for (const bool pinned : {true, false}) {
      const Tensor host = empty({count}, Options(kU8).pinned_memory(pinned));
      if (!simulated()) host.fill_(1), card.fill_(1);
      add("h2d", pinned ? "pinned" : "pageable", card, host);
      add("d2h", pinned ? "pinned" : "pageable", host, card);
    }
    const Tensor other = empty({count}, Options(kU8, device_));
    rows.push_back({bytes, "d2d", "device", wall_ms([&] {
                      other.copy_(card);
                      synchronize(device_);
                    })});
  }
  return rows;
}

}  // namespace labrig::app
