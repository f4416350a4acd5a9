// A build without CUDA answers every question for a cuda device with the sentence that says how to get one.
#include <gtest/gtest.h>

#include "device/backend.hpp"

namespace labrig {
namespace {

TEST(NoCuda, SaysThatThisBuildHasNoCudaAndHowToGetIt) {
  const Result<int> count = cuda_device_count();
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().code(), "no-cuda");
  EXPECT_NE(count.error().fix().find("LABRIG_CUDA"), std::string::npos) << count.error().message();
}

TEST(NoCuda, MakesNoBackendForTheSameReason) {
  const auto backend = make_cuda_backend(0);
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code(), "no-cuda");
}

}  // namespace
}  // namespace labrig
