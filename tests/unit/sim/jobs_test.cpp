// Workers of loaders: clocks beside that of the host. In the profile of these tests an operator costs the host 1 us and
// 1 ns a flop or byte, whichever are more.
#include <gtest/gtest.h>

#include "test_card.hpp"

namespace labrig::sim {
namespace {

// One job of `us` microseconds: one operator of which all but its call is arithmetic.
void queue(TestCard& card, std::uint64_t worker, std::uint64_t us) {
  card.send(Opcode::job, {worker, (us - 1) * 1000, 0, 1});
}

TEST(Jobs, RunBesideTheHostWhichWaitsOnlyWhereItTakesThem) {
  TestCard card;
  queue(card, 0, 10);
  card.send(Opcode::host_work, {6000, 0});  // 7 us with its call
  EXPECT_EQ(card.clock_ps(), 7 * kUs);
  card.send(Opcode::take_job, {0});
  EXPECT_EQ(card.clock_ps(), 10 * kUs);
  queue(card, 0, 10);
  card.send(Opcode::host_work, {29000, 0});
  card.send(Opcode::take_job, {0});
  EXPECT_EQ(card.clock_ps(), 40 * kUs);
}

TEST(Jobs, OfOneWorkerFollowEachOtherAndThoseOfTwoOverlap) {
  TestCard card;
  for (const std::uint64_t worker : {0, 1, 0}) queue(card, worker, 10);
  card.send(Opcode::take_job, {0});
  card.send(Opcode::take_job, {1});
  EXPECT_EQ(card.clock_ps(), 10 * kUs);
  card.send(Opcode::take_job, {0});
  EXPECT_EQ(card.clock_ps(), 20 * kUs);
}

TEST(Jobs, AddUpTheCallsOfTheirOperatorsAndUseOneThread) {
  Profile profile = round_profile();
  profile.host_threads = 4;
  TestCard card(options_with(profile));
  card.send(Opcode::job, {0, 1000, 3000, 5});
  card.send(Opcode::take_job, {0});
  EXPECT_EQ(card.clock_ps(), (5 + 4) * kUs);
}

TEST(Jobs, AreForgottenWithTheirWorker) {
  TestCard card;
  queue(card, 3, 100);
  card.send(Opcode::close_worker, {3});
  queue(card, 3, 10);
  card.send(Opcode::take_job, {3});
  EXPECT_EQ(card.clock_ps(), 10 * kUs);
  EXPECT_EQ(card.violation(), "");
}

TEST(Jobs, ThatDoNotExistAreRefused) {
  TestCard none, twice, high;
  none.send(Opcode::take_job, {0});
  EXPECT_EQ(none.violation(), "bad-handle");
  queue(twice, 0, 10);
  twice.send(Opcode::take_job, {0});
  twice.send(Opcode::take_job, {0});
  EXPECT_EQ(twice.violation(), "bad-handle");
  queue(high, kMaxWorkers, 10);
  EXPECT_EQ(high.violation(), "bad-handle");
}

TEST(Jobs, ThatNobodyTakesAreLimited) {
  TestCard card;
  for (std::size_t i = 0; i < kMaxJobs; ++i) queue(card, 0, 1);
  EXPECT_EQ(card.violation(), "");
  queue(card, 0, 1);
  EXPECT_EQ(card.violation(), "over-limit");
}

TEST(Jobs, OfAbsurdCostEndAtTheEndOfTime) {
  TestCard card;
  card.send(Opcode::job, {0, ~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}});
  card.send(Opcode::take_job, {0});
  EXPECT_EQ(card.clock_ps(), kEndOfTime);
}

}  // namespace
}  // namespace labrig::sim
