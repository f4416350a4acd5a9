// Memory page by page: ranges of addresses, what may be mapped and unmapped, what it costs, and what an unmap does not
// wait for. The allocator that uses it: tests/contract/expandable_test.cpp.
#include <gtest/gtest.h>

#include <functional>

#include "test_card.hpp"

namespace labrig::sim {
namespace {

constexpr std::uint64_t kAsked = static_cast<std::uint64_t>(CommandCause::asked);
constexpr std::uint64_t kRangeBytes = 72 * kMiB;  // 1 1/8 of the card
constexpr std::uint64_t kPage = kDevicePageBytes;

std::uint64_t reserve(TestCard& card, std::uint64_t bytes = kRangeBytes, std::uint16_t device = 0) {
  const auto answer = card.send(Opcode::driver_reserve, {bytes}, {device});
  EXPECT_EQ(answer->value[0], 1u);
  return answer->value[1];
}
bool map(TestCard& card, std::uint64_t address, std::uint64_t bytes) {
  return card.send(Opcode::driver_map, {address, bytes})->value[0] == 1;
}
std::uint64_t free_bytes(TestCard& card) { return card.send(Opcode::statistics)->value[0]; }

TEST(Pages, ARangeIsAddressesAndItsPagesAreMemory) {
  TestCard card;
  const std::uint64_t range = reserve(card);
  EXPECT_EQ(free_bytes(card), 64 * kMiB);
  EXPECT_TRUE(map(card, range, 2 * kPage));
  EXPECT_TRUE(map(card, range + 4 * kPage, kPage));
  EXPECT_EQ(free_bytes(card), 58 * kMiB);
  card.send(Opcode::driver_unmap, {range, kPage});
  EXPECT_EQ(free_bytes(card), 60 * kMiB);
  EXPECT_EQ(card.metrics().peak_reserved_bytes, 6 * kMiB);
  card.send(Opcode::driver_unmap, {range + kPage, kPage});
  card.send(Opcode::driver_unmap, {range + 4 * kPage, kPage});
  card.send(Opcode::driver_release, {range});
  EXPECT_EQ(reserve(card), range) << "the addresses are free again";
  EXPECT_EQ(card.violation(), "");
}

TEST(Pages, AndSegmentsShareTheCard) {
  TestCard card;
  const std::uint64_t range = reserve(card);
  EXPECT_EQ(card.send(Opcode::driver_malloc, {32 * kMiB})->value[0], 1u);
  EXPECT_FALSE(map(card, range, 34 * kMiB));
  EXPECT_EQ(free_bytes(card), 32 * kMiB) << "all or nothing";
  EXPECT_TRUE(map(card, range, 32 * kMiB));
  EXPECT_EQ(card.send(Opcode::driver_malloc, {512})->value[0], 0u);
  EXPECT_EQ(card.violation(), "") << "no room is no mistake";
}

TEST(Pages, OtherProcessesTakeTheirShare) {
  Profile profile = round_profile();
  profile.other_processes_bytes = 60 * kMiB;
  TestCard card(options_with(profile));
  const std::uint64_t range = reserve(card);
  EXPECT_FALSE(map(card, range, 3 * kPage));
  EXPECT_TRUE(map(card, range, 2 * kPage));
}

TEST(Pages, CarryTensorsAcrossTheirBorders) {
  TestCard card;
  const std::uint64_t range = reserve(card);
  map(card, range, kPage);
  map(card, range + kPage, kPage);
  const std::uint64_t block = range + kPage - 512;
  card.send(Opcode::alloc_note, {block, 1024, 1024});
  card.launch(call_of(Kernel::fill, {operand_at(block, kF32, {256}, Access::write)}, 3));
  float seen[256];
  card.download(seen, block, sizeof seen);
  EXPECT_EQ(card.violation(), "");
  for (const float value : seen) EXPECT_EQ(value, 3);
}

TEST(Pages, AreForgottenWhenTheyAreUnmapped) {
  TestCard card;
  const std::uint64_t range = reserve(card);
  map(card, range, kPage);
  card.send(Opcode::alloc_note, {range, 64, 512});
  card.launch(call_of(Kernel::fill, {operand_at(range, kU8, {64}, Access::write)}, 7));
  card.send(Opcode::sync_device, {kAsked});
  card.send(Opcode::free_note, {range});
  card.send(Opcode::driver_unmap, {range, kPage});
  map(card, range, kPage);
  card.send(Opcode::alloc_note, {range, 64, 512});
  std::uint8_t seen[64];
  card.download(seen, range, sizeof seen);
  for (const std::uint8_t byte : seen) EXPECT_EQ(byte, 0xFF);
  EXPECT_EQ(card.violation(), "");
}

TEST(Pages, CostWhatTheDriversMallocCostsAndUnmappingTheFixedPriceOfAFree) {
  Profile profile = round_profile();
  profile.malloc_ps_per_mib = kUs;
  profile.free_ps = 4 * kUs;
  TestCard card(options_with(profile));
  const auto cost = [&](Opcode opcode, std::initializer_list<std::uint64_t> args) {
    const std::int64_t start = card.clock_ps();
    card.send(opcode, args);
    return card.clock_ps() - start;
  };
  EXPECT_EQ(cost(Opcode::driver_reserve, {kRangeBytes}), 0);
  EXPECT_EQ(cost(Opcode::driver_map, {0, 10 * kPage}), 30 * kUs);
  EXPECT_EQ(cost(Opcode::driver_malloc, {20 * kMiB}), 30 * kUs);
  EXPECT_EQ(cost(Opcode::driver_unmap, {0, 10 * kPage}), 4 * kUs);
  EXPECT_EQ(cost(Opcode::driver_release, {0}), 0);
  EXPECT_EQ(card.violation(), "");
}

TEST(Pages, UnderTheLimitOfRealMemory) {
  MachineOptions options = options_with(round_profile());
  options.limits.real_bytes = 2 * kPage;
  TestCard card(options);
  const std::uint64_t range = reserve(card);
  EXPECT_TRUE(map(card, range, 2 * kPage));
  card.send(Opcode::driver_unmap, {range + kPage, kPage});
  EXPECT_TRUE(map(card, range + 6 * kPage, kPage));
  EXPECT_EQ(card.violation(), "");
  EXPECT_EQ(card.send(Opcode::driver_map, {range + kPage, kPage})->status, ReplyStatus::refused);
  EXPECT_EQ(card.violation(), "over-limit");
}

TEST(Pages, RangesLeaveAddressesForSegments) {
  TestCard card;
  std::uint64_t ranges = 0;
  while (card.send(Opcode::driver_reserve, {kRangeBytes})->value[0] == 1) ++ranges;
  EXPECT_EQ(ranges, 13u) << "the part is 1 GiB, and half the card's memory stays for segments";
  EXPECT_EQ(card.send(Opcode::driver_malloc, {32 * kMiB})->value[0], 1u);
  EXPECT_EQ(card.send(Opcode::driver_reserve, {~std::uint64_t{0}})->value[0], 0u);
  EXPECT_EQ(card.send(Opcode::driver_reserve, {0})->value[0], 0u);
  EXPECT_EQ(card.violation(), "");
}

// --- what is refused -----------------------------------------------------------------------------------------------

// The first sentences of the refusal of a command on a card with one range at 0 whose pages 1 and 2 are mapped.
std::string refusal(
    Opcode opcode, std::initializer_list<std::uint64_t> args,
    const std::function<void(TestCard&)>& before = [](TestCard&) {}) {
  TestCard card;
  EXPECT_EQ(reserve(card), 0u);
  EXPECT_TRUE(map(card, kPage, 2 * kPage));
  before(card);
  EXPECT_EQ(card.violation(), "");
  card.send(opcode, args);
  const Report report = card.server().report();
  EXPECT_TRUE(report.violation_code.empty() || report.violation_code == "bad-address") << report.violation_code;
  return report.violation_text.substr(0, report.violation_text.find("\n  fix: "));
}
std::string why(
    Opcode opcode, std::initializer_list<std::uint64_t> args,
    const std::function<void(TestCard&)>& before = [](TestCard&) {}) {
  const std::string text = refusal(opcode, args, before);
  return text.empty() ? text : text.substr(text.find("\n  why: ") + 8);
}

TEST(Pages, AreMappedOnce) {
  EXPECT_EQ(refusal(Opcode::driver_map, {0, 2 * kPage}),
            "the card cannot carry out a 'driver map' at sim:0+0x0\n  why: memory is mapped there already");
  EXPECT_EQ(why(Opcode::driver_map, {2 * kPage, kPage}), "memory is mapped there already");
  EXPECT_EQ(why(Opcode::driver_map, {0, kPage}), "");
  EXPECT_EQ(why(Opcode::driver_map, {3 * kPage, kPage}), "");
}

TEST(Pages, AreUnmappedOnce) {
  EXPECT_EQ(why(Opcode::driver_unmap, {0, 2 * kPage}), "not all of these pages are mapped");
  EXPECT_EQ(why(Opcode::driver_unmap, {3 * kPage, kPage}), "not all of these pages are mapped");
  EXPECT_EQ(why(Opcode::driver_unmap, {kPage, 3 * kPage}), "not all of these pages are mapped");
  EXPECT_EQ(why(Opcode::driver_unmap, {kPage, 2 * kPage}), "");
}

TEST(Pages, AreWholeAndLieInOneRange) {
  for (const Opcode opcode : {Opcode::driver_map, Opcode::driver_unmap}) {
    EXPECT_EQ(why(opcode, {4 * kPage, 0}), "the address or the bytes are no whole pages of 2 MiB");
    EXPECT_EQ(why(opcode, {4 * kPage + 512, kPage}), "the address or the bytes are no whole pages of 2 MiB");
    EXPECT_EQ(why(opcode, {4 * kPage, kPage + 512}), "the address or the bytes are no whole pages of 2 MiB");
    const std::string outside = "the pages do not lie in one reserved range";
    EXPECT_EQ(why(opcode, {kRangeBytes, kPage}), outside);
    EXPECT_EQ(why(opcode, {kRangeBytes - kPage, 2 * kPage}), outside);
    EXPECT_EQ(why(opcode, {4 * kPage, ~std::uint64_t{0} / kPage * kPage}), outside);
    EXPECT_EQ(why(opcode, {~std::uint64_t{0} / kPage * kPage, kPage}), outside);
    const auto segment = [](TestCard& card) { card.send(Opcode::driver_malloc, {4 * kPage}); };
    EXPECT_EQ(why(opcode, {kRangeBytes, kPage}, segment), outside) << "a segment is none";
  }
}

TEST(Pages, WithATensorInThemStay) {
  const auto tensor = [](TestCard& card) {
    card.send(Opcode::alloc_note, {2 * kPage - 512, 1000, 1024}, {0, 0, card.name("x")});
  };
  const std::string reason = "tensor 'x' lies in these pages and is not freed";
  EXPECT_EQ(why(Opcode::driver_unmap, {kPage, kPage}, tensor), reason);
  EXPECT_EQ(why(Opcode::driver_unmap, {2 * kPage, kPage}, tensor), reason);
  const auto freed = [&](TestCard& card) {
    tensor(card);
    card.send(Opcode::free_note, {2 * kPage - 512});
  };
  EXPECT_EQ(why(Opcode::driver_unmap, {kPage, 2 * kPage}, freed), "");
}

TEST(Pages, AreWhereTensorsMayLie) {
  const std::string reason = "its block does not lie in one segment of the card, or in mapped pages of one range";
  EXPECT_EQ(why(Opcode::alloc_note, {kPage, 512, 512}), "");
  EXPECT_EQ(why(Opcode::alloc_note, {0, 512, 512}), reason);
  EXPECT_EQ(why(Opcode::alloc_note, {kPage - 512, 1024, 1024}), reason);
  EXPECT_EQ(why(Opcode::alloc_note, {3 * kPage - 512, 1024, 1024}), reason);
}

TEST(Pages, LeaveBeforeTheirRange) {
  EXPECT_EQ(why(Opcode::driver_release, {0}), "the range still has pages");
  EXPECT_EQ(why(Opcode::driver_release, {kPage}), "no range of addresses starts there");
  EXPECT_EQ(refusal(Opcode::driver_free, {0}),
            "memory was given back at sim:0+0x0, where none starts\n  why: it was given back twice, or never taken");
}

TEST(Pages, OfAnotherCardAreOutOfReach) {
  MachineOptions options = options_with(round_profile());
  options.cards.push_back(round_profile());
  TestCard card(options);
  const std::uint64_t range = reserve(card);
  card.send(Opcode::driver_map, {range, kPage}, {1});
  EXPECT_EQ(card.violation(), "bad-address");
}

TEST(Pages, GoBackAlsoAfterARefusal) {
  TestCard card;
  const std::uint64_t range = reserve(card);
  map(card, range, kPage);
  card.send(Opcode::record, {5});
  EXPECT_EQ(card.send(Opcode::driver_unmap, {range, kPage})->status, ReplyStatus::ok);
  EXPECT_EQ(card.send(Opcode::driver_release, {range})->status, ReplyStatus::ok);
}

TEST(Pages, HaveABoundedTable) {
  Profile profile = round_profile();
  profile.capacity_bytes = 16 * kGiB;
  TestCard card(options_with(profile, false));
  const std::uint64_t range = reserve(card, 18 * kGiB);
  for (std::uint64_t i = 0; i < 4096; ++i) ASSERT_TRUE(map(card, range + 2 * i * kPage, kPage));
  card.send(Opcode::driver_map, {range + 2 * 4096 * kPage, kPage});
  EXPECT_EQ(card.violation(), "over-limit");
}

// --- order ---------------------------------------------------------------------------------------------------------

class PagesInFlight : public testing::Test {
 protected:
  // A kernel on stream 1 writes a tensor in mapped pages; then the tensor is freed.
  PagesInFlight() {
    card_.send(Opcode::stream_create, {kStreamNonBlocking}, {0, 1});
    reserve(card_);
    map(card_, 0, kPage);
    card_.send(Opcode::alloc_note, {0, 40'000, 40'448}, {0, 0, card_.name("x")});
    card_.launch(call_of(Kernel::fill, {operand_at(0, kF32, {10'000}, Access::write)}, 1), {0, 1});
    card_.send(Opcode::free_note, {0});
  }
  TestCard card_;
};

TEST_F(PagesInFlight, UnmappingDoesNotWaitSoItIsAHazard) {
  const std::int64_t start = card_.clock_ps();
  card_.send(Opcode::driver_unmap, {0, kPage});
  EXPECT_EQ(card_.clock_ps() - start, 10 * kUs) << "the kernel takes 42";
  const Report report = card_.server().report();
  EXPECT_EQ(report.metrics.syncs_implicit, 0u);
  ASSERT_EQ(report.metrics.hazards, 1u);
  EXPECT_EQ(report.hazards[0].kind, Hazard::Kind::freed_in_flight);
  EXPECT_EQ(report.hazards[0].text,
            "hazard: memory of 'x' was unmapped while kernel 'fill()' on stream 1 may still write it\n"
            "  why: unmapping pages does not wait for the card, and nothing orders the host after operation 1\n"
            "  fix: synchronize with stream 1, or with an event recorded there after the kernel, before the memory is "
            "given back");
}

TEST_F(PagesInFlight, UnmappingInTimeIsNone) {
  card_.send(Opcode::sync_stream, {kAsked}, {0, 1});
  card_.send(Opcode::driver_unmap, {0, kPage});
  EXPECT_EQ(card_.metrics().hazards, 0u);
  EXPECT_EQ(card_.violation(), "");
}

}  // namespace
}  // namespace labrig::sim
