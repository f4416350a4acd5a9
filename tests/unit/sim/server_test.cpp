// What the card counts: memory, synchronisations, launches, between the frames of the graded region; and its limits.
// Costs are those of round_profile(). What it refuses: validation_test.cpp.
#include "card/server.hpp"

#include <gtest/gtest.h>

#include "test_card.hpp"

namespace labrig::sim {
namespace {

constexpr std::uint64_t kAsked = static_cast<std::uint64_t>(CommandCause::asked);
constexpr std::uint64_t kValue = static_cast<std::uint64_t>(CommandCause::value);
constexpr std::uint64_t kHidden = static_cast<std::uint64_t>(CommandCause::hidden);
constexpr std::uint64_t kImplicit = static_cast<std::uint64_t>(CommandCause::implicit);

// --- memory -----------------------------------------------------------------------------------------------------

TEST(Memory, AFullCardGivesNothingAndSaysNothing) {
  TestCard card;
  EXPECT_EQ(card.send(Opcode::driver_malloc, {48 * kMiB})->value[0], 1u);
  EXPECT_EQ(card.send(Opcode::driver_malloc, {32 * kMiB})->value[0], 0u);
  EXPECT_EQ(card.send(Opcode::driver_malloc, {~std::uint64_t{0}})->value[0], 0u);
  EXPECT_EQ(card.send(Opcode::driver_malloc, {16 * kMiB})->value[0], 1u);
  EXPECT_EQ(card.send(Opcode::statistics)->value[0], 0u);
  EXPECT_EQ(card.violation(), "");
}

TEST(Memory, FreeBytesInTwoPlacesServeOneLargeRequest) {
  TestCard card;
  std::uint64_t segments[4];
  for (auto& segment : segments) segment = card.send(Opcode::driver_malloc, {16 * kMiB})->value[1];
  card.send(Opcode::driver_free, {segments[0]});
  card.send(Opcode::driver_free, {segments[2]});
  EXPECT_EQ(card.send(Opcode::driver_malloc, {32 * kMiB})->value[0], 1u);
}

TEST(Memory, OtherProcessesTakeTheirShare) {
  Profile profile = round_profile();
  profile.other_processes_bytes = 60 * kMiB;
  TestCard card(options_with(profile));
  EXPECT_EQ(card.send(Opcode::statistics)->value[0], 4 * kMiB);
  EXPECT_EQ(card.send(Opcode::statistics)->value[1], 64 * kMiB);
  EXPECT_EQ(card.send(Opcode::driver_malloc, {5 * kMiB})->value[0], 0u);
}

TEST(Memory, MoreRealBytesThanTheCaseMayHaveIsOverLimit) {
  MachineOptions options = options_with(round_profile());
  options.limits.real_bytes = kMiB;
  TestCard card(options);
  EXPECT_EQ(card.send(Opcode::driver_malloc, {2 * kMiB})->status, ReplyStatus::refused);
  EXPECT_EQ(card.violation(), "over-limit");
  options.data = false;
  TestCard without_data(options);
  EXPECT_EQ(without_data.send(Opcode::driver_malloc, {2 * kMiB})->value[0], 1u);
}

TEST(Memory, ANewBlockNeverShowsWhatLayThereBefore) {
  TestCard card;
  const std::uint64_t block = card.block(64);
  std::uint8_t secret[64], seen[64];
  std::memset(secret, 0x5A, sizeof secret);
  card.upload(block, secret, sizeof secret);
  card.download(seen, block, sizeof seen);
  EXPECT_EQ(seen[10], 0x5A);
  card.send(Opcode::free_note, {block});
  card.send(Opcode::alloc_note, {block, 64, 512});
  card.download(seen, block, sizeof seen);
  for (const std::uint8_t byte : seen) EXPECT_EQ(byte, 0xFF);
}

TEST(Memory, PeaksCountBlocksSegmentsAndPinnedRequests) {
  TestCard card;
  const std::uint64_t segment = card.send(Opcode::driver_malloc, {kMiB})->value[1];
  card.send(Opcode::alloc_note, {segment, 100, 512});
  card.send(Opcode::alloc_note, {segment + 512, 600, 1024});
  card.send(Opcode::free_note, {segment});
  const std::uint64_t pinned = card.send(Opcode::pinned_malloc, {1000})->value[1];
  card.send(Opcode::pinned_note, {pinned, 700, 1000});
  card.send(Opcode::pinned_free_note, {pinned});
  card.send(Opcode::pinned_free, {pinned});
  const Metrics metrics = card.metrics();
  EXPECT_EQ(metrics.peak_allocated_bytes, 1536u);
  EXPECT_EQ(metrics.peak_reserved_bytes, kMiB);
  EXPECT_EQ(metrics.pinned_peak_bytes, 700u) << "what tensors asked for";
  EXPECT_EQ(metrics.pinned_taken_peak_bytes, 1000u) << "what the driver pinned";
  EXPECT_EQ(metrics.syncs_implicit, 1u) << "pinned memory is freed with a stop of the whole machine";
}

// --- synchronisation and the frame of the region ---------------------------------------------------------------------

TEST(Syncs, AreCountedByCause) {
  TestCard card;
  card.send(Opcode::event_create, {0});
  card.send(Opcode::record, {0});
  card.send(Opcode::sync_stream, {kAsked});
  card.send(Opcode::sync_event, {0, kAsked});
  card.send(Opcode::sync_device, {kAsked});
  card.send(Opcode::sync_stream, {kValue});
  card.send(Opcode::sync_stream, {static_cast<std::uint64_t>(CommandCause::copy)});
  card.send(Opcode::sync_device, {kImplicit});
  const Metrics metrics = card.metrics();
  EXPECT_EQ(metrics.syncs_explicit, 3u);
  EXPECT_EQ(metrics.syncs_value, 1u);
  EXPECT_EQ(metrics.syncs_copy, 1u);
  EXPECT_EQ(metrics.syncs_implicit, 1u);
  EXPECT_EQ(metrics.time_ps, 6 * 2 * kUs);
}

TEST(Loop, IsCountedFromTheFirstMarkToTheLastAndTimedFromTheFirst) {
  TestCard card;
  const std::uint64_t pinned = card.send(Opcode::pinned_malloc, {2000})->value[1];
  const auto make_a_pinned_tensor = [&] {
    card.send(Opcode::pinned_note, {pinned, 700, 1000});
    card.send(Opcode::pinned_free_note, {pinned});
  };
  card.send(Opcode::sync_device, {kAsked});
  make_a_pinned_tensor();
  EXPECT_EQ(card.metrics().loop_full_stops, 1u) << "without marks all of the call is the loop";
  EXPECT_EQ(card.metrics().loop_pinned_tensors, 1u);
  EXPECT_EQ(card.metrics().loop_ps, card.metrics().time_ps);
  const std::int64_t before_ps = card.metrics().time_ps;
  card.send(Opcode::marker, {kMarkLoop});
  card.send(Opcode::sync_device, {kAsked});
  card.send(Opcode::sync_stream, {kAsked});
  make_a_pinned_tensor();
  make_a_pinned_tensor();
  card.send(Opcode::marker, {kMarkLoop});
  card.send(Opcode::pinned_free, {pinned});
  const Metrics metrics = card.metrics();
  EXPECT_EQ(metrics.loop_full_stops, 1u) << "a stream is not the whole card, and the last stop comes after the loop";
  EXPECT_EQ(metrics.loop_pinned_tensors, 2u);
  EXPECT_EQ(metrics.loop_ps, metrics.time_ps - before_ps);
}

TEST(Launches, AreCountedAndPriced) {
  TestCard card;
  const std::uint64_t block = card.block(8000);
  const std::int64_t before = card.clock_ps();
  card.launch(add_call(block, 1000));
  card.send(Opcode::sync_stream, {kAsked});
  // Host 2 us, latency 3 us, kernel 2 us + 8,000 distinct bytes three operands deep at 1 byte/ns, sync 2 us.
  EXPECT_EQ(card.clock_ps() - before, (2 + 3 + 2 + 12 + 2) * kUs);
  EXPECT_EQ(card.metrics().launches, 1u);
  EXPECT_EQ(card.metrics().device_flops, 1000u);
  EXPECT_EQ(card.metrics().busy_compute_ps, 14 * kUs);
}

TEST(Launches, AHiddenCopyIsCountedAsSuch) {
  TestCard card;
  const std::uint64_t block = card.block(800);
  KernelCall copy = call_of(Kernel::copy, {operand_at(block, kF32, {100}, Access::write),
                                           operand_at(block + 400, kF32, {100}, Access::read)});
  card.launch(copy);
  EXPECT_EQ(card.metrics().hidden_copies, 0u);
  copy.scalars[0] = 1;
  card.launch(copy);
  card.send(Opcode::copy_within, {block, block + 400, 100, kHidden});
  EXPECT_EQ(card.metrics().hidden_copies, 2u);
  EXPECT_EQ(card.metrics().hidden_copy_bytes, 500u);
}

TEST(Region, CountsOnlyBetweenBeginAndFinish) {
  TestCard card;
  const std::uint64_t block = card.block(8000);
  card.launch(add_call(block, 1000));
  card.send(Opcode::begin);
  EXPECT_EQ(card.metrics().launches, 0u);
  EXPECT_EQ(card.metrics().time_ps, 0);
  EXPECT_EQ(card.metrics().peak_allocated_bytes, 8192u) << "peaks start at what is held";
  card.launch(add_call(block, 1000));
  card.send(Opcode::finish);
  const Report report = card.server().report();
  EXPECT_TRUE(report.finished);
  EXPECT_EQ(report.metrics.launches, 1u);
  EXPECT_EQ(report.metrics.time_ps, (2 + 3 + 14) * kUs) << "finish waits for all streams and costs nothing";
  ASSERT_EQ(report.timeline.size(), 1u);
  EXPECT_EQ(report.timeline[0].name, "add");
  EXPECT_EQ(report.timeline[0].start_ps, 5 * kUs);
}

TEST(Region, AfterFinishResultsCanBeReadUncountedAndNothingElse) {
  TestCard card;
  const std::uint64_t block = card.block(8000);
  card.send(Opcode::begin);
  card.send(Opcode::finish);
  const Metrics before = card.metrics();
  EXPECT_EQ(card.download(nullptr, block, 100)->status, ReplyStatus::ok);
  card.send(Opcode::sync_device, {kAsked});
  card.send(Opcode::free_note, {block});
  EXPECT_EQ(card.metrics(), before);
  EXPECT_EQ(card.violation(), "");
  card.launch(add_call(block, 10));
  EXPECT_EQ(card.violation(), "after-finish");
}

TEST(Region, AnUploadAfterFinishIsRefused) {
  TestCard card;
  const std::uint64_t block = card.block(8);
  card.send(Opcode::finish);
  card.send(Opcode::pageable_begin, {block, 8, 0});
  EXPECT_EQ(card.violation(), "after-finish");
}

TEST(Region, IsBegunAndEndedOnce) {
  TestCard twice_begun;
  twice_begun.send(Opcode::begin);
  twice_begun.send(Opcode::begin);
  EXPECT_EQ(twice_begun.violation(), "protocol-error");
  TestCard twice_ended;
  twice_ended.send(Opcode::finish);
  twice_ended.send(Opcode::finish);
  EXPECT_EQ(twice_ended.violation(), "protocol-error");
}

// --- limits -----------------------------------------------------------------------------------------------------

TEST(Limits, TooManyCommandsEndTheService) {
  MachineOptions options = options_with(round_profile());
  options.limits.commands = 3;
  TestCard card(options);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(card.send(Opcode::clock));
  EXPECT_FALSE(card.send(Opcode::clock));
  EXPECT_EQ(card.violation(), "over-limit");
}

TEST(Limits, StepsAreCountedWhereWorkIsDone) {
  for (const bool data : {true, false}) {
    MachineOptions options = options_with(round_profile(), data);
    options.limits.kernel_steps = 100;
    options.limits.case_steps = 150;
    TestCard card(options);
    const std::uint64_t block = card.block(800);
    card.launch(add_call(block, 100));
    EXPECT_EQ(card.violation(), "");
    card.launch(add_call(block, 100));
    EXPECT_EQ(card.violation(), data ? "over-limit" : "");
  }
}

TEST(Limits, MovingBytesIsWorkToo) {
  MachineOptions options = options_with(round_profile());
  options.limits.case_steps = kMiB / 16;
  TestCard card(options);
  const std::uint64_t block = card.block(kMiB);
  card.send(Opcode::copy_within, {block, block + kMiB / 2, kMiB / 2, 0});
  EXPECT_EQ(card.violation(), "");
  card.send(Opcode::copy_within, {block, block, kMiB, 0});
  EXPECT_EQ(card.violation(), "over-limit");
}

TEST(Limits, TablesOfTheCardAreBounded) {
  TestCard card(options_with(round_profile(), false));
  for (int i = 0; i < 4'096; ++i) ASSERT_EQ(card.send(Opcode::driver_malloc, {512})->value[0], 1u);
  EXPECT_EQ(card.send(Opcode::driver_malloc, {512})->status, ReplyStatus::refused);
  EXPECT_EQ(card.violation(), "over-limit");
}

// 32 streams that read every other float of one tensor, again and again, and nobody waits: each launch adds 4,096
// entries to the ledger. What is sent afterwards adds nothing. With a wait now and then there is no limit.
TEST(Limits, TheLedgerIsBoundedAndForgetsWhatTheHostIsBehind) {
  constexpr std::uint16_t kStreams = 32;
  for (const bool waits : {true, false}) {
    TestCard card(options_with(round_profile(), false));
    const std::uint64_t all = card.block(8 * 4'096);
    std::uint64_t result[kStreams];
    for (std::uint16_t stream = 0; stream < kStreams; ++stream) {
      result[stream] = card.block(4 * 4'096);
      card.send(Opcode::stream_create, {kStreamNonBlocking}, {0, static_cast<std::uint16_t>(stream + 1)});
    }
    Operand column = operand_at(all, kF32, {4'096}, Access::read);
    column.strides = {2};
    card.launch(call_of(Kernel::fill, {operand_at(all, kF32, {8'192}, Access::write)}));
    card.send(Opcode::sync_device);
    for (int i = 0; i < 20 * kStreams; ++i) {
      const auto stream = static_cast<std::uint16_t>(i % kStreams);
      card.launch(call_of(Kernel::relu, {operand_at(result[stream], kF32, {4'096}, Access::write), column}),
                  {0, static_cast<std::uint16_t>(stream + 1)});
      if (waits && i % 100 == 99) card.send(Opcode::sync_device);
    }
    EXPECT_EQ(card.violation(), waits ? "" : "over-limit");
    EXPECT_EQ(card.server().stopped(), !waits);
  }
}

TEST(Limits, ChartsAreCutCountersAreNot) {
  MachineOptions options = options_with(round_profile());
  options.limits.trace_events = 5;
  TestCard card(options);
  const std::uint64_t block = card.block(80);
  for (int i = 0; i < 50; ++i) card.launch(add_call(block, 10));
  card.send(Opcode::finish);
  EXPECT_EQ(card.server().report().timeline.size(), 5u);
  EXPECT_EQ(card.metrics().launches, 50u);
}

TEST(Limits, AClockThatIsPushedToTheEndOfTimeStaysThere) {
  TestCard card;
  for (int i = 0; i < 100; ++i) card.send(Opcode::host_work, {~std::uint64_t{0}, ~std::uint64_t{0}});
  EXPECT_EQ(card.clock_ps(), kEndOfTime);
  card.launch(add_call(card.block(80), 10));
  card.send(Opcode::finish);
  EXPECT_EQ(card.metrics().time_ps, kEndOfTime);
}

TEST(Report, SaysWhatTheClientWasDoing) {
  TestCard card;
  EXPECT_EQ(card.server().report().last_command, "");
  const std::uint64_t block = card.block(80);
  card.launch(add_call(block, 10));
  card.clock_ps();  // of no interest
  EXPECT_EQ(card.server().report().last_command, "kernel 'add' on sim:0, stream 0");
}

TEST(Report, WordsTheCrashFromItsOwnBlocks) {
  TestCard card;
  const std::uint64_t block = card.block(4096, card.name("weights"));
  CrashRecord& record = card.regions().worker_page().crash;
  record.address = block + 100;
  record.in_device_range = 1;
  record.access = static_cast<std::uint32_t>(CrashAccess::read);
  record.valid = 1;
  EXPECT_NE(card.server().report().crash_text.find("is byte 100 of tensor 'weights' (4096 bytes)"), std::string::npos);
  record.in_device_range = 0;
  record.address = 0x10;
  EXPECT_NE(card.server().report().crash_text.find("read from memory that it does not have: address 0x10"),
            std::string::npos);
}

TEST(Metrics, HaveARowEachInTheOrderOfTheReport) {
  Metrics metrics;
  metrics.h2d_bytes = 1;
  metrics.loop_ps = 26;
  const auto rows = to_rows(metrics);
  ASSERT_EQ(rows.size(), 28u);
  EXPECT_EQ(rows.front(), (std::pair<std::string, std::int64_t>{"h2d_bytes", 1}));
  EXPECT_EQ(rows.back(), (std::pair<std::string, std::int64_t>{"loop_ps", 26}));
  EXPECT_EQ(rows[15].first, "time_ps");
}

}  // namespace
}  // namespace labrig::sim
