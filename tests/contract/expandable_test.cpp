// Expandable segments on every card: the same figures as on PyTorch's, and tensors that keep their values while pages
// come and go.
#include <memory>

#include "contract.hpp"
#include "labrig/memory.hpp"
#include "labrig/stream.hpp"
#include "late_machine.hpp"

namespace labrig::contract {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class Expandable : public DeviceContract {
 protected:
  void SetUp() override {
    if (Device(GetParam()).type() == DeviceType::sim) machine_ = std::make_unique<LateMachine>(1);
    DeviceContract::SetUp();
    if (IsSkipped()) return;
    empty_cache(device);
    before_ = reserved();
    set_allocator_settings(device, "expandable_segments:True");
    // A real card may be too old for it.
    if (!allocator_warnings(device).empty()) GTEST_SKIP() << allocator_warnings(device).front();
  }
  void TearDown() override {
    if (device.is_cpu()) return;
    empty_cache(device);
    set_allocator_settings(device, "");
    set_per_process_memory_fraction(1, device);
  }

  std::int64_t reserved() const { return static_cast<std::int64_t>(memory_reserved(device)) - before_; }
  std::int64_t statistic(const std::string& key) const {
    const auto all = memory_stats(device);
    return all.contains(key) ? all.at(key) : 0;
  }
  Tensor take(std::int64_t mib) const { return empty({mib * kMiB}, Options(device, kU8)); }
  void allow(std::int64_t mib) const {
    const auto bytes = static_cast<double>(before_ + mib * kMiB + kMiB / 2);
    set_per_process_memory_fraction(bytes / static_cast<double>(mem_get_info(device).total_bytes), device);
  }
  // The last bytes of the tensor, set by the card and read back.
  void expect_usable(Tensor& tensor, double value) const {
    tensor.fill_(value);
    EXPECT_EQ(values(tensor.narrow(0, tensor.numel() - 3, 3)), (std::vector<double>{value, value, value}));
  }

  std::unique_ptr<LateMachine> machine_;
  std::int64_t before_ = 0;
};

TEST_P(Expandable, MapOneHundredAndFortyMiBWhereSegmentsTakeTwoHundredAndFiftySix) {
  const std::int64_t segments = statistic("segment.all.allocated"), maps = statistic("num_device_alloc");
  std::vector<Tensor> tensors;
  for (int i = 0; i < 8; ++i) tensors.push_back(take(16));
  EXPECT_EQ(reserved(), 140 * kMiB);
  EXPECT_EQ(statistic("num_device_alloc") - maps, 7);
  for (Tensor& tensor : tensors) expect_usable(tensor, 5);
  tensors.clear();
  for (int i = 0; i < 4; ++i) tensors.push_back(take(32));
  EXPECT_EQ(reserved(), 140 * kMiB) << "all free blocks of a range merge";
  for (Tensor& tensor : tensors) expect_usable(tensor, 6);
  EXPECT_EQ(statistic("segment.all.allocated"), segments);
}

TEST_P(Expandable, GrowAFreeEndByThePagesThatAreMissing) {
  Tensor first = take(30);
  EXPECT_EQ(reserved(), 40 * kMiB);
  expect_usable(first, 1);
  Tensor second = take(25);
  EXPECT_EQ(reserved(), 60 * kMiB);
  expect_usable(second, 2);
  EXPECT_EQ(values(first.narrow(0, 30 * kMiB - 1, 1)), (std::vector<double>{1}));
}

TEST_P(Expandable, GivePagesBackAroundTensorsThatStay) {
  Tensor before = take(10), large = take(70), after = take(10);
  before.fill_(1);
  after.fill_(3);
  EXPECT_EQ(reserved(), 100 * kMiB);
  large.fill_(2);
  large = Tensor();
  const auto free_bytes = mem_get_info(device).free_bytes;
  empty_cache(device);
  EXPECT_EQ(reserved(), 40 * kMiB);
  if (device.type() == DeviceType::sim) {  // a real card may have other users
    EXPECT_EQ(mem_get_info(device).free_bytes - free_bytes, static_cast<std::size_t>(60 * kMiB));
  }
  Tensor again = take(65);
  expect_usable(again, 4);
  EXPECT_EQ(values(before.narrow(0, 10 * kMiB - 1, 1)), (std::vector<double>{1}));
  EXPECT_EQ(values(after.narrow(0, 0, 1)), (std::vector<double>{3}));
}

TEST_P(Expandable, SaveAProgramThatALargeFirstStepFragments) {
  // 64, free, 16, 64 on a card of 96 MiB.
  const auto program = [&] {
    take(64);
    const Tensor small = take(16);
    return take(64).numel();
  };
  allow(96);
  EXPECT_EQ(program(), 64 * kMiB);
  EXPECT_EQ(reserved(), 80 * kMiB);
  empty_cache(device);
  set_allocator_settings(device, "");
  EXPECT_THROW(program(), OutOfMemoryError) << "the first 64 are cut, and cannot go back";
}

TEST_P(Expandable, CountAsMemoryOfThisProcessWhenItRunsOut) {
  allow(96);
  const Tensor first = take(64);
  try {
    take(64);
    FAIL() << "nothing was thrown";
  } catch (const OutOfMemoryError& error) {
    EXPECT_EQ(error.facts().reserved_bytes, static_cast<std::size_t>(before_ + 80 * kMiB));
    for (const ProcessMemory& process : error.facts().processes) {  // none on a real card
      EXPECT_TRUE(process.is_this);
      EXPECT_EQ(process.bytes, static_cast<std::size_t>(80 * kMiB));
    }
  }
}

TEST_P(Expandable, WorkForEachStreamOfItsOwn) {
  Stream stream = new_stream(device);
  Tensor first = take(4);
  first.fill_(1);
  {
    const StreamGuard guard(stream);
    Tensor second = take(4);
    EXPECT_EQ(reserved(), 40 * kMiB);
    expect_usable(second, 2);
  }
  empty_cache(device);
  EXPECT_EQ(reserved(), 20 * kMiB);
  EXPECT_EQ(values(first.narrow(0, 0, 1)), (std::vector<double>{1}));
}

INSTANTIATE_TEST_SUITE_P(Every, Expandable, testing::Values("sim:0", "cuda:0"),
                         [](const auto& parameter) { return std::string(name_of(Device(parameter.param).type())); });

}  // namespace
}  // namespace labrig::contract
