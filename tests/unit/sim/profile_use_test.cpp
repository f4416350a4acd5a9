// What programs see of profiles: several cards by name, and other processes that come and go.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/sim/machine.hpp"
#include "device/backend.hpp"
#include "labrig/capability.hpp"
#include "labrig/error.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"

namespace labrig::sim {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(AutomaticMachine, HasACardForEachProfileThatIsNamed) {
  detach_sim_backends();
  setenv("LABRIG_PROFILES", LABRIG_TEST_PROFILES, 1);
  setenv("LABRIG_SIM_PROFILE", "tiny-256mib,t4", 1);
  EXPECT_EQ(device_count(DeviceType::sim), 2);
  EXPECT_EQ(mem_get_info(Device("sim:0")).total_bytes, 256 * kMiB);
  EXPECT_NE(describe(Device("sim:1")).find("t4"), std::string::npos);
  EXPECT_EQ(sum(full({8}, 2, Device("sim:1"))).item(), 16);
  EXPECT_TRUE(is_bf16_supported(Device("sim:0")));
  EXPECT_FALSE(is_bf16_supported(Device("sim:1")));
  EXPECT_TRUE(is_bf16_supported(Device("cpu")));
  detach_sim_backends();
  unsetenv("LABRIG_SIM_PROFILE");
  unsetenv("LABRIG_PROFILES");
}

TEST(OtherProcesses, TakeMemoryWhenTheirTimeComesAndGiveItBack) {
  MachineOptions options;
  options.cards = {load_profile(LABRIG_TEST_PROFILES "/tiny-256mib.toml").value()};
  constexpr std::int64_t kMs = 1'000'000'000;
  options.cards[0].other_processes_schedule = {{10 * kMs, 200 * kMiB}, {50 * kMs, 0}};
  const InProcessMachine machine(options);
  const Device card("sim");
  const auto free_mib = [&] { return mem_get_info(card).free_bytes / kMiB; };
  // The host works for a while: 30 GB/s.
  const auto pass_ms = [](std::uint64_t ms) { attached_sim_clock()->host_work({0, ms * 30'000'000}); };
  EXPECT_EQ(free_mib(), 256u);
  pass_ms(20);
  EXPECT_EQ(free_mib(), 56u);
  try {
    empty({100, 1024, 1024}, Options(kU8, card));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "out-of-memory");
  }
  pass_ms(40);
  EXPECT_EQ(free_mib(), 256u);
  EXPECT_EQ(empty({100, 1024, 1024}, Options(kU8, card)).nbytes(), 100 * kMiB);
}

}  // namespace
}  // namespace labrig::sim
