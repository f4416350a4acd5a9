// Does a profile order the classic pipelines as the card did? 16 times: 64 MiB up, then a product of two 4096 x 4096
// matrices (field notes, "Measured on one H200"). Cost-only: nothing moves.
#include <gtest/gtest.h>

#include <array>

#include "backends/sim/machine.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"

namespace labrig::sim {
namespace {

constexpr int kRounds = 16;
constexpr std::int64_t kSide = 4096;

class H200Pipelines : public testing::Test {
 protected:
  H200Pipelines() : machine_(options()) {
    for (Tensor& buffer : buffers_) buffer = empty({kSide, kSide}, card_);
    weights_ = empty({kSide, kSide}, card_);
    out_ = matmul(buffers_[0], weights_);  // the allocator is warm
    out_ = {};
    synchronize(card_);
  }

  static MachineOptions options() {
    MachineOptions made;
    made.cards = {load_profile(LABRIG_TEST_PROFILES "/h200.toml").value()};
    made.data = false;
    return made;
  }

  template <class Round>
  double ms(Round round) {
    const auto now_ms = [&] { return static_cast<double>(machine_.report().metrics.time_ps) / 1e9; };
    const double start = now_ms();
    for (int i = 0; i < kRounds; ++i) round(i);
    synchronize(card_);
    return now_ms() - start;
  }

  InProcessMachine machine_;
  const Device card_{"sim"};
  std::array<Tensor, 2> buffers_;
  Tensor weights_, out_;
};

TEST_F(H200Pipelines, AreWithinAQuarterOfWhatWasMeasuredAndInItsOrder) {
  const Tensor pageable = empty({kSide, kSide}), pinned = empty({kSide, kSide}, Options().pinned_memory());
  const auto product = [&](int i) { matmul(buffers_[static_cast<std::size_t>(i % 2)], weights_); };
  const auto upload = [&](int i, const Tensor& from) { buffers_[static_cast<std::size_t>(i % 2)].copy_(from, true); };
  const double pageable_serial = ms([&](int i) { upload(i, pageable), product(i), synchronize(card_); });
  const double pinned_serial = ms([&](int i) { upload(i, pinned), product(i), synchronize(card_); });
  const double compute_alone = ms(product);
  const double copies_alone = ms([&](int i) { upload(i, pinned); });

  const Stream copies = new_stream(card_), kernels = new_stream(card_);
  std::array<Event, 2> full = {Event(card_), Event(card_)}, free = {Event(card_), Event(card_)};
  const double overlapped = ms([&](int i) {
    const auto at = static_cast<std::size_t>(i % 2);
    free[at].wait(copies);
    {
      const StreamGuard guard(copies);
      upload(i, pinned);
    }
    full[at].record(copies);
    full[at].wait(kernels);
    {
      const StreamGuard guard(kernels);
      product(i);
    }
    free[at].record(kernels);
  });

  EXPECT_NEAR(pageable_serial, 178, 178 / 4.0);
  EXPECT_NEAR(pinned_serial, 63, 63 / 4.0);
  EXPECT_NEAR(overlapped, 44.6, 44.6 / 4);
  EXPECT_NEAR(compute_alone, 43.6, 43.6 / 4);
  EXPECT_NEAR(copies_alone, 19.4, 19.4 / 4);
  EXPECT_LT(compute_alone, overlapped);
  EXPECT_LT(overlapped, pinned_serial);
  EXPECT_LT(pinned_serial, pageable_serial);
}

}  // namespace
}  // namespace labrig::sim
