// Random programs against an independent model of the specification (S6, S7): order by transitive closure of the rules,
// values by carrying commands out one after another. 10,000 programs, half of them as they come (most have races), half
// with their missing waits put in.
//
//   LABRIG_PROGRAM_SEED=7 LABRIG_PROGRAM_COUNT=1 sim-programs-test     one seed again
//
// Late mode is compared with a model of its own as well, races, poison and throttles included (late.hpp).
//
// How the model reads the specification where it leaves room:
//   - Waiting for the default stream adds the default stream's operations (and what they are behind), no others.
//   - A wait for an event that was never recorded is no operation, also in the default stream.
//   - A blocking copy from pageable memory orders the host behind it whatever its size.
//   - A piece of the arena that is given back is first touched (a hazard with each operation that is in flight
//     there), then everything on every card has been waited for; memory of the driver: everything on its card.
//   - A hazard is a pair of operations, or of an operation and a host access, however many bytes and kinds of conflict
//     lie between them. All pairs count, also where another access came in between.
//   - A host access poisons nothing: it meets the bytes that are there, and the operation in flight meets the host's.
//   - Memory of the driver that is given back lets the card carry out everything, as a throttle does, on every card.
#include <gtest/gtest.h>

#include <cstdlib>

#include "card_run.hpp"
#include "generate.hpp"
#include "judge.hpp"
#include "order.hpp"

namespace labrig::sim::programs {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

std::uint64_t first_seed() { return number_from("LABRIG_PROGRAM_SEED", 1); }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kPrograms = 300;
#else
constexpr std::uint64_t kPrograms = 5000;
#endif
std::uint64_t count() { return number_from("LABRIG_PROGRAM_COUNT", kPrograms); }

// Fails with the smallest program that still has the complaint. True when there is none.
bool passes(const Program& program, const std::function<std::string(const Program&)>& complaint) {
  if (complaint(program).empty()) return true;
  const Program smallest = shrunk(program, complaint);
  ADD_FAILURE() << to_text(smallest) << complaint(smallest);
  return false;
}

// As disagreement, of programs without a race only: the shrinker must not make one.
std::string disagreement_without_race(const Program& program) {
  return unordered_pairs(program).empty() ? disagreement(program) : "";
}

TEST(RandomPrograms, HaveTheHazardsThatNothingOrders) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count(); ++seed) {
    const Program program = random_program(seed);
    ASSERT_TRUE(passes(program, disagreement)) << "seed " << seed;
  }
}

TEST(RandomPrograms, WithTheirMissingWaitsHaveNoHazardAndNoWrongValue) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count(); ++seed) {
    const Program program = with_missing_waits(random_program(seed), seed);
    ASSERT_TRUE(unordered_pairs(program).empty());
    ASSERT_TRUE(passes(program, disagreement_without_race)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace labrig::sim::programs
