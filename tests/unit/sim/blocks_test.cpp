// Which bytes are whose: the ranges of the driver, the announced blocks, and the sentences for accesses that miss.
#include "card/blocks.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "card/ranges.hpp"

namespace labrig::sim {
namespace {

TEST(RangeTable, TakesTheFirstGapThatFits) {
  RangeTable table(1024, 8192);
  EXPECT_EQ(table.take(1000, 512), 1024u);
  EXPECT_EQ(table.take(512, 512), 2048u);
  EXPECT_EQ(table.take(512, 512), 2560u);
  EXPECT_EQ(table.give_back(2048), 512u);
  EXPECT_EQ(table.take(1024, 512), 3072u);
  EXPECT_EQ(table.take(100, 512), 2048u);
  EXPECT_EQ(table.taken_bytes(), 1000u + 512 + 1024 + 100);
}

TEST(RangeTable, RefusesWhatDoesNotFitOrIsNotThere) {
  RangeTable table(0, 4096);
  EXPECT_EQ(table.take(4097, 512), std::nullopt);
  EXPECT_EQ(table.take(0, 512), std::nullopt);
  EXPECT_EQ(table.take(~std::uint64_t{0}, 512), std::nullopt);
  EXPECT_EQ(table.take(4096, 512), 0u);
  EXPECT_EQ(table.take(1, 512), std::nullopt);
  EXPECT_EQ(table.give_back(512), std::nullopt);
}

TEST(RangeTable, FindsTheRangeThatHoldsAllOfAnAccess) {
  RangeTable table(0, 4096);
  table.take(512, 512);
  table.take(512, 512);
  EXPECT_TRUE(table.holding(0, 512));
  EXPECT_TRUE(table.holding(1023, 1));
  EXPECT_FALSE(table.holding(256, 512)) << "it spans two ranges";
  EXPECT_FALSE(table.holding(1024, 1));
  EXPECT_FALSE(table.holding(100, ~std::uint64_t{0}));
}

class BlockTableTest : public testing::Test {
 protected:
  std::uint32_t name(const char* text) {
    char fixed[kNameBytes] = {};
    std::strncpy(fixed, text, kNameBytes - 1);
    names_.define(++last_, fixed);
    return last_;
  }

  AddressMap map_{{1u << 20}};
  NameTable names_;
  BlockTable blocks_{map_, names_};
  std::uint32_t last_ = 0;
};

TEST_F(BlockTableTest, AnAccessMustLieInsideTheRequestedBytesOfOneBlock) {
  EXPECT_TRUE(blocks_.announce(512, 100, 512, 0));
  EXPECT_TRUE(blocks_.announce(1024, 512, 512, 0));
  EXPECT_NE(blocks_.holding(512, 100), nullptr);
  EXPECT_EQ(blocks_.holding(512, 101), nullptr);
  EXPECT_EQ(blocks_.holding(1000, 100), nullptr);
  EXPECT_EQ(blocks_.holding(511, 1), nullptr);
  EXPECT_EQ(blocks_.holding(600, ~std::uint64_t{0}), nullptr);
}

TEST_F(BlockTableTest, LiveBlocksDoNotOverlap) {
  EXPECT_TRUE(blocks_.announce(512, 100, 512, 0));
  EXPECT_FALSE(blocks_.announce(512, 100, 512, 0));
  EXPECT_FALSE(blocks_.announce(1023, 1, 1, 0));
  EXPECT_FALSE(blocks_.announce(0, 600, 1024, 0));
  EXPECT_TRUE(blocks_.announce(1024, 1, 512, 0));
}

TEST_F(BlockTableTest, ANewBlockAtTheSameAddressHasANumberOfItsOwn) {
  blocks_.announce(512, 100, 512, 0);
  const std::uint64_t first = blocks_.holding(512, 1)->id;
  EXPECT_EQ(blocks_.free(512)->id, first);
  blocks_.announce(512, 100, 512, 0);
  EXPECT_EQ(blocks_.holding(512, 1)->id, first + 1);
}

TEST_F(BlockTableTest, OutOfBoundsSaysHowFarPastWhichTensor) {
  blocks_.announce(512, 100, 512, name("weights"));
  const Violation violation = blocks_.missed("kernel 'add' reads", 552, 80);
  EXPECT_EQ(violation.code, "out-of-bounds");
  EXPECT_EQ(violation.text(),
            "kernel 'add' reads 80 bytes at sim:0+0x228, up to 20 bytes past the end of tensor 'weights'\n"
            "  why: the tensor has 100 bytes, and the access starts at byte 40\n"
            "  fix: check the sizes, strides and offset of the view that is used there");
}

TEST_F(BlockTableTest, UseAfterFreeNamesTheNewestFreedTensor) {
  blocks_.announce(512, 100, 512, name("old"));
  blocks_.free(512);
  blocks_.announce(512, 100, 512, name("new"));
  blocks_.free(512);
  const Violation violation = blocks_.missed("copy reads", 512, 8);
  EXPECT_EQ(violation.code, "use-after-free");
  EXPECT_EQ(violation.what, "copy reads 8 bytes at sim:0+0x200, in tensor 'new', which is freed");
}

TEST_F(BlockTableTest, AnAddressWithoutAnyTensorIsBad) {
  EXPECT_EQ(blocks_.missed("copy reads", 512, 8).code, "bad-address");
}

TEST_F(BlockTableTest, RemembersTheLast4096FreedBlocks) {
  for (std::uint64_t i = 0; i < 4097; ++i) {
    blocks_.announce(i * 512, 8, 512, 0);
    blocks_.free(i * 512);
  }
  EXPECT_EQ(blocks_.missed("copy reads", 0, 8).code, "bad-address");
  EXPECT_EQ(blocks_.missed("copy reads", 512, 8).code, "use-after-free");
}

}  // namespace
}  // namespace labrig::sim
