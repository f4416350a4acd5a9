// What a program that stays on the host does not pay for: no thread of a card, no OpenBLAS until something is
// multiplied. A program of its own, because a test before it would have started either.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/tensor.hpp"

namespace labrig {
namespace {

std::ptrdiff_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

bool has_openblas() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("openblas") != std::string::npos) return true;
  }
  return false;
}

TEST(HostOnlyProgram, StartsNoThreadAndLoadsNoBlasUntilItMultiplies) {
  const auto before = threads();
  const Tensor x = ones({100, 100});
  EXPECT_EQ(sum(relu(x * 2 - 1)).item(), 10000);
  EXPECT_EQ(memory_allocated("sim:0"), 0u);
  EXPECT_EQ(pick_device().is_cpu(), device_count(DeviceType::cuda) == 0);
  EXPECT_EQ(threads(), before);
  EXPECT_FALSE(has_openblas());
  EXPECT_EQ(matmul(x, x)[0][0].item(), 100);
}

}  // namespace
}  // namespace labrig
