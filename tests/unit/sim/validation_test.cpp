// What the card does not accept: records whose structure is wrong end the service, commands that ask for what they may
// not have are refused, in three sentences.
#include <gtest/gtest.h>

#include <functional>

#include "test_card.hpp"

namespace labrig::sim {
namespace {

constexpr std::uint64_t kAsked = static_cast<std::uint64_t>(CommandCause::asked);

// --- structure: the service ends -------------------------------------------------------------------------------

void expect_damage(const std::function<void(SmallCommand&)>& damage, Opcode opcode = Opcode::clock) {
  TestCard card;
  SmallCommand command{};
  command.h = card.header(opcode, 1, {});
  damage(command);
  EXPECT_FALSE(card.process(command));
  EXPECT_EQ(card.violation(), "protocol-error");
  EXPECT_TRUE(card.server().stopped());
  EXPECT_FALSE(card.send(Opcode::clock)) << "a stopped card answers nothing";
}

TEST(Structure, DamagedRecordsEndTheService) {
  expect_damage([](SmallCommand& c) { c.h.opcode = kOpcodeCount; });
  expect_damage([](SmallCommand& c) { c.h.granules = 2; });
  expect_damage([](SmallCommand& c) { c.h.ticket = 0; });
  expect_damage([](SmallCommand& c) { c.h.ticket = 1; }, Opcode::record);
  expect_damage([](SmallCommand& c) { c.h.reserved = 1; });
  expect_damage([](SmallCommand& c) { c.h.sequence += 1; });
  expect_damage([](SmallCommand& c) { c.arg[0] = 1; });
  expect_damage([](SmallCommand& c) { c.h.name = 7; });
  expect_damage([](SmallCommand& c) { c.arg[0] = kCommandCauseCount; }, Opcode::sync_stream);
  expect_damage([](SmallCommand& c) { c.arg[2] = 1; }, Opcode::pageable_chunk);
}

TEST(Structure, ALaunchHasTheLengthOfItsOperands) {
  TestCard card;
  const std::uint64_t block = card.block(8);
  auto launch = card.make_launch(add_call(block, 1));
  launch.command.operands = 2;
  EXPECT_FALSE(card.process(launch));
  EXPECT_EQ(card.violation(), "protocol-error");
}

TEST(Structure, AUsedReservedFieldOfAnOperandIsDamage) {
  TestCard card;
  auto launch = card.make_launch(add_call(card.block(8), 1));
  launch.operands[2].pad[1] = 5;
  card.process(launch);
  EXPECT_EQ(card.violation(), "protocol-error");
}

TEST(Structure, ANameIsGivenOnce) {
  TestCard card;
  card.name("x");
  NameCommand command{};
  command.h = card.header(Opcode::name, 2, {});
  command.h.name = 1;
  card.process(command);
  EXPECT_EQ(card.violation(), "protocol-error");
}

TEST(Structure, NothingMayComeBetweenThePiecesOfACopy) {
  TestCard card;
  const std::uint64_t block = card.block(2 * kMiB);
  card.send(Opcode::pageable_begin, {block, 2 * kMiB, 0});
  card.send(Opcode::pageable_chunk, {0, 0, kMiB});
  card.send(Opcode::clock);
  EXPECT_EQ(card.violation(), "protocol-error");
}

TEST(Structure, PiecesOfACopyComeInOrder) {
  TestCard card;
  const std::uint64_t block = card.block(2 * kMiB);
  card.send(Opcode::pageable_begin, {block, 2 * kMiB, 0});
  card.send(Opcode::pageable_chunk, {16, kMiB, kMiB});
  EXPECT_EQ(card.violation(), "protocol-error");
}

TEST(Structure, DamageReplacesAnEarlierRefusal) {
  TestCard card;
  card.send(Opcode::record, {5});
  EXPECT_EQ(card.violation(), "bad-handle");
  card.send(Opcode::pageable_chunk, {0, 0, 1});
  EXPECT_EQ(card.violation(), "protocol-error");
}

// --- meaning: refused, and the refusal stays ---------------------------------------------------------------------

TEST(Meaning, ARefusalIsReturnedByEveryLaterTwoWayCommand) {
  TestCard card;
  card.send(Opcode::record, {5});
  card.send(Opcode::free_note, {512});
  const auto answer = card.send(Opcode::sync_device, {kAsked});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, ReplyStatus::refused);
  EXPECT_EQ(answer->violation->text(),
            "there is no event 5\n  why: it was never created, or is destroyed\n"
            "  fix: keep the Event alive as long as it is used");
  EXPECT_EQ(card.send(Opcode::statistics)->violation->code, "bad-handle") << "the first one stays";
  EXPECT_EQ(card.send(Opcode::finish)->status, ReplyStatus::ok) << "the run can still be ended";
}

TEST(Meaning, HandlesMustBeAlive) {
  const auto code = [](Opcode opcode, std::initializer_list<std::uint64_t> args, About about = {}) {
    TestCard card;
    card.send(opcode, args, about);
    return card.violation();
  };
  EXPECT_EQ(code(Opcode::sync_stream, {kAsked}, {0, 1, 0}), "bad-handle");
  EXPECT_EQ(code(Opcode::sync_stream, {kAsked}, {0, 999, 0}), "bad-handle");
  EXPECT_EQ(code(Opcode::clock, {}, {1, 0, 0}), "bad-handle");
  EXPECT_EQ(code(Opcode::wait, {3}), "bad-handle");
  EXPECT_EQ(code(Opcode::event_destroy, {3}), "bad-handle");
  EXPECT_EQ(code(Opcode::event_create, {kMaxEvents}), "over-limit");
  EXPECT_EQ(code(Opcode::stream_create, {0}, {0, kMaxStreams, 0}), "over-limit");
  EXPECT_EQ(code(Opcode::stream_create, {0}, {0, 0, 0}), "bad-handle");
  EXPECT_EQ(code(Opcode::stream_destroy, {}, {0, 0, 0}), "bad-handle");
}

TEST(Meaning, AStreamHandleIsNeverUsedAgainAnEventMayBe) {
  TestCard card;
  card.send(Opcode::stream_create, {kStreamNonBlocking}, {0, 1, 0});
  card.send(Opcode::event_create, {0});
  card.send(Opcode::record, {0}, {0, 1, 0});
  card.send(Opcode::event_destroy, {0});
  card.send(Opcode::event_create, {0});
  EXPECT_EQ(card.send(Opcode::query_event, {0})->value[0], 1u) << "an unrecorded event is done";
  card.send(Opcode::stream_destroy, {}, {0, 1, 0});
  EXPECT_EQ(card.violation(), "");
  card.send(Opcode::stream_create, {kStreamNonBlocking}, {0, 1, 0});
  EXPECT_EQ(card.violation(), "bad-handle");
}

TEST(Meaning, OperandsMustLieInLiveBlocks) {
  TestCard card;
  const std::uint64_t block = card.block(800, card.name("x"));
  card.launch(add_call(block, 100));
  EXPECT_EQ(card.violation(), "");
  card.launch(add_call(block, 101));
  EXPECT_EQ(card.server().report().violation_text,
            "kernel 'add' reads 404 bytes at sim:0+0x194, up to 8 bytes past the end of tensor 'x'\n"
            "  why: the tensor has 800 bytes, and the access starts at byte 404\n"
            "  fix: check the sizes, strides and offset of the view that is used there");
}

TEST(Meaning, AFreedBlockIsNamed) {
  TestCard card;
  const std::uint64_t block = card.block(800, card.name("x"));
  card.send(Opcode::free_note, {block});
  card.launch(add_call(block, 10));
  EXPECT_EQ(card.violation(), "use-after-free");
  EXPECT_NE(card.server().report().violation_text.find("in tensor 'x', which is freed"), std::string::npos);
}

TEST(Meaning, HostileShapesAndAddressesAreRefused) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  const auto code = [](const std::function<void(TestCard::Launch&)>& change) {
    TestCard card;
    auto launch = card.make_launch(add_call(card.block(800), 100));
    change(launch);
    card.process(launch);
    return card.violation();
  };
  EXPECT_EQ(code([](auto&) {}), "");
  EXPECT_EQ(code([](auto& l) { l.command.kernel = 999; }), "bad-shape");
  EXPECT_EQ(code([](auto& l) { l.operands[0].ndim = 7; }), "bad-shape");
  EXPECT_EQ(code([](auto& l) { l.operands[1].dtype = 99; }), "bad-shape");
  EXPECT_EQ(code([](auto& l) { l.operands[1].access = 2; }), "bad-shape");
  EXPECT_EQ(code([](auto& l) { l.operands[0].sizes[0] = -1; }), "bad-shape");
  EXPECT_EQ(code([](auto& l) { l.operands[0].sizes[0] = kHuge; }), "bad-shape");
  EXPECT_EQ(code([](auto& l) { l.operands[0].strides_bytes[0] = 2; }), "bad-shape");
  EXPECT_EQ(code([](auto& l) { l.operands[0].strides_bytes[0] = 0; }), "bad-shape");
  EXPECT_EQ(code([](auto& l) { l.operands[1].strides_bytes[0] = -4; }), "bad-shape");
  EXPECT_EQ(code([](auto& l) { l.operands[1].strides_bytes[0] = kHuge; }), "out-of-bounds");
  EXPECT_EQ(code([](auto& l) { l.operands[1].address = ~std::uint64_t{0} - 3; }), "bad-address");
  EXPECT_EQ(code([](auto& l) { l.operands[1].address += 2; }), "bad-address");
  EXPECT_EQ(code([](auto& l) { l.operands[1].name = 9; }), "protocol-error");
}

