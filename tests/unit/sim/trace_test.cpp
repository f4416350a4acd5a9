// What the card tells for charts: why the host waited, what was alive at the peak, when a hazard was met.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "test_card.hpp"

namespace labrig::sim {
namespace {

constexpr std::uint64_t kAsked = static_cast<std::uint64_t>(CommandCause::asked);
constexpr std::uint64_t kValue = static_cast<std::uint64_t>(CommandCause::value);
constexpr std::uint64_t kLarge = 2 * kInlineBytes;

// --- waits
// -------------------------------------------------------------------------------------------------------------

std::map<Span::Wait, std::uint64_t> waits_of(const Report& report) {
  std::map<Span::Wait, std::uint64_t> waits;
  for (const Span& span : report.timeline)
    if (span.wait != Span::Wait::none) ++waits[span.wait];
  return waits;
}

TEST(Waits, EveryCountedWaitIsABarWithItsCause) {
  TestCard card;
  const std::uint64_t block = card.block(kLarge), pinned = card.pinned(kLarge);
  card.send(Opcode::event_create, {0});
  card.send(Opcode::record, {0});
  card.send(Opcode::begin);
  card.upload(block, nullptr, kLarge);                    // a copy
  card.upload(block, nullptr, kLarge, kCopyNonBlocking);  // from pageable memory it waits all the same
  card.download(nullptr, block, kLarge);                  // a copy
  card.download(nullptr, block, 4, kValue);               // item()
  card.send(Opcode::sync_event, {0, kAsked});             // asked for, thrice
  card.send(Opcode::sync_stream, {kAsked});
  card.send(Opcode::sync_device, {kAsked});
  card.send(Opcode::sync_stream, {kValue});           // a value
  card.send(Opcode::driver_free, {card.block(512)});  // in the driver, twice
  card.send(Opcode::pinned_free, {pinned});
  const Report report = card.server().report();
  EXPECT_EQ(waits_of(report),
            (std::map<Span::Wait, std::uint64_t>{
                {Span::Wait::asked, 3}, {Span::Wait::value, 2}, {Span::Wait::copy, 3}, {Span::Wait::implicit, 2}}));
  EXPECT_EQ(report.metrics.syncs_explicit, 3u);
  EXPECT_EQ(report.metrics.syncs_value, 2u);
  EXPECT_EQ(report.metrics.syncs_copy, 3u);
  EXPECT_EQ(report.metrics.syncs_implicit, 2u);
}

TEST(Waits, WorkOfTheHostAndCopiesThatDoNotBlockAreNone) {
  TestCard card;
  const std::uint64_t block = card.block(kLarge), pinned = card.pinned(kLarge);
  card.send(Opcode::host_work, {1000, 1000});
  card.upload(block, nullptr, 64);
  card.send(Opcode::copy_up, {block, pinned, kLarge, kCopyNonBlocking});
  card.launch(add_call(block, 100));
  EXPECT_TRUE(waits_of(card.server().report()).empty());
}

// --- the peak
// ----------------------------------------------------------------------------------------------------------

std::string text_of(const Peak& peak) {
  std::string text;
  for (const Peak::Alive& all : peak.alive)
    text += all.name + " " + std::to_string(all.bytes) + " x" + std::to_string(all.count) + "; ";
  return text;
}

class PeakTest : public testing::Test {
 protected:
  std::uint64_t alloc(std::uint64_t bytes, const std::string& name = "") {
    const std::uint64_t at = next_;
    next_ += 512 * ((bytes + 511) / 512);
    card_.send(Opcode::alloc_note, {at, bytes, bytes}, {0, 0, name.empty() ? 0 : card_.name(name)});
    return at;
  }
  void free(std::uint64_t at) { card_.send(Opcode::free_note, {at}); }
  Peak peak() { return card_.server().report().peak; }

