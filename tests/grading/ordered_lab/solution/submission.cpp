// The copy goes up in the current stream, the sum is computed in another, the result comes back in the first. With
// LABRIG_WAY one of the waits is missing.
#include "interface.hpp"

using namespace labrig;

#ifndef LABRIG_WAY
#define LABRIG_WAY ""
#endif

namespace {

constexpr std::string_view kWay = LABRIG_WAY;

// Whatever comes in `later` happens after all that is in `earlier`.
void order(Stream earlier, Stream later) {
  Event event(earlier.device());
  event.record(earlier);
  event.wait(later);
}

}  // namespace

class TwoStreams : public two_streams::Submission {
 public:
  Tensor twice(const Tensor& x, Device device) override {
    const Stream first = current_stream(device), second = new_stream(device);
    const Tensor source = x.clone().pin_memory();
    Tensor there = empty(x.sizes(), device), sum = empty(x.sizes(), device);
    there.set_name("there");
    sum.set_name("sum");
    there.copy_(source, /*non_blocking=*/true);
    if (kWay != "no_wait_for_the_copy") order(first, second);
    {
      const StreamGuard in_second(second);
      sum.copy_(add(there, there));
    }
    if (kWay == "result_left_on_the_card") return sum;
    order(second, first);
    if (kWay == "no_wait_for_the_result") return sum.to(Device{}, /*non_blocking=*/true);
    const Tensor back = sum.cpu();
    synchronize(device);
    return back;
  }
};

LABRIG_SUBMISSION(TwoStreams)
