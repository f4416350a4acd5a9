// What to do about a bound depends on what the reference did: nobody is told to move fewer bytes who moves as many.
#include <fmt/format.h>

#include <vector>

#include "bottleneck.hpp"
#include "units.hpp"

namespace labrig::reports {
namespace {

constexpr double kMore = 1.15, kAsFast = 1.1;

struct Sides {
  const Numbers &yours, &reference;
  double of(const Numbers& numbers, const std::vector<std::string_view>& names) const {
    double sum = 0;
    for (const std::string_view name : names) sum += find(numbers, name).value_or(0);
    return sum;
  }
  bool more(const std::vector<std::string_view>& names) const {
    return of(yours, names) > kMore * of(reference, names);
  }
  // "2,069 against 53"
  std::string beside(const std::vector<std::string_view>& names, std::string_view unit = "") const {
    return fmt::format("{} against {}", human(of(yours, names), unit), human(of(reference, names), unit));
  }
};

const std::vector<std::string_view> kBytes = {"h2d_bytes", "d2h_bytes"}, kCopies = {"h2d_copies", "d2h_copies"},
                                    kLaunches = {"launches"}, kOverlap = {"overlap"}, kFlops = {"device_flops"},
                                    kDeviceBytes = {"device_bytes"}, kValues = {"syncs_value"},
                                    kBlocking = {"syncs_copy"}, kExplicit = {"syncs_explicit"},
                                    kImplicit = {"syncs_implicit"};

// What the run does more often than the reference, whatever bounds it: the first that it does is what to do less.
std::string excess(const Sides& sides) {
  if (sides.more(kValues))
    return fmt::format("It reads {} values on the host: keep results on the card, and fetch them once.",
                       sides.beside(kValues));
  if (sides.more(kExplicit))
    return fmt::format("It asks {} times for a wait: wait only where the host needs a result, or its buffer again.",
                       sides.beside(kExplicit));
  if (sides.more(kBytes))
    return fmt::format("It moves {}: keep on the card what is used again, and make there what can be made there.",
                       sides.beside(kBytes, "bytes"));
  if (sides.more(kCopies))
    return fmt::format("It makes {} copies of as many bytes, and each has a fixed price: copy whole tensors.",
                       sides.beside(kCopies));
  if (sides.more(kBlocking))
    return fmt::format("It waits for {} blocking copies: copy from pinned memory with non_blocking.",
                       sides.beside(kBlocking));
  if (sides.more(kImplicit))
    return fmt::format("It stops {} times in the driver: take memory once and use it again.", sides.beside(kImplicit));
  if (sides.more(kLaunches))
    return fmt::format("It launches {} kernels: batch small operations into one call.", sides.beside(kLaunches));
  if (sides.more(kFlops))
    return fmt::format("It computes {}: something is done more than once.", sides.beside(kFlops, "flops"));
  if (sides.more(kDeviceBytes))
    return fmt::format("Its kernels read and write {}: fewer passes over the same tensors, or a smaller type.",
                       sides.beside(kDeviceBytes, "bytes"));
  if (kMore * sides.of(sides.yours, kOverlap) < sides.of(sides.reference, kOverlap))
    return fmt::format(
        "Copies and kernels run at once for {}: copy from pinned memory in a stream of its own, while "
        "kernels run.",
        sides.beside(kOverlap, "ps"));
  return "Bytes, copies, kernels and waits are the reference's: compare the two timelines for where the time goes.";
}

std::string general(Bound bound) {
  switch (bound) {
    case Bound::data:
      return "Prepare the next batch while the card works: more workers, prefetching, memory pinned once.";
    case Bound::bus:
      return "Move fewer bytes, keep on the card what is used again, and copy from pinned memory while kernels run.";
    case Bound::syncs:
      return "Each wait empties the queue: keep results on the card and fetch them once, and copy without blocking.";
    case Bound::launches:
      return "Fewer and larger operations: batch small ones into one call; take memory once and use it again.";
    case Bound::arithmetic:
      return "This is where a card should be. What is left: a smaller type that matrix units take, or less arithmetic.";
    case Bound::device_memory:
      return "Do more with each byte once it is loaded: fewer passes over the same tensors, or a smaller type.";
    case Bound::host:
      return "";
  }
  return "";
}

}  // namespace

std::string advice_for(Bound bound, const Numbers& yours, const Numbers& reference) {
  const auto mine = find(yours, "time_ps"), theirs = find(reference, "time_ps");
  if (!mine || !theirs || !(*theirs > 0)) return general(bound);
  if (*mine <= kAsFast * *theirs) return "It takes no longer than the reference.";
  return excess({yours, reference});
}

}  // namespace labrig::reports
