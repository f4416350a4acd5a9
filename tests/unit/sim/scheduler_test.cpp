// Virtual time, computed by hand. The profile has a launch latency of 3 us and a gap of 1 us between kernels; copies in
// both directions at once run at half their rate.
#include "card/scheduler.hpp"

#include <gtest/gtest.h>

#include "test_card.hpp"

namespace labrig::sim {
namespace {

class SchedulerTest : public testing::Test {
 protected:
  static Profile profile() { return round_profile(); }

  // Runs everything to its end and returns {start, end} of operation `i`, in us, in order of finish.
  std::pair<std::int64_t, std::int64_t> span_us(std::size_t i) {
    scheduler_.wait_for_all();
    return {finished_.at(i).start_ps / kUs, finished_.at(i).end_ps / kUs};
  }
  void add_stream(std::uint16_t id, bool blocking = false) { scheduler_.create_stream(0, id, blocking); }
  MarkRef submit(Engine engine, std::int64_t us, std::uint16_t stream = 0) {
    scheduler_.submit(0, stream, engine, us * kUs, {});
    return scheduler_.last(0, stream);
  }

  std::vector<FinishedOperation> finished_;
  Scheduler scheduler_{{profile()}, [this](const FinishedOperation& operation) { finished_.push_back(operation); }};
};

using Interval = std::pair<std::int64_t, std::int64_t>;

TEST(Units, DurationsRoundUpAndSumsStopAtTheEndOfTime) {
  EXPECT_EQ(ps_for(1, 3), 333'333'333'334);
  EXPECT_EQ(ps_for(0, 3), 0);
  EXPECT_EQ(ps_for(~std::uint64_t{0}, 1), kEndOfTime);
  EXPECT_EQ(later(kEndOfTime, kEndOfTime), kEndOfTime);
}

TEST_F(SchedulerTest, AKernelStartsAfterTheLaunchLatency) {
  scheduler_.charge(2 * kUs);
  submit(Engine::compute, 10);
  EXPECT_EQ(span_us(0), Interval(5, 15));
  EXPECT_EQ(scheduler_.host_ps(), 15 * kUs);
}

TEST_F(SchedulerTest, KernelsOfAStreamFollowEachOtherWithAGap) {
  submit(Engine::compute, 10);
  submit(Engine::compute, 10);
  EXPECT_EQ(span_us(0), Interval(3, 13));
  EXPECT_EQ(span_us(1), Interval(14, 24));
}

TEST_F(SchedulerTest, CopiesOfAnotherStreamOverlapWithKernels) {
  add_stream(1);
  submit(Engine::compute, 10);
  submit(Engine::up, 10, 1);
  EXPECT_EQ(span_us(0), Interval(0, 10));
  EXPECT_EQ(span_us(1), Interval(3, 13));
  EXPECT_EQ(scheduler_.use().overlap_ps, 7 * kUs);
  EXPECT_EQ(scheduler_.use().busy_ps[0], 10 * kUs);
  EXPECT_EQ(scheduler_.use().busy_ps[1], 10 * kUs);
}

TEST_F(SchedulerTest, AStreamKeepsItsOrderAcrossEngines) {
  submit(Engine::up, 10);
  submit(Engine::compute, 5);
  submit(Engine::down, 5);
  EXPECT_EQ(span_us(0), Interval(0, 10));
  EXPECT_EQ(span_us(1), Interval(10, 15));
  EXPECT_EQ(span_us(2), Interval(15, 20));
}

// Up alone for 4 of its 10 us, then both at half rate: up needs 12 more, down has then done 6 of its 10 and ends alone.
TEST_F(SchedulerTest, CopiesBothWaysShareTheBus) {
  add_stream(1);
  submit(Engine::up, 10);
  scheduler_.charge(4 * kUs);
  submit(Engine::down, 10, 1);
  EXPECT_EQ(span_us(0), Interval(0, 16));
  EXPECT_EQ(span_us(1), Interval(4, 20));
}

TEST_F(SchedulerTest, TheEngineTakesTheOperationThatIsReadyFirst) {
  add_stream(1);
  add_stream(2);
  submit(Engine::up, 10);
  submit(Engine::up, 4, 1);
  scheduler_.charge(1 * kUs);
  submit(Engine::up, 4, 2);
  EXPECT_EQ(span_us(0), Interval(0, 10));
  EXPECT_EQ(span_us(1), Interval(10, 14));
  EXPECT_EQ(finished_[1].stream, 1);
  EXPECT_EQ(finished_[2].stream, 2);
}

TEST_F(SchedulerTest, AWaitHoldsBackWhatComesAfterIt) {
  add_stream(1);
  submit(Engine::up, 10);
  const MarkRef mark = scheduler_.record(0, 0);
  submit(Engine::up, 10);
  scheduler_.wait(0, 1, mark);
  submit(Engine::down, 5, 1);
  EXPECT_EQ(span_us(1).first, 10);  // after the first copy, beside the second
  EXPECT_EQ(mark->time_ps, 10 * kUs);
}

TEST_F(SchedulerTest, AQuestionIsAnsweredByTheHostClock) {
  const MarkRef copy = submit(Engine::up, 10);
  EXPECT_FALSE(scheduler_.done(*copy));
  scheduler_.charge(10 * kUs - 1);
  EXPECT_FALSE(scheduler_.stream_done(0, 0));
  scheduler_.charge(1);  // a finish is final when it is not later than the host clock
  EXPECT_TRUE(scheduler_.done(*copy));
  EXPECT_TRUE(scheduler_.stream_done(0, 0));
}

TEST_F(SchedulerTest, WaitingMovesTheHostClockOnlyForward) {
  const MarkRef copy = submit(Engine::up, 10);
  scheduler_.charge(25 * kUs);
  scheduler_.wait_for(*copy);
  EXPECT_EQ(scheduler_.host_ps(), 25 * kUs);
}

TEST_F(SchedulerTest, TheDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  add_stream(1, true);
  add_stream(2, false);
  submit(Engine::up, 10, 1);
  submit(Engine::down, 4, 2);
  submit(Engine::compute, 5, 0);
  submit(Engine::up, 3, 1);
  scheduler_.wait_for_all();
  // Both copies share the bus until down has done its 4 us; up then has 6 left. The kernel waits for stream 1 only.
  EXPECT_EQ(span_us(0), Interval(0, 8));
  EXPECT_EQ(span_us(1), Interval(0, 14));
  EXPECT_EQ(span_us(2), Interval(14, 19));
  EXPECT_EQ(span_us(3), Interval(19, 22));
}

TEST(SchedulerQueue, AFullQueueHoldsUpTheHostClock) {
  Profile profile = round_profile();
  profile.queue_depth = 2;
  Scheduler scheduler({profile}, [](const FinishedOperation&) {});
  for (int i = 0; i < 2; ++i) scheduler.submit(0, 0, Engine::up, 10 * kUs, {});
  EXPECT_EQ(scheduler.host_ps(), 0);
  scheduler.submit(0, 0, Engine::up, 10 * kUs, {});
  EXPECT_EQ(scheduler.host_ps(), 10 * kUs);
  scheduler.submit(0, 0, Engine::up, 10 * kUs, {});
  EXPECT_EQ(scheduler.host_ps(), 20 * kUs);
}

// The same program, looked at after every step, or only at the end.
TEST(SchedulerLaziness, TheOutcomeDoesNotDependOnWhenTheCardLooks) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    std::int64_t host_ps[2];
    EngineUse use[2];
    for (const bool curious : {false, true}) {
      std::uint32_t state = seed;
      const auto next = [&](std::uint32_t below) {
        state = state * 1664525u + 1013904223u;
        return (state >> 8) % below;
      };
      Scheduler scheduler({round_profile(), round_profile()}, [](const FinishedOperation&) {});
      for (std::uint16_t device = 0; device < 2; ++device) {
        for (std::uint16_t stream = 1; stream < 4; ++stream) scheduler.create_stream(device, stream, stream == 3);
      }
      std::vector<MarkRef> marks;
      for (int i = 0; i < 60; ++i) {
        const auto device = static_cast<std::uint16_t>(next(2)), stream = static_cast<std::uint16_t>(next(4));
        switch (next(6)) {
          case 0:
            marks.push_back(scheduler.record(device, stream));
            break;
          case 1:
            if (!marks.empty()) scheduler.wait(device, stream, marks[next(static_cast<std::uint32_t>(marks.size()))]);
            break;
          case 2:
            scheduler.charge(next(7) * kUs);
            break;
          default:
            scheduler.submit(device, stream, static_cast<Engine>(next(3)), next(9) * kUs, {});
        }
        if (curious) scheduler.stream_done(device, stream);
        if (next(20) == 0) scheduler.wait_for_stream(device, stream);
      }
      scheduler.wait_for_all();
      host_ps[curious] = scheduler.host_ps();
      use[curious] = scheduler.use();
    }
    EXPECT_EQ(host_ps[0], host_ps[1]) << "seed " << seed;
    EXPECT_EQ(use[0].busy_ps, use[1].busy_ps) << "seed " << seed;
    EXPECT_EQ(use[0].overlap_ps, use[1].overlap_ps) << "seed " << seed;
  }
}

}  // namespace
}  // namespace labrig::sim
