// The wire between worker and card: sizes that both sides rely on, the staging ring, the map of device addresses, and
// the text of faults.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstddef>
#include <string>

#include "labrig/error.hpp"
#include "protocol/address_map.hpp"
#include "protocol/fault_text.hpp"
#include "protocol/regions.hpp"

namespace labrig::sim {
namespace {

TEST(Protocol, RecordsHaveTheSizesOfTheSpecification) {
  EXPECT_EQ(sizeof(CommandHeader), 32u);
  EXPECT_EQ(offsetof(CommandHeader, sequence), 16u);
  EXPECT_EQ(sizeof(SmallCommand), 64u);
  EXPECT_EQ(sizeof(NameCommand), 128u);
  EXPECT_EQ(sizeof(WireOperand), 128u);
  EXPECT_EQ(sizeof(LaunchCommand), 128u);  // more scalars and operands than the specification's: decision record 0004
  EXPECT_EQ(sizeof(Record), 1152u);
  EXPECT_EQ(kRingBytes, std::size_t{1} << 20);
}

TEST(Protocol, OnlyCommandsWithAReplyAreTwoWay) {
  EXPECT_FALSE(is_two_way(Opcode::nop));
  EXPECT_FALSE(is_two_way(Opcode::marker));
  EXPECT_TRUE(is_two_way(Opcode::sync_stream));
  EXPECT_TRUE(is_two_way(Opcode::finish));
}

TEST(Staging, AChunkNeverWraps) {
  EXPECT_EQ(staging_start(0, kChunkBytes), 0u);
  EXPECT_EQ(staging_end(0, kChunkBytes), 16u);
  EXPECT_EQ(staging_end(3, 1), 4u);
  // 16 pieces do not fit behind piece 60 of 64: the next lap.
  EXPECT_EQ(staging_start(60, kChunkBytes), 64u);
  EXPECT_EQ(staging_start(60, 4 * kStagingPieceBytes), 60u);
}

TEST(AddressMap, GivesEachCardEightTimesItsCapacityAndAGapBehindIt) {
  const AddressMap map({12 * kGiB, 256u << 20});
  EXPECT_EQ(map.part(0).start, 0u);
  EXPECT_EQ(map.part(0).bytes, 96 * kGiB);
  EXPECT_EQ(map.part(1).start, 97 * kGiB);
  EXPECT_EQ(map.part(1).bytes, 2 * kGiB);
  EXPECT_TRUE(map.has_pages(0));
  EXPECT_TRUE(map.has_pages(1));
  EXPECT_EQ(map.card_of(96 * kGiB - 1), 0);
  EXPECT_EQ(map.card_of(96 * kGiB), std::nullopt);
  EXPECT_EQ(map.card_of(97 * kGiB), 1);
  EXPECT_EQ(map.text(97 * kGiB + 0x464), "sim:1+0x464");
}

TEST(AddressMap, GivesLessWhereThereIsNoRoom) {
  const AddressMap one({141 * kGiB});
  EXPECT_EQ(one.part(0).bytes, 441 * kGiB);
  EXPECT_TRUE(one.has_pages(0)) << "for two ranges of 158.6 GiB, and half the card's size in segments";
  const AddressMap two({141 * kGiB, 141 * kGiB});
  EXPECT_EQ(two.part(0).bytes, 212 * kGiB) << "1.5 times";
  EXPECT_LE(two.total_bytes(), kMaxRangeBytes);
  EXPECT_FALSE(two.has_pages(0));
  EXPECT_EQ(AddressMap({440 * kGiB}).part(0).bytes, 440 * kGiB);
}

TEST(AddressMap, RefusesCardsThatDoNotFit) {
  try {
    const AddressMap map({400 * kGiB, 100 * kGiB});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "cards-too-large");
  }
}

TEST(Regions, CannotBeShrunkAndTheDevicePageNotMappedWritableOnceSealed) {
  const RegionFiles files = RegionFiles::create(kPageBytes);
  const Regions card(files.device_page.get(), files.worker_page.get(), files.arena.get(), kPageBytes, true);
  seal_device_page(files.device_page.get());
  EXPECT_THROW(Regions(files.device_page.get(), files.worker_page.get(), files.arena.get(), kPageBytes, true), Error);
  const Regions worker(files.device_page.get(), files.worker_page.get(), files.arena.get(), kPageBytes, false);
  card.device_page().head.store(17);
  EXPECT_EQ(worker.device_page().head.load(), 17u);
  EXPECT_NE(ftruncate(files.arena.get(), 0), 0);
  EXPECT_NE(ftruncate(files.device_page.get(), 0), 0);
}

std::string fault_text(const FaultTarget& target) {
  FixedText text;
  append_device_fault(text, 0, 0x464, target);
  return std::string(text.view());
}

TEST(FaultText, NamesTheTensor) {
  EXPECT_EQ(
      fault_text({FaultTarget::Kind::live, "model.layer1.weight", 100, 4096}),
      "error: device pointer dereferenced on the host: sim:0+0x464 is byte 100 of tensor 'model.layer1.weight' (4096 "
      "bytes)\n"
      "  why: memory of sim:0 is not host memory; only kernels and copies reach it\n"
      "  fix: copy the tensor to the CPU first, or run the computation as an operator on sim:0\n");
}

TEST(FaultText, SaysWhenTheTensorIsFreedOrUnknown) {
  EXPECT_NE(fault_text({FaultTarget::Kind::freed, "x", 0, 8})
                .find("sim:0+0x464 was byte 0 of tensor 'x' (8 bytes), which is freed"),
            std::string::npos);
  EXPECT_NE(fault_text({}).find("sim:0+0x464 belongs to no tensor"), std::string::npos);
}

TEST(FaultText, IsCutWhereTheFixedMemoryEnds) {
  FixedText text;
  for (int i = 0; i < 100; ++i) text << "a long text that does not end ";
  EXPECT_EQ(text.view().size(), 1024u);
}

}  // namespace
}  // namespace labrig::sim
