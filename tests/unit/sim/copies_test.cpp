// Copies up and down: what they cost, what they count, and when the host waits. 1 byte a nanosecond, 1 us to submit a
// copy, 1 us latency, 2 us for a synchronisation.
#include <gtest/gtest.h>

#include <numeric>

#include "test_card.hpp"

namespace labrig::sim {
namespace {

constexpr std::uint64_t kValue = static_cast<std::uint64_t>(CommandCause::value);
constexpr std::int64_t kMiBPs = 1024 * 1024 * 1000;  // a MiB at 1 byte/ns

class CopiesTest : public testing::Test {
 protected:
  void SetUp() override { start_ps_ = card_.clock_ps(); }
  std::int64_t passed_ps() { return card_.clock_ps() - start_ps_; }

  TestCard card_;
  std::uint64_t block_ = card_.block(8 * kMiB, card_.name("x"));
  std::int64_t start_ps_ = 0;
};

TEST_F(CopiesTest, ASmallPageableUploadWaitsForNothing) {
  card_.launch(add_call(block_, 100'000));  // the stream is busy
  const std::int64_t before = passed_ps();
  card_.upload(block_, nullptr, kInlineBytes);
  EXPECT_EQ(passed_ps() - before, 1 * kUs);
  const Metrics metrics = card_.metrics();
  EXPECT_EQ(metrics.h2d_copies, 1u);
  EXPECT_EQ(metrics.h2d_bytes, kInlineBytes);
  EXPECT_EQ(metrics.syncs_copy, 0u);
}

TEST_F(CopiesTest, ALargerOneWaitsForTheStreamAndItself) {
  card_.upload(block_, nullptr, kMiB);
  // Submit, copy into staging, engine (latency and bytes), sync.
  EXPECT_EQ(passed_ps(), 1 * kUs + kMiBPs + 1 * kUs + kMiBPs + 2 * kUs);
  EXPECT_EQ(card_.metrics().syncs_copy, 1u);
}

TEST_F(CopiesTest, ANonBlockingOneReturnsWhenItsLastByteIsStaged) {
  card_.upload(block_, nullptr, kMiB, kCopyNonBlocking);
  EXPECT_EQ(passed_ps(), 1 * kUs + kMiBPs);
  EXPECT_EQ(card_.metrics().syncs_copy, 1u) << "the host waited for the stream before it";
}

TEST_F(CopiesTest, StagingHoldsFourChunksInFlight) {
  // The engine takes as long as the host for a chunk, plus its latency: it falls behind by 1 us a chunk and never by
  // more than the slots hold.
  card_.upload(block_, nullptr, 8 * kMiB, kCopyNonBlocking);
  EXPECT_EQ(passed_ps(), 1 * kUs + 8 * kMiBPs);
  card_.send(Opcode::sync_stream, {0});
  EXPECT_EQ(passed_ps(), 1 * kUs + 9 * kMiBPs + 8 * kUs + 2 * kUs);
}

TEST_F(CopiesTest, ASlowEngineHoldsUpTheHost) {
  Profile profile = round_profile();
  profile.up.pinned_bytes_per_s /= 2;
  TestCard card(options_with(profile));
  const std::uint64_t block = card.block(8 * kMiB);
  const std::int64_t before = card.clock_ps();
  card.upload(block, nullptr, 6 * kMiB, kCopyNonBlocking);
  // Chunk 0 is done at 1 us + 1 + 1 us + 2 chunk times; the fifth chunk waits for it, the sixth for chunk 1.
  EXPECT_EQ(card.clock_ps() - before, 1 * kUs + 5 * kMiBPs + 2 * kUs + kMiBPs);
}

TEST_F(CopiesTest, ADownloadToPageableMemoryBlocks) {
  card_.download(nullptr, block_, 1000);
  EXPECT_EQ(passed_ps(), 1 * kUs + 1 * kUs + 1 * kUs + 2 * kUs);
  EXPECT_EQ(card_.metrics().d2h_copies, 1u);
  EXPECT_EQ(card_.metrics().d2h_bytes, 1000u);
  EXPECT_EQ(card_.metrics().syncs_copy, 1u);
}

TEST_F(CopiesTest, ALargeDownloadGoesChunkByChunk) {
  card_.download(nullptr, block_, 2 * kMiB);
  EXPECT_EQ(passed_ps(), 1 * kUs + 2 * (1 * kUs + kMiBPs + kMiBPs) + 2 * kUs);
  EXPECT_EQ(card_.metrics().d2h_copies, 1u);
}

TEST_F(CopiesTest, ReadingAValueIsAValueSynchronisation) {
  card_.download(nullptr, block_, 4, kValue);
  EXPECT_EQ(card_.metrics().syncs_value, 1u);
  EXPECT_EQ(card_.metrics().syncs_copy, 0u);
}

TEST_F(CopiesTest, PinnedCopiesAreAsynchronousAndOverlapBothWays) {
  const std::uint64_t pinned = card_.send(Opcode::pinned_malloc, {4 * kMiB})->value[1];
  card_.send(Opcode::stream_create, {kStreamNonBlocking}, {0, 1, 0});
  card_.send(Opcode::begin);
  card_.send(Opcode::copy_up, {block_, pinned, kMiB, kCopyNonBlocking});
  card_.send(Opcode::copy_down, {pinned + 2 * kMiB, block_ + 4 * kMiB, kMiB, kCopyNonBlocking}, {0, 1, 0});
  card_.send(Opcode::finish);
  // Up starts at 1 us, down at 2; both at half rate until up is done, then down ends its last microsecond alone.
  const std::int64_t one = 1 * kUs + kMiBPs;
  EXPECT_EQ(card_.metrics().time_ps, 1 * kUs + 1 * kUs + 2 * (one - 1 * kUs) + 1 * kUs);
  EXPECT_EQ(card_.metrics().h2d_copies, 1u);
  EXPECT_EQ(card_.metrics().d2h_copies, 1u);
  EXPECT_EQ(card_.metrics().syncs_copy, 0u);
}

TEST_F(CopiesTest, UploadsAreCountedByWhatWasAskedAndByWhatIsPossible) {
  const std::uint64_t pinned = card_.send(Opcode::pinned_malloc, {kMiB})->value[1];
  card_.send(Opcode::copy_up, {block_, pinned, 100, kCopyNonBlocking});
  card_.send(Opcode::copy_up, {block_, pinned, 20});
  card_.upload(block_, nullptr, 3, kCopyNonBlocking);
  card_.send(Opcode::copy_down, {pinned, block_, 5000, kCopyNonBlocking});
  EXPECT_EQ(card_.metrics().h2d_bytes, 123u);
  EXPECT_EQ(card_.metrics().h2d_non_blocking_bytes, 103u);
  EXPECT_EQ(card_.metrics().h2d_async_bytes, 100u);
}

TEST_F(CopiesTest, MoveTheRightBytes) {
  std::vector<std::uint32_t> values(3 * kMiB / 4 + 5);
  std::iota(values.begin(), values.end(), 7u);
  const std::uint64_t bytes = values.size() * 4;
  card_.upload(block_, values.data(), bytes);
  card_.send(Opcode::copy_within, {block_ + 4 * kMiB, block_, bytes, 0});
  std::vector<std::uint32_t> back(values.size());
  card_.download(back.data(), block_ + 4 * kMiB, bytes);
  EXPECT_EQ(back, values);

  const std::uint64_t pinned = card_.send(Opcode::pinned_malloc, {4 * kMiB})->value[1];
  std::memcpy(card_.regions().arena() + pinned, values.data(), bytes);
  card_.send(Opcode::copy_up, {block_ + 16, pinned, bytes, 0});
  std::memset(card_.regions().arena() + pinned, 0, bytes);
  card_.send(Opcode::copy_down, {pinned, block_ + 16, bytes, 0});
  EXPECT_EQ(std::memcmp(card_.regions().arena() + pinned, values.data(), bytes), 0);
  EXPECT_EQ(card_.violation(), "");
}

TEST_F(CopiesTest, ARefusedUploadStillTakesItsPieces) {
  card_.upload(block_ + 7 * kMiB, nullptr, 2 * kMiB);
  EXPECT_EQ(card_.violation(), "out-of-bounds");
  EXPECT_FALSE(card_.server().stopped());
  EXPECT_EQ(card_.metrics().h2d_copies, 0u);
  EXPECT_EQ(card_.server().report().violation_text.find(
                "copy writes 2097152 bytes at sim:0+0x700000, up to 1048576 bytes past"),
            0u);
}

TEST_F(CopiesTest, ACopyOfNothingDoesNothing) {
  card_.send(Opcode::copy_within, {0, 0, 0, 0});
  card_.send(Opcode::copy_up, {0, 0, 0, 0});
  card_.send(Opcode::pageable_begin, {0, 0, 0});
  EXPECT_EQ(passed_ps(), 0);
  EXPECT_EQ(card_.violation(), "");
}

TEST(CostOnly, EverythingIsCountedAndNothingMoves) {
  Metrics metrics[2];
  for (const bool data : {false, true}) {
    TestCard card(data);
    const std::uint64_t block = card.block(4 * kMiB);
    card.upload(block, nullptr, 2 * kMiB);
    card.launch(add_call(block, 1000));
    card.download(nullptr, block, kMiB);
    card.send(Opcode::finish);
    metrics[data] = card.metrics();
  }
  EXPECT_EQ(metrics[0], metrics[1]);
}

TEST(CostOnly, AValueCannotBeRead) {
  TestCard card(false);
  const std::uint64_t block = card.block(64);
  EXPECT_EQ(card.download(nullptr, block, 4)->status, ReplyStatus::ok) << "a copy has a cost";
  EXPECT_EQ(card.download(nullptr, block, 4, kValue)->status, ReplyStatus::refused);
  EXPECT_EQ(card.violation(), "no-data");
}

TEST(CostOnly, AValueIsZeroWhereThatIsAskedFor) {
  MachineOptions options = options_with(round_profile(), false);
  options.reads_zeros = true;
  TestCard card(options);
  const std::uint64_t block = card.block(64);
  std::ranges::fill_n(card.regions().staging(), 4, std::byte{7});
  EXPECT_EQ(card.download(nullptr, block, 4, kValue)->status, ReplyStatus::ok);
  EXPECT_EQ(card.violation(), "");
  EXPECT_EQ(card.regions().staging()[3], std::byte{0});
}

TEST(CostOnly, SizesBeyondThisMachineAreFine) {
  Profile profile = round_profile();
  profile.capacity_bytes = std::uint64_t{141} << 30;
  TestCard card(options_with(profile, false));
  const std::uint64_t block = card.block(std::uint64_t{96} << 30);
  card.launch(add_call(block, std::int64_t{8} << 30));
  card.send(Opcode::finish);
  EXPECT_EQ(card.violation(), "");
  EXPECT_EQ(card.metrics().device_flops, std::uint64_t{8} << 30);
}

}  // namespace
}  // namespace labrig::sim
