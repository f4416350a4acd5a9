// A few hundred of the random programs in the language of a submission, in both homes of the card.
#include <gtest/gtest.h>

#include "../test_worker.hpp"
#include "generate.hpp"
#include "judge.hpp"
#include "library_run.hpp"
#include "on_machine.hpp"

namespace labrig::sim::programs {
namespace {

struct Ran {
  LibraryRun run;
  Report report;
};

Ran ran(const Program& program, Mode mode) {
  OnMachine on("desktop", mode, true, kCards);
  Ran result;
  result.run = run_with_library(program);
  result.report = on.report();
  return result;
}

// As disagreement, of a program of the library.
std::string complaint(const Program& program) {
  const Ran eager = ran(program, Mode::eager), late = ran(program, Mode::late);
  std::string text = late.report.violation_text;
  if (eager.run.answers != late.run.answers) text += "queries are answered differently in the two modes\n";
  if (eager.run.places != late.run.places) text += "memory is handed out differently in the two modes\n";
  if (to_rows(eager.report.metrics) != to_rows(late.report.metrics)) text += "metrics differ between the two modes\n";
  const Program where_it_was = placed(program, late.run.places);
  const std::vector<Pair> unordered = unordered_pairs(where_it_was, late.run.answers);
  text += wrong_values(eager.run.seen, sequential_values(where_it_was, {}), "eager");
  text += wrong_values(late.run.seen, sequential_values(where_it_was, unordered), "late");
  text += wrong_hazards(where_it_was, late.report, unordered, false);
  return text;
}

TEST(LibraryPrograms, AgreeWithTheModel) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const bool mended : {false, true}) {
      const Program raw = random_program(seed);
      const Program program = for_the_library(mended ? with_missing_waits(raw, seed) : raw);
      if (complaint(program).empty()) continue;
      const Program smallest = shrunk(program, complaint);
      FAIL() << to_text(smallest) << complaint(smallest) << "seed " << seed;
    }
  }
}

TEST(LibraryPrograms, AreTheSameInBothHomes) {
  const MachineOptions options = OnMachine::options("desktop", Mode::late, true, kCards);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Program program = for_the_library(random_program(seed));
    LibraryRun run;
    Report here;
    {
      InProcessMachine machine(options);
      begin_region();
      run = run_with_library(program);
      finish_region();
      here = machine.report();
    }
    CardProcess card(LABRIG_TEST_DEVICE, options);
    Worker worker(card, "judged", seed);
    EXPECT_EQ(worker.wait().errors, run.text()) << to_text(program);
    const auto there = card.report(10'000);
    ASSERT_TRUE(there);
    EXPECT_EQ(to_rows(there->metrics), to_rows(here.metrics)) << to_text(program);
    ASSERT_EQ(there->hazards.size(), here.hazards.size());
    for (std::size_t i = 0; i < here.hazards.size(); ++i) EXPECT_EQ(there->hazards[i].text, here.hazards[i].text);
    EXPECT_EQ(there->notes, here.notes);
  }
}

}  // namespace
}  // namespace labrig::sim::programs