  TestCard card_;
  std::uint64_t next_ = card_.send(Opcode::driver_malloc, {kMiB})->value[1];
};

TEST_F(PeakTest, KeepsWhatWasFreedSinceAndNothingThatCameLater) {
  const std::uint64_t a = alloc(1000, "a"), b = alloc(3000, "b");
  card_.send(Opcode::sync_device, {kAsked});
  const std::int64_t before = card_.clock_ps();
  alloc(3000, "b");  // two tensors of one name; the most that is ever held
  card_.send(Opcode::sync_device, {kAsked});
  free(a);
  free(b);
  alloc(100, "later");
  EXPECT_EQ(text_of(peak()), "b 6000 x2; a 1000 x1; ");
  EXPECT_EQ(peak().time_ps, before);
  EXPECT_EQ(card_.metrics().peak_allocated_bytes, 7000u);
}

TEST_F(PeakTest, AHigherPeakForgetsTheOneBefore) {
  const std::uint64_t a = alloc(1000, "a");
  free(a);
  EXPECT_EQ(text_of(peak()), "a 1000 x1; ");
  alloc(600, "b");
  EXPECT_EQ(text_of(peak()), "a 1000 x1; ") << "not yet";
  alloc(600, "c");
  EXPECT_EQ(text_of(peak()), "b 600 x1; c 600 x1; ");
}

TEST_F(PeakTest, StartsWithWhatIsHeldWhenTheCallBeginsAndOutlivesItsEnd) {
  const std::uint64_t before = alloc(1000, "before");
  free(alloc(5000, "gone"));
  card_.send(Opcode::begin);
  EXPECT_EQ(text_of(peak()), "before 1000 x1; ");
  EXPECT_EQ(peak().time_ps, 0);
  card_.send(Opcode::finish);
  free(before);
  EXPECT_EQ(text_of(peak()), "before 1000 x1; ");
}

TEST_F(PeakTest, CallsABlockByItsLastNameOrByWhatMadeIt) {
  const std::uint64_t named = alloc(4000), made = alloc(8000);
  alloc(100);
  card_.send(Opcode::name_note, {named, 0}, {0, 0, card_.name("late")});
  card_.launch(add_call(made, 1000));
  card_.launch(call_of(Kernel::fill, {operand_at(made, kF32, {10}, Access::write)}, 1));  // not the first to write
  free(named);
  EXPECT_EQ(text_of(peak()), "add 8000 x1; late 4000 x1; unnamed 100 x1; ");
}

TEST_F(PeakTest, OfManyNamesTheSmallAreOthers) {
  for (int i = 1; i <= 20; ++i) alloc(static_cast<std::uint64_t>(100 * i), "t" + std::to_string(i));
  const Peak found = peak();
  ASSERT_EQ(found.alive.size(), 16u);
  EXPECT_EQ(found.alive.front().name, "t20");
  EXPECT_EQ(found.alive.back().name, "others");
  EXPECT_EQ(found.alive.back().count, 5u);
  EXPECT_EQ(found.alive.back().bytes, 1500u);
}

// Against a model that copies the whole set at each peak.
TEST_F(PeakTest, IsThatOfAModelAfterRandomAllocationsAndFrees) {
  std::mt19937 random(7);
  std::map<std::uint64_t, std::pair<std::string, std::uint64_t>> live;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> at_peak;
  std::uint64_t held = 0, most = 0;
  for (int i = 0; i < 600; ++i) {
    if (live.empty() || random() % 5 < 3) {
      const std::uint64_t bytes = 1 + random() % 1000;
      const std::string name = "n" + std::to_string(random() % 9);
      live[alloc(bytes, name)] = {name, bytes};
      held += bytes;
      if (held <= most) continue;
      most = held;
      at_peak.clear();
      for (const auto& [at, block] : live) {
        at_peak[block.first].first += block.second;
        ++at_peak[block.first].second;
      }
    } else {
      const auto gone = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      held -= gone->second.second;
      free(gone->first);
      live.erase(gone);
    }
  }
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> found;
  for (const Peak::Alive& all : peak().alive) found[all.name] = {all.bytes, all.count};
  EXPECT_EQ(found, at_peak);
  EXPECT_EQ(card_.violation(), "");
}

TEST_F(PeakTest, KnowsWhatASegmentThatWentBackHadHeld) {
  const std::uint64_t segment = card_.send(Opcode::driver_malloc, {kMiB})->value[1];
  card_.send(Opcode::alloc_note, {segment, 700, 1024}, {0, 0, card_.name("x")});
  card_.send(Opcode::driver_free, {segment});
  EXPECT_EQ(text_of(peak()), "x 1024 x1; ");
}

// --- hazards and kernels
// -----------------------------------------------------------------------------------------------

TEST(HazardTime, IsTheHostsClockAtTheLaterOneOfTheFirstPairSinceTheBeginning) {
  for (const Mode mode : {Mode::eager, Mode::late}) {
    MachineOptions options = options_with(round_profile());
    options.mode = mode;
    TestCard card(options);
    const std::uint64_t x = card.block(kLarge, card.name("x"));
    card.send(Opcode::stream_create, {kStreamNonBlocking}, {0, 1});
    card.send(Opcode::host_work, {0, 5000});
    card.send(Opcode::begin);
    const std::int64_t begin = card.clock_ps();
    const auto fill = [&](std::uint16_t stream) {
      card.launch(call_of(Kernel::fill, {operand_at(x, kF32, {16}, Access::write)}, 1), {0, stream});
    };
    fill(0);
    card.send(Opcode::host_work, {0, 7000});
    fill(1);
    const std::int64_t met = card.clock_ps() - begin;
    card.send(Opcode::sync_device, {kAsked});
    fill(0);
    fill(1);
    const Report report = card.server().report();
    ASSERT_EQ(report.hazards.size(), 1u);
    EXPECT_EQ(report.hazards[0].count, 2u);
    EXPECT_EQ(report.hazards[0].time_ps, met);
    EXPECT_GE(met, 7 * kUs);
  }
}

TEST(Launches, CountTheBytesThatTheyAreChargedFor) {
  TestCard card;
  const std::uint64_t block = card.block(8000);
  card.launch(add_call(block, 1000));
  card.launch(add_call(block, 500));
  card.send(Opcode::copy_within, {block, block + 4000, 100});
  EXPECT_EQ(card.metrics().device_bytes, 12'000u + 6'000u);
}

}  // namespace
}  // namespace labrig::sim
