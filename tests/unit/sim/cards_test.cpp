// Several cards, and the blocks of pinned memory that all of them share.
#include <gtest/gtest.h>

#include <cmath>

#include "two_cards.hpp"

namespace labrig::sim {
namespace {

// --- several cards --------------------------------------------------------------------------------------------------

TEST(Cards, HaveAPeakOfTheirOwn) {
  TestCard card(options_of(Mode::eager, 2));
  const std::uint64_t first = card.block(512, 0, 0);
  card.send(Opcode::begin, {});
  const std::uint64_t second = card.block(1024, 0, 1);
  card.send(Opcode::free_note, {first});  // says it is of card 0, as every command without a number
  card.send(Opcode::free_note, {second}, {0, 0});
  card.block(512, 0, 1);
  EXPECT_EQ(card.server().report().peak_allocated_bytes_by_card, (std::vector<std::uint64_t>{512, 1024}));
  EXPECT_EQ(card.metrics().peak_allocated_bytes, 1536u);
}

TEST(Peer, ACopyGoesFromCardToCard) {
  for (const Mode mode : {Mode::eager, Mode::late}) {
    Program p(mode);
    const std::uint64_t here = p.block(0), there = p.block(1);
    p.fill(here, 6, 1);
    p.peer(there, here, {0, 1});
    p.card().send(Opcode::record, {0}, {0, 1});
    p.card().send(Opcode::wait, {0}, {1, 2});
    EXPECT_EQ(p.read(there, {1, 2})[7], 6.0F);
    EXPECT_EQ(p.hazards(), 0u) << "an event orders streams of two cards";
    EXPECT_EQ(p.card().metrics().h2d_copies, 0u) << "the host takes no part";
  }
}

TEST(Peer, WithoutTheEventItIsAHazardThatNamesBothCards) {
  Program p(Mode::late);
  const std::uint64_t here = p.block(0), there = p.block(1);
  p.fill(here, 6, 1);
  p.peer(there, here, {0, 1});
  EXPECT_TRUE(std::isnan(p.read(there, {1, 2})[7]));
  const Report report = p.card().server().report();
  ASSERT_EQ(report.hazards.size(), 1u);
  EXPECT_EQ(report.hazards[0].earlier.device, 0u);
  EXPECT_EQ(report.hazards[0].later.device, 1u);
  EXPECT_NE(report.hazards[0].text.find(
                "on stream 2 of sim:1 reads 't' without waiting for copy 'copy t' on stream 1 of sim:0"),
            std::string::npos)
      << report.hazards[0].text;
}

TEST(Peer, KeepsOneEngineOnEachSideBusy) {
  TestCard card(options_of(Mode::eager, 2));
  const std::uint64_t here = card.block(kMiB, 0, 0), there = card.block(kMiB, 0, 1);
  const std::int64_t start = card.clock_ps();
  card.send(Opcode::copy_peer, {there, here, kMiB, kCopyNonBlocking});
  card.send(Opcode::sync_device, {kAsked}, {0});
  constexpr std::int64_t kCopyPs = 1024 * 1024 * 1000 + 1 * kUs;
  EXPECT_EQ(card.clock_ps() - start, 1 * kUs + kCopyPs + 2 * kUs + 0);
  EXPECT_EQ(card.metrics().busy_down_ps, kCopyPs);
  EXPECT_EQ(card.metrics().busy_up_ps, kCopyPs);
}

TEST(Peer, SlowsDownWithTheOtherDirectionOfEitherCard) {
  const auto takes = [](bool with_upload) {
    TestCard card(options_of(Mode::eager, 2));
    card.send(Opcode::stream_create, {kStreamNonBlocking}, {0, 1});
    const std::uint64_t here = card.block(kMiB, 0, 0), there = card.block(kMiB, 0, 1), other = card.block(kMiB, 0, 0);
    const std::uint64_t host = card.pinned(kMiB);
    const std::int64_t start = card.clock_ps();
    if (with_upload) card.send(Opcode::copy_up, {other, host, kMiB, kCopyNonBlocking}, {0, 1});
    card.send(Opcode::copy_peer, {there, here, kMiB, kCopyNonBlocking});
    card.send(Opcode::sync_stream, {kAsked}, {0, 0});
    return card.clock_ps() - start;
  };
  EXPECT_GT(takes(true), takes(false) * 3 / 2) << "each at half its rate while both run";
}

TEST(Peer, TwoCopiesThatCrossDoNotDeadlock) {
  TestCard card(options_of(Mode::eager, 2));
  const std::uint64_t a = card.block(kMiB, 0, 0), b = card.block(kMiB, 0, 1), c = card.block(kMiB, 0, 0),
                      d = card.block(kMiB, 0, 1);
  card.send(Opcode::copy_peer, {b, a, kMiB, kCopyNonBlocking}, {0, 0});
  card.send(Opcode::copy_peer, {c, d, kMiB, kCopyNonBlocking}, {1, 0});
  card.send(Opcode::finish);
  EXPECT_EQ(card.violation(), "");
  // Both keep both directions of both cards busy, so both run at half the rate.
  EXPECT_GT(card.metrics().time_ps, 2 * std::int64_t{1024} * 1024 * 1000);
}

TEST(Peer, StaysWithinTheBlocksOfBothCards) {
  const auto violation = [](std::uint64_t past_here, std::uint64_t past_there, bool same_card) {
    Program p(Mode::late);
    const std::uint64_t here = p.block(0), there = p.block(same_card ? 0 : 1);
    p.peer(there + past_there, here + past_here, {0, 1});
    return p.card().violation();
  };
  EXPECT_EQ(violation(0, 0, false), "");
  EXPECT_EQ(violation(4, 0, false), "out-of-bounds");
  EXPECT_EQ(violation(0, 4, false), "out-of-bounds");
  EXPECT_EQ(violation(0, 0, true), "bad-address");
}

TEST(Cards, HaveTheirOwnCapacityAndSynchronisation) {
  MachineOptions options = options_of(Mode::late, 2);
  options.cards[1].capacity_bytes = 2 * kMiB;
  TestCard card(options);
  EXPECT_EQ(card.send(Opcode::driver_malloc, {4 * kMiB}, {1})->value[0], 0u);
  EXPECT_EQ(card.send(Opcode::driver_malloc, {4 * kMiB}, {0})->value[0], 1u);
  EXPECT_EQ(card.send(Opcode::statistics, {}, {1})->value[1], 2 * kMiB);
}

TEST(Cards, ADeviceSynchronisationIsOfOneCard) {
  Program p(Mode::late);
  const std::uint64_t a = p.block(0), host = p.pinned();
  p.fill(a, 2, 1);
  p.down(host, a, 1);
  p.card().send(Opcode::sync_device, {kAsked}, {1});
  EXPECT_NE(p.card().host(host), 2.0F);
  p.card().send(Opcode::sync_device, {kAsked}, {0});
  EXPECT_EQ(p.card().host(host), 2.0F);
}

// --- pinned blocks --------------------------------------------------------------------------------------------------

TEST(Pinned, CopiesStayWithinOneLiveBlock) {
  const auto violation = [](std::uint64_t offset, bool freed) {
    Program p(Mode::late);
    const std::uint64_t a = p.block(), host = p.pinned();
    if (freed) p.card().send(Opcode::pinned_free_note, {host});
    p.up(a, host + offset, 1);
    return p.card().violation();
  };
  EXPECT_EQ(violation(0, false), "");
  EXPECT_EQ(violation(4, false), "out-of-bounds");
  EXPECT_EQ(violation(0, true), "use-after-free");
}

TEST(Pinned, BlocksLieInOnePieceAndDoNotOverlap) {
  TestCard card;
  const std::uint64_t piece = card.send(Opcode::pinned_malloc, {1024})->value[1];
  card.send(Opcode::pinned_note, {piece, 500, 512});
  card.send(Opcode::pinned_note, {piece + 512, 512, 512});
  EXPECT_EQ(card.violation(), "");
  card.send(Opcode::pinned_note, {piece + 256, 10, 16});
  EXPECT_EQ(card.violation(), "bad-address");
}

}  // namespace
}  // namespace labrig::sim
