// CUDA's rules of order, one by one, as this card keeps them (the table S11 of its specification). What is ordered
// shows in two ways: as hazards, and in `late` mode in the moment at which effects happen.
#include <gtest/gtest.h>

#include "test_card.hpp"

namespace labrig::sim {
namespace {

constexpr std::uint64_t kAsked = static_cast<std::uint64_t>(CommandCause::asked);
constexpr std::uint64_t kBytes = 64;
constexpr std::uint64_t kLarge = 2 * kInlineBytes;

MachineOptions late_options() {
  MachineOptions options = options_with(round_profile());
  options.mode = Mode::late;
  return options;
}

// Streams 1 and 2 do not block, 3 and 4 do. `x` is a block on the card, `there` pinned memory.
class OrderingTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto stream : {std::uint16_t{1}, std::uint16_t{2}})
      card_.send(Opcode::stream_create, {kStreamNonBlocking}, {0, stream});
    for (const auto stream : {std::uint16_t{3}, std::uint16_t{4}}) card_.send(Opcode::stream_create, {0}, {0, stream});
    for (const std::uint64_t event : {0, 1}) card_.send(Opcode::event_create, {event});
    fill(0, 1);
    card_.send(Opcode::sync_device, {kAsked});
  }
  void fill(std::uint16_t stream, float value) {
    card_.launch(call_of(Kernel::fill, {operand_at(x_, kF32, {16}, Access::write)}, value), {0, stream});
  }
  void slow(std::uint16_t stream) { card_.launch(add_call(work_, 100'000), {0, stream}); }
  void record(std::uint64_t event, std::uint16_t stream) { card_.send(Opcode::record, {event}, {0, stream}); }
  void wait(std::uint64_t event, std::uint16_t stream) { card_.send(Opcode::wait, {event}, {0, stream}); }
  void download(std::uint16_t stream) {
    card_.send(Opcode::copy_down, {there_, x_, kBytes, kCopyNonBlocking}, {0, stream});
  }
  // Whether the host is ordered after the download that wrote `value`.
  float seen() { return card_.host(there_); }
  std::uint64_t hazards() { return card_.metrics().hazards; }

  TestCard card_{late_options()};
  std::uint64_t x_ = card_.block(kLarge, card_.name("x")), there_ = card_.pinned(kLarge, card_.name("there"));
  std::uint64_t work_ = card_.block(800'000);
};

TEST_F(OrderingTest, TheDefaultStreamWaitsForBlockingStreams) {
  fill(3, 2);
  fill(0, 3);
  EXPECT_EQ(hazards(), 0u);
  fill(1, 4);
  EXPECT_EQ(hazards(), 2u) << "a non-blocking stream takes no part";
}

TEST_F(OrderingTest, BlockingStreamsWaitForTheDefaultStream) {
  fill(0, 2);
  fill(3, 3);
  EXPECT_EQ(hazards(), 0u);
  fill(4, 4);
  EXPECT_EQ(hazards(), 1u) << "two blocking streams are not ordered by themselves";
}

TEST_F(OrderingTest, EventsInTheDefaultStreamCountAsActions) {
  fill(3, 2);
  record(0, 0);
  wait(0, 1);
  fill(1, 3);
  EXPECT_EQ(hazards(), 0u) << "the record stands for the blocking stream's work too";
}

// The harness reads a result by a copy in the stream that is current at the end of the call (S6, rule 17).
TEST_F(OrderingTest, AResultIsFetchedInTheStreamThatIsCurrentAtTheEnd) {
  const auto fetch = [&](std::uint16_t stream) { card_.send(Opcode::fetch_note, {x_, kBytes}, {0, stream}); };
  fill(1, 2);
  fetch(1);
  EXPECT_EQ(hazards(), 0u);
  const std::int64_t before = card_.metrics().time_ps;
  fetch(2);
  EXPECT_EQ(hazards(), 1u) << "nothing orders stream 2 after the fill";
  EXPECT_EQ(card_.metrics().time_ps, before);
  EXPECT_EQ(card_.metrics().d2h_copies, 0u);
  fill(1, 3);  // in the order of stream 1, and unordered with the fetch in stream 2
  EXPECT_EQ(hazards(), 2u);
  card_.send(Opcode::sync_device, {kAsked});
  std::vector<float> values(16);
  card_.download(values.data(), x_, kBytes);
  EXPECT_EQ(values, std::vector<float>(16, 3)) << "a fetch note moves and poisons nothing";
}

TEST_F(OrderingTest, ABlockingPageableUploadOrdersTheHostAfterIt) {
  for (const std::uint64_t bytes : {kBytes, kLarge}) {
    card_.upload(x_, nullptr, bytes, 0, {0, 1});
    fill(2, 2);
    EXPECT_EQ(hazards(), 0u) << bytes;
    card_.send(Opcode::sync_device, {kAsked});
  }
}

TEST_F(OrderingTest, ALargeNonBlockingPageableUploadTakesTimeAndGivesNoOrder) {
  slow(1);
  const std::int64_t before = card_.clock_ps();
  card_.upload(x_, nullptr, kLarge, kCopyNonBlocking, {0, 1});
  EXPECT_GT(card_.clock_ps() - before, 100'000 * 1000) << "it waited for the stream";
  fill(2, 2);
  EXPECT_EQ(hazards(), 1u);
}

TEST_F(OrderingTest, ASmallPageableUploadDoesNotWaitForTheStream) {
  slow(1);
  const std::int64_t before = card_.clock_ps();
  card_.upload(x_, nullptr, kBytes, kCopyNonBlocking, {0, 1});
  EXPECT_EQ(card_.clock_ps() - before, 1 * kUs);
}

TEST_F(OrderingTest, ThePageableSourceIsCapturedInTheCall) {
  float source[16];
  std::fill(std::begin(source), std::end(source), 5.0F);
  card_.upload(x_, source, sizeof source, kCopyNonBlocking, {0, 1});
  std::memset(card_.regions().staging(), 0, kStagingBytes);
  float back[16];
  card_.download(back, x_, sizeof back, 0, {0, 1});
  EXPECT_EQ(back[0], 5.0F);
}

TEST_F(OrderingTest, ADownloadToPageableMemoryBlocksAndOrders) {
  float got[16];
  fill(1, 6);
  card_.download(got, x_, sizeof got, kCopyNonBlocking, {0, 1});
  EXPECT_EQ(got[3], 6.0F);
  fill(2, 7);
  EXPECT_EQ(hazards(), 0u);
}

TEST_F(OrderingTest, ADownloadToPinnedMemoryIsUndefinedUntilOrdered) {
  card_.host(there_) = -1;
  fill(1, 8);
  download(1);
  EXPECT_EQ(seen(), -1.0F) << "nothing has happened yet";
  card_.send(Opcode::host_access, {there_, kBytes, 0});
  EXPECT_EQ(hazards(), 1u);
  card_.send(Opcode::sync_stream, {kAsked}, {0, 1});
  EXPECT_EQ(seen(), 8.0F);
  card_.send(Opcode::host_access, {there_, kBytes, 0});
  EXPECT_EQ(hazards(), 1u);
}

TEST_F(OrderingTest, AWaitUsesTheNewestRecordAtItsCall) {
  fill(1, 2);
  record(0, 1);
  wait(0, 2);
  fill(1, 3);
  record(0, 1);  // moves the event, not the wait
  fill(2, 4);
  EXPECT_EQ(hazards(), 1u) << "with the second fill only";
}

TEST_F(OrderingTest, AQueryThatSaysDoneIsASynchronisation) {
  fill(1, 9);
  download(1);
  record(0, 1);
  EXPECT_EQ(card_.send(Opcode::query_event, {0})->value[0], 0u);
  EXPECT_NE(seen(), 9.0F);
  int queries = 1;
  while (card_.send(Opcode::query_event, {0})->value[0] == 0) ASSERT_LT(++queries, 1000) << "each costs time";
  EXPECT_EQ(seen(), 9.0F);
  fill(2, 1);
  EXPECT_EQ(hazards(), 0u);
}

TEST_F(OrderingTest, AnEventThatWasNeverRecordedIsDone) {
  EXPECT_EQ(card_.send(Opcode::query_event, {0})->value[0], 1u);
  card_.send(Opcode::sync_event, {0, kAsked});
  EXPECT_EQ(card_.violation(), "");
}

TEST_F(OrderingTest, ElapsedNeedsTwoRecordedFinishedEventsWithTiming) {
  const auto state = [&](std::uint64_t from, std::uint64_t to) {
    return static_cast<ElapsedState>(card_.send(Opcode::elapsed, {from, to})->value[0]);
  };
  EXPECT_EQ(state(0, 1), ElapsedState::not_recorded);
  record(0, 1);
  slow(1);
  record(1, 1);
  EXPECT_EQ(state(0, 1), ElapsedState::not_ready);
  card_.send(Opcode::sync_stream, {kAsked}, {0, 1});
  EXPECT_EQ(state(0, 1), ElapsedState::ok);
  card_.send(Opcode::event_create, {2, kEventWithoutTiming});
  record(2, 1);
  EXPECT_EQ(state(0, 2), ElapsedState::no_timing);
}

TEST_F(OrderingTest, ElapsedGivesNoOrder) {
  record(0, 1);
  fill(1, 2);
  record(1, 1);
  for (int i = 0; i < 100; ++i) card_.send(Opcode::elapsed, {0, 1});  // passes time until both are done
  fill(2, 3);
  EXPECT_EQ(hazards(), 1u);
}

TEST_F(OrderingTest, AWaitForAnUnrecordedEventIsNothingNotEvenABarrier) {
  fill(3, 2);
  wait(0, 0);    // no action of the default stream
  record(1, 2);  // of a stream that takes no part
  wait(1, 4);
  fill(4, 3);
  EXPECT_EQ(hazards(), 1u);
}

TEST_F(OrderingTest, DriverFreeSynchronisesItsDevice) {
  const std::uint64_t segment = card_.send(Opcode::driver_malloc, {512})->value[1];
  fill(1, 2);
  card_.send(Opcode::driver_free, {segment});
  fill(2, 3);
  EXPECT_EQ(hazards(), 0u);
  EXPECT_EQ(card_.metrics().syncs_implicit, 1u);
}

TEST_F(OrderingTest, AllocatingSynchronisesNothing) {
  fill(1, 2);
  card_.send(Opcode::driver_malloc, {512});
  card_.pinned(512);
  fill(2, 3);
  EXPECT_EQ(hazards(), 1u);
}

TEST_F(OrderingTest, PinnedMemoryGivenBackInFlightIsAHazard) {
  fill(1, 2);
  download(1);
  card_.send(Opcode::pinned_free, {there_});
  const Report report = card_.server().report();
  ASSERT_EQ(report.metrics.hazards, 1u);
  EXPECT_EQ(report.hazards[0].kind, Hazard::Kind::freed_in_flight);
  EXPECT_EQ(
      report.hazards[0].text,
      "hazard: pinned memory of 'there' was freed while copy 'download x to there' on stream 1 may still write it\n"
      "  why: giving pinned memory back does not wait for the card, and nothing orders the host after operation 3\n"
      "  fix: synchronize with stream 1, or with an event recorded there after the copy, before the memory is given "
      "back");
  fill(2, 3);
  EXPECT_EQ(report.metrics.hazards, 1u) << "then the whole device is waited for";
}

TEST_F(OrderingTest, PinnedMemoryGivenBackInTimeIsNone) {
  download(1);
  card_.send(Opcode::sync_stream, {kAsked}, {0, 1});
  card_.send(Opcode::pinned_free, {there_});
  EXPECT_EQ(hazards(), 0u);
}

TEST_F(OrderingTest, APinnedBlockReusedInFlightIsAHazardOfTheNewBlock) {
  card_.send(Opcode::copy_up, {x_, there_, kBytes, kCopyNonBlocking}, {0, 1});
  card_.send(Opcode::pinned_free_note, {there_});
  card_.send(Opcode::pinned_note, {there_, kBytes, kLarge}, {0, 0, card_.name("next")});
  EXPECT_EQ(hazards(), 0u) << "not yet: nobody has touched it";
  card_.send(Opcode::host_access, {there_, kBytes, 1});
  const Report report = card_.server().report();
  ASSERT_EQ(report.metrics.hazards, 1u);
  EXPECT_EQ(report.hazards[0].kind, Hazard::Kind::freed_in_flight);
  EXPECT_TRUE(report.hazards[0].later.host);
  EXPECT_NE(report.hazards[0].text.find("memory of 'there' was handed out again as 'next', and the host writes there, "
                                        "while copy 'upload there to x'"),
            std::string::npos);
}

TEST_F(OrderingTest, ABlockReusedByAnotherStreamIsAHazardAtTheFirstAccess) {
  download(2);
  card_.send(Opcode::free_note, {x_});
  card_.send(Opcode::alloc_note, {x_, kBytes, kLarge}, {0, 0, card_.name("scratch")});
  EXPECT_EQ(hazards(), 0u);
  fill(1, 5);
  const Report report = card_.server().report();
  ASSERT_EQ(report.metrics.hazards, 1u);
  EXPECT_EQ(report.hazards[0].kind, Hazard::Kind::freed_in_flight);
  EXPECT_EQ(
      report.hazards[0].text,
      "hazard: the card's memory of 'x' was handed out again as 'scratch', and kernel 'fill()' on stream 1 writes "
      "there, while "
      "copy 'download x to there' on stream 2 may still read it\n"
      "  why: a block is free as soon as its last tensor is gone, and nothing orders operation 3 after operation 2\n"
      "  fix: call record_stream(stream 2) on the card's 'x' before it is freed, or let stream 1 wait for stream 2 "
      "before the "
      "memory is used again");
}

}  // namespace
}  // namespace labrig::sim
