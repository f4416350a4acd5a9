// Races between the host and a copy in flight give wrong bytes every time in late mode, and are named; a wait that is
// there keeps the bytes right every time.
#include <gtest/gtest.h>

#include "labrig/ops.hpp"
#include "on_machine.hpp"

namespace labrig::sim {
namespace {

TEST(HostRaces, AreNamed) {
  OnMachine on;
  const Tensor result = full({1000}, 7, on.card).set_name("result");
  const Tensor host = empty({1000}, Options().pinned_memory()).set_name("host result");
  host.copy_(result, true);
  EXPECT_NE(host.data<const float>()[0], 7);
  synchronize(on.card);
  result.copy_(host, true);
  host.fill_(8);
  const Report report = on.report();
  ASSERT_EQ(report.hazards.size(), 2u);
  EXPECT_EQ(report.hazards[0].kind, Hazard::Kind::read_after_write);
  EXPECT_TRUE(report.hazards[0].later.host);
  EXPECT_EQ(
      without_numbers(report.hazards[0].text),
      "hazard: the host reads 'host result' without waiting for copy 'download result to host result' on stream \n"
      "  why: nothing orders the host after operation  (bytes 0 to 3999 of 'host result'); on a card the host "
      "may see old bytes, or half of the new ones\n"
      "  fix: synchronize with stream , or with an event recorded there after the copy, before the host touches "
      "the memory");
  EXPECT_EQ(report.hazards[1].kind, Hazard::Kind::write_after_read);
  EXPECT_EQ(without_numbers(report.hazards[1].text),
            "hazard: the host writes 'host result' without waiting for copy 'upload host result to result' on stream , "
            "which reads it\n"
            "  why: nothing orders the host after operation  (bytes 0 to 3999 of 'host result'); on a card the copy "
            "may see the new bytes, or half of them\n"
            "  fix: synchronize with stream , or with an event recorded there after the copy, before the host touches "
            "the memory");
}

TEST(HostRaces, AreNamedByTheViewThatTheHostUses) {
  OnMachine on;
  const Tensor both = zeros({2, 1000}, Options().pinned_memory());
  Tensor second = both[1];
  second.set_name("second half");
  const Tensor there = second.to(on.card, true);
  second.fill_(8);
  const Report report = on.report();
  ASSERT_EQ(report.hazards.size(), 1u);
  EXPECT_EQ(report.hazards[0].buffer, "second half");
  EXPECT_EQ(report.hazards[0].earlier.what, "copy 'upload second half'");
}

TEST(HostRaces, AResultThatIsReadEarlyIsWrongEveryTime) {
  OnMachine on;
  const Tensor result = full({1000}, 7, on.card).set_name("result");
  synchronize(on.card);
  for (int i = 0; i < 20; ++i) {
    const Tensor host = empty({1000}, Options().pinned_memory()).set_name("host result");
    host.copy_(result, true);
    EXPECT_TRUE(none_is(host, 7)) << "reading " << i;
    synchronize(on.card);
    EXPECT_TRUE(all_are(host, 7)) << "reading " << i;
  }
  EXPECT_EQ(on.hazards(), 20u);
}

// The other way round: a small pageable copy that blocks orders the host after what is before it in its stream, so the
// pinned memory may be rewritten at once, although the copy itself travels without an answer of the card.
TEST(HostRaces, ABlockingCopyOrdersTheHostAfterEarlierUploads) {
  OnMachine on;
  const Tensor host = empty({1000}, Options().pinned_memory()).set_name("batch");
  const Tensor there = empty({1000}, on.card).set_name("input"), other = empty({8}, on.card).set_name("other");
  const Tensor pageable = full({8}, 0);
  for (int i = 0; i < 200; ++i) {
    host.fill_(i);
    there.copy_(host, true);
    other.copy_(pageable);
    host.fill_(-1);
    EXPECT_TRUE(all_are(there.cpu(), static_cast<float>(i))) << "round " << i;
  }
  EXPECT_EQ(on.hazards(), 0u);
}

TEST(HostRaces, APinnedBufferThatIsRewrittenInFlightSendsWrongBytesEveryTime) {
  OnMachine on;
  const Tensor host = empty({1000}, Options().pinned_memory()).set_name("batch");
  const Tensor there = empty({1000}, on.card).set_name("input");
  for (int i = 0; i < 20; ++i) {
    host.fill_(i);
    there.copy_(host, true);
    host.fill_(1000 + i);
    EXPECT_TRUE(none_is(there.cpu(), static_cast<float>(i))) << "round " << i;
  }
  EXPECT_EQ(on.hazards(), 20u);
}

}  // namespace
}  // namespace labrig::sim
