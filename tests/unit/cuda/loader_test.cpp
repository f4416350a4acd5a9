// The door to the cuda backend, on a machine without a card: each way in which there is no cuda device says what is
// wrong. Libraries that do not load are built for this test (CMakeLists.txt); what a real card does is tests/contract's
// subject.
#include "backends/cuda/loader.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace labrig {
namespace {

std::filesystem::path built(const char* name) { return std::filesystem::path(LABRIG_TEST_LIBRARIES) / name; }

void expect_three_sentences(const Error& error) {
  EXPECT_FALSE(std::string(error.what()).empty());
  EXPECT_FALSE(error.why().empty());
  EXPECT_FALSE(error.fix().empty());
}

TEST(CudaLoader, NamesTheMissingLibraryAndWhereItLooked) {
  const auto opened = cuda::open_library({"/nowhere/liblabrig-cuda.so"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), "cuda-library-missing");
  EXPECT_NE(opened.error().why().find("/nowhere/liblabrig-cuda.so"), std::string::npos);
  expect_three_sentences(opened.error());
}

TEST(CudaLoader, SaysThatTheCudaRuntimeIsMissing) {
  const auto opened = cuda::open_library({built("libneeds-cudart.so")});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), "cuda-runtime-missing") << opened.error().message();
  EXPECT_NE(opened.error().why().find("libcudart.so.99"), std::string::npos);
}

TEST(CudaLoader, SaysThatCublasIsMissing) {
  const auto opened = cuda::open_library({built("libneeds-cublas.so")});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), "cublas-missing") << opened.error().message();
}

TEST(CudaLoader, RefusesAFileThatIsNoLibrary) {
  const auto path = std::filesystem::path(testing::TempDir()) / "not-a-library.so";
  std::ofstream(path) << "text";
  const auto opened = cuda::open_library({path});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), "cuda-library-broken");
  std::filesystem::remove(path);
}

TEST(CudaLoader, RefusesTheLibraryOfAnotherBuild) {
  const auto opened = cuda::open_library({built("libother-build.so")});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), "cuda-library-broken");
  EXPECT_NE(opened.error().why().find("another build"), std::string::npos) << opened.error().why();
}

TEST(CudaLoader, OpensTheLibraryOfThisBuild) {
  const auto opened = cuda::open_library({LABRIG_CUDA_LIBRARY});
  if (!opened && (opened.error().code() == "cuda-runtime-missing" || opened.error().code() == "cublas-missing"))
    GTEST_SKIP() << opened.error().why();
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_NE(opened.value()->device_count, nullptr);
}

// Without a driver the count fails with the reason, and making a backend fails with the same one.
TEST(CudaProbe, TellsAMissingDriverFromAMissingCard) {
  const Result<int> count = cuda_device_count();
  if (count) GTEST_SKIP() << "this machine has " << count.value() << " card(s)";
  if (count.error().code() == "cuda-runtime-missing" || count.error().code() == "cublas-missing")
    GTEST_SKIP() << count.error().why();
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr)
    EXPECT_EQ(count.error().code(), "no-driver") << count.error().message();
  else
    EXPECT_NE(count.error().code(), "no-driver") << count.error().message();
  expect_three_sentences(count.error());

  const auto backend = make_cuda_backend(0);
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code(), count.error().code());
}

}  // namespace
}  // namespace labrig