TEST(Meaning, AnOperandWithoutElementsNeedsNoBlock) {
  TestCard card;
  for (const std::uint64_t anywhere : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    const auto out = operand_at(anywhere, kF32, {8191, 0}, Access::write);
    auto in = operand_at(anywhere, kF32, {8191, 0}, Access::read);
    in.strides[0] = std::int64_t{1} << 59;  // nor steps that anybody checks
    card.launch(call_of(Kernel::add, {out, in, in}));
  }
  EXPECT_EQ(card.violation(), "");
  EXPECT_EQ(card.metrics().launches, 2u);
}

TEST(Meaning, MemoryOfAnotherCardIsRefused) {
  MachineOptions options = options_with(round_profile());
  options.cards.push_back(round_profile());
  TestCard card(options);
  const std::uint64_t block = card.block(800);
  card.launch(add_call(block, 10), {1, 0, 0});
  EXPECT_EQ(card.violation(), "bad-address");
  EXPECT_NE(card.server().report().violation_text.find("memory of sim:0"), std::string::npos);
}

TEST(Meaning, BlocksMustLieInSegmentsAndFitTheirRequest) {
  const auto code = [](std::uint64_t shift, std::uint64_t requested, std::uint64_t bytes) {
    TestCard card;
    const std::uint64_t segment = card.send(Opcode::driver_malloc, {4096})->value[1];
    card.send(Opcode::alloc_note, {segment + shift, requested, bytes});
    return card.violation();
  };
  EXPECT_EQ(code(0, 100, 512), "");
  EXPECT_EQ(code(0, 600, 512), "bad-address");
  EXPECT_EQ(code(0, 0, 512), "bad-address");
  EXPECT_EQ(code(3840, 100, 512), "bad-address");
  EXPECT_EQ(code(1 << 20, 100, 512), "bad-address");
}

TEST(Meaning, FreeingTwiceIsRefused) {
  TestCard card;
  const std::uint64_t block = card.block(100);
  card.send(Opcode::free_note, {block});
  card.send(Opcode::free_note, {block});
  EXPECT_EQ(card.violation(), "bad-address");
  TestCard other;
  other.send(Opcode::driver_free, {0});
  EXPECT_EQ(other.violation(), "bad-address");
}

TEST(Meaning, OnlyPinnedMemoryThatIsAllocatedIsReached) {
  TestCard card;
  const std::uint64_t block = card.block(4096);
  const std::uint64_t pinned = card.send(Opcode::pinned_malloc, {4096})->value[1];
  card.send(Opcode::copy_up, {block, pinned, 4096, kCopyNonBlocking});
  card.send(Opcode::host_access, {pinned, 4096, 1});
  EXPECT_EQ(card.violation(), "");
  card.send(Opcode::copy_up, {block, pinned + 1, 4096, kCopyNonBlocking});
  EXPECT_EQ(card.violation(), "bad-address");
}

}  // namespace
}  // namespace labrig::sim
