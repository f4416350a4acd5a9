// What a simulated card is told of the host's own accesses to pinned memory.
#include <gtest/gtest.h>

#include <vector>

#include "fake_card.hpp"
#include "labrig/ops.hpp"

namespace labrig {
namespace {

using test::AttachedCard;

struct Seen {
  std::ptrdiff_t offset;  // from the first byte of the buffer
  std::size_t bytes;
  bool write;
  bool operator==(const Seen&) const = default;
};

struct HostAccess : testing::Test {
  AttachedCard card;
  Tensor buffer = pinned(12);

  static Tensor pinned(std::int64_t count) { return empty({count}, Options().pinned_memory()); }

  // The accesses since the last call, to `buffer`.
  std::vector<Seen> seen() {
    std::vector<Seen> result;
    const auto* start = static_cast<const std::byte*>(buffer.data_ptr());
    for (const auto& access : card->accesses) {
      result.push_back({static_cast<const std::byte*>(access.address) - start, access.bytes, access.write});
    }
    card->accesses.clear();
    return result;
  }
};

TEST_F(HostAccess, IsAnnouncedForEachOperandOfAnOperatorOnTheCpu) {
  buffer.fill_(1);
  EXPECT_EQ(seen(), (std::vector<Seen>{{0, 48, true}}));
  add(buffer.narrow(0, 4, 4), ones({4}));
  EXPECT_EQ(seen(), (std::vector<Seen>{{16, 16, false}}));
  mul_(buffer, buffer);
  EXPECT_EQ(seen(), (std::vector<Seen>{{0, 48, true}, {0, 48, false}, {0, 48, false}}));
}

TEST_F(HostAccess, OfAPointerIsWhatItsTypeSays) {
  buffer.data<const float>();
  EXPECT_EQ(seen(), (std::vector<Seen>{{0, 48, false}}));
  buffer.narrow(0, 2, 3).data<float>();
  EXPECT_EQ(seen(), (std::vector<Seen>{{8, 12, true}}));
}

TEST_F(HostAccess, OfAValueIsARead) {
  buffer.fill_(2);
  seen();
  EXPECT_EQ(buffer[3].item(), 2);
  EXPECT_EQ(seen(), (std::vector<Seen>{{12, 4, false}}));
  EXPECT_TRUE(static_cast<bool>(buffer[0]));
  EXPECT_EQ(seen(), (std::vector<Seen>{{0, 4, false}}));
  buffer.str();
  EXPECT_EQ(seen(), (std::vector<Seen>{{0, 48, false}}));
}

TEST_F(HostAccess, NamesOnlyTheBytesOfItsElements) {
  const Tensor grid = buffer.view({3, 4});
  grid.select(1, 1).fill_(0);  // a column
  EXPECT_EQ(seen(), (std::vector<Seen>{{4, 4, true}, {20, 4, true}, {36, 4, true}}));
  grid.narrow(1, 0, 2).fill_(0);  // two columns
  EXPECT_EQ(seen(), (std::vector<Seen>{{0, 8, true}, {16, 8, true}, {32, 8, true}}));
  grid.t().fill_(0);  // all of it, in another order
  EXPECT_EQ(seen(), (std::vector<Seen>{{0, 48, true}}));
  zeros({3, 4}).copy_(grid[2].expand({3, 4}));
  EXPECT_EQ(seen(), (std::vector<Seen>{{32, 16, false}}));
  grid.narrow(0, 1, 1).narrow(1, 2, 1).view({1}).fill_(0);
  EXPECT_EQ(seen(), (std::vector<Seen>{{24, 4, true}}));
}

TEST_F(HostAccess, OfVeryManyPiecesIsCutShort) {
  const Tensor wide = pinned(20000);
  card->accesses.clear();
  wide.view({10000, 2}).select(1, 0).fill_(0);
  EXPECT_EQ(card->accesses.size(), 4096u);
}

TEST_F(HostAccess, OfOtherMemoryIsNotAnnounced) {
  const Tensor pageable = ones({4});
  add(pageable, pageable).str();
  pageable.data<float>();
  pageable.to("sim:0").cpu();
  EXPECT_TRUE(card->accesses.empty());
}

TEST_F(HostAccess, IsLeftToTheCopyWhereTheCardTakesPart) {
  buffer.fill_(1);
  card->accesses.clear();
  const Tensor there = buffer.to("sim:0", true);
  buffer.copy_(there);
  EXPECT_TRUE(card->accesses.empty());
  buffer.view({3, 4}).t().to("sim:0");  // packed by the host first
  EXPECT_EQ(seen(), (std::vector<Seen>{{0, 48, false}}));
}

}  // namespace
}  // namespace labrig
