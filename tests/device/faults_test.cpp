// A mistake that a kernel finds is reported with the launch that made it, and kills the card for this process: each of
// these tests runs in a process of its own (a death test), which ends with 0 when the error says what it should.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "labrig/error.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"

namespace labrig {
namespace {

class CardFaults : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    try {
      resolve("cuda:0");
    } catch (const Error& error) {
      GTEST_SKIP() << error.message();
    }
  }
};

bool contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  std::fprintf(stderr, "\"%s\" is not in\n%s\n", part.c_str(), text.c_str());
  return false;
}

// The message of the error that `run` throws; empty when it throws none.
template <class Run>
std::string message_of(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

Tensor bad_ids(std::int64_t value) { return tensor<std::int64_t>({0, value}).to(Device("cuda:0")); }

void bad_index() {
  const Tensor x = zeros({3, 2}, Device("cuda:0")), ids = bad_ids(7);
  index(x, {ids});
  const std::string first = message_of([&] { x.cpu(); }), later = message_of([&] { x + x; });
  const bool all = contains(first, "CUDA error: device-side assert triggered") &&
                   contains(first, "(index, stream 0)") &&
                   contains(first, "number 1 of operand 2 is 7, and allowed are -3 to 2") &&
                   contains(later, "the card died before") && contains(later, "(index, stream 0)");
  std::_Exit(all ? 0 : 1);
}
TEST_F(CardFaults, ABadIndexNamesLaunchPositionValueAndSize) {
  EXPECT_EXIT(bad_index(), testing::ExitedWithCode(0), "");
}

void bad_class() {
  const Tensor weight = zeros({3, 2}, Device("cuda:0"));
  const Tensor scores = zeros({2, 3}, Device("cuda:0"));
  cross_entropy(scores, bad_ids(5));
  const std::string first = message_of([&] { weight.cpu(); });
  std::_Exit(contains(first, "(nll_loss, stream 0)") && contains(first, "is 5") ? 0 : 1);
}
TEST_F(CardFaults, ABadClassNamesTheLoss) { EXPECT_EXIT(bad_class(), testing::ExitedWithCode(0), ""); }

// The backend looks at the variable when it is made.
class CardFaultsBlocking : public CardFaults {
 protected:
  void SetUp() override {
    setenv("LABRIG_LAUNCH_BLOCKING", "1", 1);
    CardFaults::SetUp();
  }
  void TearDown() override { unsetenv("LABRIG_LAUNCH_BLOCKING"); }
};

void bad_index_while_blocking() {
  const Tensor x = zeros({3, 2}, Device("cuda:0")), ids = bad_ids(-4);
  const std::string first = message_of([&] { index(x, {ids}); });
  std::_Exit(contains(first, "is -4") ? 0 : 1);
}
TEST_F(CardFaultsBlocking, TheCallItselfThrows) {
  EXPECT_EXIT(bad_index_while_blocking(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace labrig
