// The parts of the ordering ledger by themselves: clocks, byte ranges, shadows, counts and groups.
#include "card/ledger.hpp"

#include <gtest/gtest.h>

#include "card/findings.hpp"
#include "test_card.hpp"

namespace labrig::sim {
namespace {

TEST(Order, AFrontierReachesWhatItsOperationWasBehind) {
  Order order;
  const StreamIndex a = order.add_stream(0, 0, true), b = order.add_stream(0, 1, false);
  order.submit(a);
  const Clock recorded = order.record(a);
  order.wait(b, recorded);
  order.submit(b);
  EXPECT_EQ(order.frontier().of(a), 0u);
  order.reach(order.clock(b));
  EXPECT_EQ(order.frontier().of(a), 1u);
  EXPECT_EQ(order.frontier().of(b), 1u);
}

TEST(Order, CountsTheFrontiersGrowthOnly) {
  Order order;
  const StreamIndex a = order.add_stream(0, 0, true);
  order.submit(a);
  order.reach_all();
  const std::uint64_t version = order.frontier_version();
  order.reach_all();
  order.reach_device(0);
  EXPECT_EQ(order.frontier_version(), version);
}

TEST(Order, WhatIsSubmittedAfterASynchronisationIsBehindIt) {
  Order order;
  const StreamIndex a = order.add_stream(0, 0, true), b = order.add_stream(1, 0, true);
  order.submit(a);
  order.submit(b);
  EXPECT_EQ(order.clock(b).of(a), 0u);
  order.reach(order.clock(a));
  order.submit(b);
  EXPECT_EQ(order.clock(b).of(a), 1u);
}

std::vector<ByteRange> runs(const Dims& sizes, const Dims& strides, std::uint64_t start = 0) {
  Operand operand = operand_at(start, kF32, sizes, Access::read);
  operand.strides = strides;
  std::vector<ByteRange> found;
  EXPECT_TRUE(runs_of(operand, found));
  return found;
}

TEST(Runs, AreMergedWhereRowsTouch) {
  using Ranges = std::vector<ByteRange>;
  EXPECT_EQ(runs({4, 8}, {8, 1}), (Ranges{{0, 128}}));
  EXPECT_EQ(runs({8, 4}, {1, 8}), (Ranges{{0, 128}})) << "transposed";
  EXPECT_EQ(runs({2, 3}, {8, 1}, 64), (Ranges{{64, 12}, {96, 12}})) << "columns of a matrix";
  EXPECT_EQ(runs({3}, {0}), (Ranges{{0, 4}})) << "broadcast";
  EXPECT_EQ(runs({4, 3}, {1, 2}), (Ranges{{0, 32}})) << "a sliding window";
  EXPECT_EQ(runs({2, 2, 1}, {3, 100, 7}), (Ranges{{0, 4}, {12, 4}, {400, 4}, {412, 4}}));
  EXPECT_EQ(runs({0, 3}, {3, 1}), Ranges{});
}

TEST(Runs, OfMoreThanTheLimitAreKnownByTheirEnds) {
  Operand operand = operand_at(8, kF32, {4097}, Access::read);
  operand.strides = {2};
  std::vector<ByteRange> found;
  EXPECT_FALSE(runs_of(operand, found));
  EXPECT_EQ(found, (std::vector<ByteRange>{{8, 4096 * 8 + 4}}));
  operand.sizes = {4096};
  EXPECT_TRUE(runs_of(operand, found));
  EXPECT_EQ(found.size(), 4096u);
}

TEST(RangeSet, JoinsCutsAndIntersects) {
  RangeSet set;
  set.add({0, 10});
  set.add({20, 10});
  set.add({10, 10});
  EXPECT_EQ(set.ranges(), (std::vector<ByteRange>{{0, 30}}));
  set.remove({5, 5});
  set.remove({29, 100});
  EXPECT_EQ(set.ranges(), (std::vector<ByteRange>{{0, 5}, {10, 19}}));
  std::vector<ByteRange> parts;
  set.common({3, 10}, parts);
  EXPECT_EQ(parts, (std::vector<ByteRange>{{3, 2}, {10, 3}}));
}

// A ledger over one card with two streams.
class LedgerTest : public testing::Test {
 protected:
  std::size_t conflicts(StreamIndex stream, std::uint64_t start, std::uint64_t bytes, bool write) {
    MemoryAccess access;
    access.start = start;
    access.bytes = bytes;
    access.write = write;
    ledger_.submit(stream, {}, {&access, 1});
    return ledger_.conflicts().size();
  }
  Ledger ledger_{2};
  StreamIndex a_ = ledger_.order().add_stream(0, 0, true), b_ = ledger_.order().add_stream(0, 1, false);
};

TEST_F(LedgerTest, ReadsDoNotConflict) {
  EXPECT_EQ(conflicts(a_, 0, 100, false), 0u);
  EXPECT_EQ(conflicts(b_, 0, 100, false), 0u);
}

TEST_F(LedgerTest, BytesThatTouchDoNotOverlap) {
  EXPECT_EQ(conflicts(a_, 0, 100, true), 0u);
  EXPECT_EQ(conflicts(b_, 100, 100, true), 0u);
  EXPECT_EQ(conflicts(b_, 99, 1, true), 1u);
  EXPECT_EQ(ledger_.conflicts()[0].kind, Hazard::Kind::write_after_write);
}

TEST_F(LedgerTest, AnOlderAccessIsNotHiddenByANewerOne) {
  EXPECT_EQ(conflicts(a_, 0, 100, true), 0u);
  EXPECT_EQ(conflicts(a_, 0, 100, true), 0u);
  EXPECT_EQ(conflicts(b_, 0, 100, false), 2u);
}

TEST_F(LedgerTest, ALongHistoryIsCutButNeverMissed) {
  for (int i = 0; i < 1000; ++i) conflicts(a_, 0, 100, true);
  const std::size_t found = conflicts(b_, 0, 100, false);
  EXPECT_GE(found, 32u);
  EXPECT_LE(found, 64u);
}

TEST_F(LedgerTest, WhatTheHostIsBehindIsForgotten) {
  for (std::uint64_t i = 0; i < 5000; ++i) {
    conflicts(a_, i * 16, 8, true);
    ledger_.order().reach_all();
  }
  EXPECT_LE(ledger_.ranges(), 4097u);
}

TEST_F(LedgerTest, CountsTheAccessesThatItKeeps) {
  for (int i = 0; i < 10; ++i) conflicts(a_, 0, 100, true);
  conflicts(b_, 0, 50, false);
  EXPECT_EQ(ledger_.entries(), 2u * 10 + 1) << "a range that is split has its entries twice";
  ledger_.order().reach(ledger_.order().clock(a_));
  ledger_.sweep();
  EXPECT_EQ(ledger_.entries(), 1u);
  EXPECT_EQ(ledger_.ranges(), 1u);
  EXPECT_EQ(conflicts(a_, 0, 100, true), 1u);
}

TEST(Findings, AreGroupedByKindAndNamesAndCountedInPairs) {
  TestCard card;
  for (const auto stream : {std::uint16_t{1}, std::uint16_t{2}})
    card.send(Opcode::stream_create, {kStreamNonBlocking}, {0, stream});
  const std::uint32_t x = card.name("x"), y = card.name("y");
  const std::uint64_t first = card.block(64, x), second = card.block(64, y), other = card.block(64);
  const auto write = [&](std::uint64_t block, std::uint16_t stream) {
    card.launch(call_of(Kernel::fill, {operand_at(block, kF32, {16}, Access::write)}), {0, stream});
  };
  const auto read = [&](std::uint64_t block, std::uint16_t stream) {
    card.launch(call_of(Kernel::relu,
                        {operand_at(other, kF32, {16}, Access::write), operand_at(block, kF32, {16}, Access::read)}),
                {0, stream});
  };
  for (int i = 0; i < 3; ++i) write(first, 1);
  write(second, 1);
  read(first, 2);
  read(second, 2);
  const Report report = card.server().report();
  EXPECT_EQ(report.metrics.hazards, 4u);
  ASSERT_EQ(report.hazards.size(), 2u);
  EXPECT_EQ(report.hazards[0].count, 3u);
  EXPECT_EQ(report.hazards[0].buffer, "x");
  EXPECT_EQ(report.hazards[0].bytes, 64u);
  EXPECT_EQ(
      report.hazards[0].text,
      "hazard: kernel 'relu(x)' on stream 2 reads 'x' without waiting for kernel 'fill()' on stream 1 (3 times)\n"
      "  why: nothing orders operation 5 after operation 1 (bytes 0 to 63 of 'x'); on a card the later one may see "
      "old bytes, or half of the new ones\n"
      "  fix: record an event on stream 1 after the kernel and let stream 2 wait for it before the kernel");
  EXPECT_EQ(report.hazards[1].later.what, "kernel 'relu(y)'");
}

TEST(Findings, ShowTwentyGroupsAndCountAll) {
  TestCard card;
  for (const auto stream : {std::uint16_t{1}, std::uint16_t{2}})
    card.send(Opcode::stream_create, {kStreamNonBlocking}, {0, stream});
  const std::uint64_t block = card.block(64);
  const std::uint64_t host = card.pinned(64);
  for (int i = 0; i < 30; ++i) {
    const std::uint32_t name = card.name("copy " + std::to_string(i));
    card.send(Opcode::copy_up, {block, host, 64, kCopyNonBlocking}, {0, static_cast<std::uint16_t>(1 + i % 2), name});
  }
  const Report report = card.server().report();
  EXPECT_EQ(report.hazards.size(), 20u);
  EXPECT_EQ(report.metrics.hazards, 15u * 15) << "every copy of one stream with every copy of the other";
}

TEST(Findings, OfTheHarnessPreparationAreNotTheStudents) {
  TestCard card;
  for (const auto stream : {std::uint16_t{1}, std::uint16_t{2}})
    card.send(Opcode::stream_create, {kStreamNonBlocking}, {0, stream});
  const std::uint64_t block = card.block(64);
  const auto write = [&](std::uint16_t stream) {
    card.launch(call_of(Kernel::fill, {operand_at(block, kF32, {16}, Access::write)}), {0, stream});
  };
  write(1);
  write(2);
  EXPECT_EQ(card.metrics().hazards, 1u);
  card.send(Opcode::begin);
  EXPECT_EQ(card.metrics().hazards, 0u);
  EXPECT_TRUE(card.server().report().hazards.empty());
  write(1);
  EXPECT_EQ(card.metrics().hazards, 0u) << "`begin` has waited for everything";
}

TEST(Findings, AreNamedByANameThatCameLate) {
  TestCard card;
  for (const auto stream : {std::uint16_t{1}, std::uint16_t{2}})
    card.send(Opcode::stream_create, {kStreamNonBlocking}, {0, stream});
  const std::uint64_t block = card.block(64);
  for (const auto stream : {std::uint16_t{1}, std::uint16_t{2}}) {
    card.launch(call_of(Kernel::fill, {operand_at(block, kF32, {16}, Access::write)}), {0, stream});
  }
  EXPECT_EQ(card.server().report().hazards.at(0).buffer, "");
  card.send(Opcode::name_note, {block}, {0, 0, card.name("late")});
  EXPECT_EQ(card.server().report().hazards.at(0).buffer, "late");
}

}  // namespace
}  // namespace labrig::sim
