// The mode `late`: when effects happen, what is poisoned and for how long, and what the modes have in common.
#include <gtest/gtest.h>

#include <cmath>

#include "two_cards.hpp"

namespace labrig::sim {
namespace {
class Late : public testing::Test {
 protected:
  Program p_{Mode::late};
  TestCard& card_ = p_.card();
};

// --- when ---------------------------------------------------------------------------------------------------------

TEST_F(Late, ARewrittenSourceIsUploadedAsItIsAtTheSynchronisation) {
  const std::uint64_t block = p_.block(), host = p_.pinned();
  card_.host(host) = 1;
  p_.up(block, host, 1);
  card_.host(host) = 2;
  EXPECT_EQ(p_.read(block, {0, 1})[0], 2.0F);
}

TEST_F(Late, EagerUploadsItAtOnce) {
  Program eager(Mode::eager);
  const std::uint64_t block = eager.block(), host = eager.pinned();
  eager.card().host(host) = 1;
  eager.up(block, host, 1);
  eager.card().host(host) = 2;
  EXPECT_EQ(eager.read(block, {0, 1})[0], 1.0F);
}

TEST_F(Late, OnlyWhatTheTargetIsBehindHappens) {
  const std::uint64_t a = p_.block(), b = p_.block(), host_a = p_.pinned(), host_b = p_.pinned();
  p_.fill(a, 1, 1);
  p_.down(host_a, a, 1);
  p_.fill(b, 2, 2);
  p_.down(host_b, b, 2);
  p_.sync(2);
  EXPECT_EQ(card_.host(host_b), 2.0F);
  EXPECT_NE(card_.host(host_a), 1.0F);
  EXPECT_EQ(card_.server().frontier().of(2), 0u) << "stream 1 of sim:0; the two default streams come first";
  EXPECT_EQ(card_.server().frontier().of(3), 2u) << "stream 2 of sim:0";
}

TEST_F(Late, AnEventBringsWhatItsStreamWaitedForAlong) {
  const std::uint64_t a = p_.block(), host = p_.pinned();
  p_.fill(a, 3, 1);
  p_.down(host, a, 1);
  card_.send(Opcode::record, {0}, {0, 1});
  card_.send(Opcode::wait, {0}, {0, 2});
  card_.send(Opcode::record, {1}, {0, 2});
  card_.send(Opcode::sync_event, {1, kAsked});
  EXPECT_EQ(card_.host(host), 3.0F);
}

TEST_F(Late, ABlockingUploadOrdersWhatWasBeforeIt) {
  const std::uint64_t a = p_.block(), b = p_.block(), host = p_.pinned();
  p_.fill(a, 4, 1);
  p_.down(host, a, 1);
  card_.upload(b, nullptr, kBytes, 0, {0, 1});
  EXPECT_EQ(card_.host(host), 4.0F);
}

// --- poison -------------------------------------------------------------------------------------------------------

TEST_F(Late, ReadAfterWriteTheLaterOneReadsPoison) {
  const std::uint64_t a = p_.block(), b = p_.block();
  p_.fill(a, 1, 0);
  card_.send(Opcode::sync_device, {kAsked});
  p_.fill(a, 2, 1, 4);  // the first four
  p_.relu(b, a, 2);
  EXPECT_EQ(p_.hazards(), 1u);
  card_.send(Opcode::sync_device, {kAsked});
  const auto got = p_.read(b, {0, 0});
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(std::isnan(got[i]), i < 4) << i;
  EXPECT_EQ(p_.read(a, {0, 0})[0], 2.0F) << "poison for a read lasts for that operation only";
}

TEST_F(Late, WriteAfterReadTheEarlierOneReadsPoison) {
  const std::uint64_t a = p_.block(), b = p_.block();
  p_.fill(a, 1, 0);
  card_.send(Opcode::sync_device, {kAsked});
  p_.relu(b, a, 1);
  p_.fill(a, 2, 2, 4);
  card_.send(Opcode::sync_device, {kAsked});
  const auto got = p_.read(b, {0, 0});
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(std::isnan(got[i]), i < 4) << i;
  EXPECT_EQ(p_.read(a, {0, 0})[0], 2.0F);
}

TEST_F(Late, WriteAfterAReadThatIsDoneLeavesPoison) {
  const std::uint64_t a = p_.block(), b = p_.block();
  p_.fill(a, 1, 0);
  card_.send(Opcode::sync_device, {kAsked});
  p_.relu(b, a, 1);
  card_.send(Opcode::throttle);
  p_.fill(a, 2, 2, 4);
  EXPECT_EQ(p_.hazards(), 1u) << "a throttle orders nothing";
  card_.send(Opcode::sync_device, {kAsked});
  EXPECT_EQ(p_.read(b, {0, 0})[0], 1.0F);
  const auto got = p_.read(a, {0, 0});
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(std::isnan(got[i]), i < 4) << i;
}

TEST_F(Late, WriteAfterWriteBothLeavePoison) {
  const std::uint64_t a = p_.block(), host = p_.pinned();
  p_.fill(a, 1, 1);
  p_.down(host, a, 1);
  p_.fill(a, 2, 2, 4);
  EXPECT_EQ(p_.hazards(), 2u) << "with the fill and with the copy";
  card_.send(Opcode::sync_device, {kAsked});
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(std::isnan(p_.read(a, {0, 0})[i]), i < 4) << i;
  EXPECT_TRUE(std::isnan(card_.host(host)));
  EXPECT_EQ(card_.host(host + 16), 1.0F);
}

TEST_F(Late, IntegersArePoisonedToMinusOne) {
  const std::uint64_t a = p_.block();
  const auto fill = [&](std::uint16_t stream, int value) {
    card_.launch(call_of(Kernel::fill, {operand_at(a, kI64, {8}, Access::write)}, value), {0, stream});
  };
  fill(1, 1);
  fill(2, 2);
  card_.send(Opcode::sync_device, {kAsked});
  std::int64_t got[8];
  card_.download(got, a, sizeof got);
  for (const std::int64_t value : got) EXPECT_EQ(value, -1);
}

TEST_F(Late, ADownloadThatRacesReadsPoison) {
  const std::uint64_t a = p_.block();
  p_.fill(a, 1, 0);
  card_.send(Opcode::sync_device, {kAsked});
  p_.fill(a, 2, 1, 4);
  const auto got = p_.read(a, {0, 2});
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(std::isnan(got[i]), i < 4) << i;
}

TEST_F(Late, EagerNamesTheSameHazardsAndPoisonsNothing) {
  Program eager(Mode::eager);
  for (Program* p : {&p_, &eager}) {
    const std::uint64_t a = p->block();
    p->fill(a, 1, 1);
    p->fill(a, 2, 2);
    EXPECT_EQ(p->hazards(), 1u);
    p->card().send(Opcode::sync_device, {kAsked});
    EXPECT_EQ(std::isnan(p->read(a, {0, 0})[0]), p == &p_);
  }
}

// --- bytes that nothing has written ---------------------------------------------------------------------------------

TEST(Undefined, BytesOfANewBlockReadAsPoisonInBothModes) {
  for (const Mode mode : {Mode::eager, Mode::late}) {
    Program p(mode);
    const std::uint64_t old = p.block();
    p.fill(old, 1, 0);
    p.card().send(Opcode::free_note, {old});
    p.card().send(Opcode::alloc_note, {old, kBytes, 512}, {0, 0, p.card().name("fresh")});
    p.fill(old, 2, 0, 4);
    const auto got = p.read(old, {0, 0});
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(std::isnan(got[i]), i >= 4) << i;
    const Report report = p.card().server().report();
    EXPECT_EQ(report.metrics.hazards, 0u);
    ASSERT_EQ(report.notes.size(), 1u);
    EXPECT_EQ(report.notes[0], "copy 'download fresh' reads 48 bytes of 'fresh' that nothing has written");
  }
}

TEST(Undefined, IsToldOnceAPairOfNames) {
  Program p(Mode::late);
  const std::uint64_t a = p.block(), b = p.block();
  for (int i = 0; i < 3; ++i) p.relu(b, a, 1);
  EXPECT_EQ(p.card().server().report().notes.size(), 1u);
}

TEST(Undefined, ACopyOfNothingStaysPoison) {
  Program p(Mode::late);
  const std::uint64_t a = p.block(), b = p.block();
  p.card().send(Opcode::copy_within, {b, a, kBytes, 0}, {0, 1});
  EXPECT_TRUE(std::isnan(p.read(b, {0, 1})[5]));
  EXPECT_EQ(p.card().server().report().notes.size(), 1u) << "the copy is told, its result counts as written";
}

TEST(Undefined, AWriteInTooManyPiecesLeavesPoisonBetweenThem) {
  for (const Mode mode : {Mode::eager, Mode::late}) {
    TestCard card(options_of(mode));
    const std::int64_t elements = 5000;
    const std::uint64_t block = card.block(elements * 8);
    // Old contents that must not come back.
    card.launch(call_of(Kernel::fill, {operand_at(block, kF32, {2 * elements}, Access::write)}, 7.0));
    card.send(Opcode::free_note, {block});
    card.send(Opcode::alloc_note, {block, static_cast<std::uint64_t>(elements * 8), 40'448});
    Operand out = operand_at(block, kF32, {elements}, Access::write);
    out.strides = {2};
    card.launch(call_of(Kernel::fill, {out}, 1.0));
    std::vector<float> got(static_cast<std::size_t>(2 * elements));
    card.download(got.data(), block, got.size() * 4 - 4);
    EXPECT_EQ(card.violation(), "");
    EXPECT_EQ(got[100], 1.0F);
    EXPECT_TRUE(std::isnan(got[101]));
  }
}

TEST(Undefined, UnorderedWorkInTooManyPiecesIsANoteAndNoHazard) {
  TestCard card(options_of(Mode::late));
  for (const auto stream : {std::uint16_t{1}, std::uint16_t{2}}) {
    card.send(Opcode::stream_create, {kStreamNonBlocking}, {0, stream});
  }
  const std::uint64_t block = card.block(40'000, card.name("wide"));
  for (const auto stream : {std::uint16_t{1}, std::uint16_t{2}}) {
    Operand out = operand_at(block + (stream - 1) * 4, kF32, {5000 - 1}, Access::write);
    out.strides = {2};
    card.launch(call_of(Kernel::fill, {out}, 1.0), {0, stream});
  }
  const Report report = card.server().report();
  EXPECT_EQ(report.metrics.hazards, 0u);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_EQ(
      report.notes[0],
      "possible hazard: kernel 'fill()' and kernel 'fill()' may touch the same bytes of 'wide', and nothing orders "
      "them; a view in more than 4,096 pieces is only known by its ends");
}

TEST(Undefined, OldBytesUnderAPendingOperationStayForIt) {
  Program p(Mode::late);
  const std::uint64_t a = p.block(), b = p.block(), c = p.block();
  p.fill(a, 5, 1);
  p.relu(b, a, 1);
  p.card().send(Opcode::free_note, {a});
  p.card().send(Opcode::alloc_note, {a, kBytes, 512});
  p.relu(c, a, 1);  // reads the new block, which nothing has written
  EXPECT_EQ(p.read(b, {0, 1})[0], 5.0F);
  EXPECT_TRUE(std::isnan(p.read(c, {0, 1})[0]));
}

// --- limits -------------------------------------------------------------------------------------------------------

TEST(Throttle, CarriesOutEverythingAndTakesNoTime) {
  Program p(Mode::late);
  const std::uint64_t a = p.block(), host = p.pinned();
  p.fill(a, 3, 1);
  p.down(host, a, 1);
  const std::int64_t before = p.card().clock_ps();
  p.card().send(Opcode::throttle);
  EXPECT_EQ(p.card().clock_ps(), before);
  EXPECT_EQ(p.card().host(host), 3.0F);
  p.card().send(Opcode::host_access, {host, kBytes, 0});
  EXPECT_EQ(p.hazards(), 1u) << "the host is not ordered after it";
}

TEST(Throttle, TooManyPendingOperationsEndTheService) {
  MachineOptions options = options_of(Mode::late);
  options.limits.pending_operations = 10;
  TestCard card(options);
  const std::uint64_t block = card.block(80);
  for (int i = 0; i < 10; ++i) card.launch(add_call(block, 10));
  EXPECT_EQ(card.violation(), "");
  card.launch(add_call(block, 10));
  EXPECT_EQ(card.violation(), "protocol-error");
}

// --- both modes -----------------------------------------------------------------------------------------------------

TEST(Modes, HaveTheSameMetrics) {
  const auto metrics = [](Mode mode) {
    Program p(mode);
    const std::uint64_t a = p.block(0), b = p.block(0), c = p.block(1), host = p.pinned();
    p.card().send(Opcode::begin);
    p.up(a, host, 1);
    p.relu(b, a, 2);
    p.down(host, b, 1);
    p.peer(c, b, {0, 2});
    p.card().upload(a, nullptr, kBytes, 0, {0, 1});
    p.read(c, {1, 1});
    p.card().send(Opcode::host_access, {host, kBytes, 1});
    p.card().send(Opcode::finish);
    return p.card().metrics();
  };
  EXPECT_EQ(metrics(Mode::late), metrics(Mode::eager));
  EXPECT_GT(metrics(Mode::late).hazards, 3u);
}

}  // namespace
}  // namespace labrig::sim
