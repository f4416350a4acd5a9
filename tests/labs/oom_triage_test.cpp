// The histories of lab 03, looked at from within: they repeat, they show their cause, and no single rule tells them
// apart. How submissions do with them is in the lab's table (matrix_test.cpp).
#include <gtest/gtest.h>

#include <functional>

#include "judge_diagnosis.hpp"

namespace labrig::test {
namespace {

using namespace oom_triage;

const std::vector<Patient>& patients() {
  static const std::vector<Patient> drawn = draw_patients(20260801, 3);
  return drawn;
}
const MemoryHistory& history_of(std::size_t i) {
  static const std::vector<MemoryHistory> recorded = [] {
    std::vector<MemoryHistory> histories;
    for (const Patient& patient : patients()) histories.push_back(patient.history());
    return histories;
  }();
  return recorded[i];
}

TEST(FaultyLoops, GiveTheSameHistoryForTheSameSeed) {
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(to_text(patients()[i].history()), to_text(history_of(i)));
  EXPECT_NE(to_text(record_history(MemoryCause::healthy, 1)), to_text(record_history(MemoryCause::healthy, 2)));
}

// The rows that somebody would name: the failure, both ends of training, evaluation, where a checkpoint was held.
std::vector<std::vector<std::int64_t>> rows_worth_naming(const MemoryHistory& history) {
  std::vector<std::int64_t> train, eval, checkpoint;
  for (std::size_t i = 0; i < history.rows.size(); ++i) {
    if (history.rows[i].phase == "train") train.push_back(static_cast<std::int64_t>(i));
    if (history.rows[i].phase == "eval") eval.push_back(static_cast<std::int64_t>(i));
  }
  if (!train.empty()) train = {train.front(), train.back()};
  for (const HistoryOwner& owner : history.owners)
    if (owner.op == "checkpoint") checkpoint.push_back(owner.row);
  return {{static_cast<std::int64_t>(history.rows.size())}, train, eval, checkpoint};
}

TEST(FaultyLoops, ShowTheirCauseInTheirRows) {
  for (std::size_t i = 0; i < patients().size(); ++i) {
    const MemoryCause cause = patients()[i].cause;
    bool shown = false;
    for (const auto& rows : rows_worth_naming(history_of(i)))
      shown = shown || Evidence(history_of(i), rows).shows(cause);
    EXPECT_TRUE(shown) << kCauseWords[static_cast<std::size_t>(cause)] << '\n' << to_text(history_of(i));
    EXPECT_FALSE(Evidence(history_of(i), {}).shows(cause)) << "no row shows nothing";
  }
}

TEST(FaultyLoops, TravelAsText) {
  for (std::size_t i = 0; i < patients().size(); ++i)
    EXPECT_EQ(to_text(from_text(to_text(history_of(i)))), to_text(history_of(i)));
}

// Half of the points of the check, or more, must not be had for one rule: from 0.65 on there is half.
TEST(FaultyLoops, CannotBeToldByOneRule) {
  using Rule = std::function<MemoryCause(const MemoryHistory&)>;
  const auto constant = [](MemoryCause cause) -> Rule { return [cause](const MemoryHistory&) { return cause; }; };
  std::vector<Rule> rules;
  for (int cause = 0; cause < kCauses; ++cause) rules.push_back(constant(static_cast<MemoryCause>(cause)));
  for (const MemoryCause leak : {MemoryCause::losses_keep_graph, MemoryCause::outputs_kept})
    for (const MemoryCause otherwise : {MemoryCause::healthy, MemoryCause::batch_too_big}) {
      rules.emplace_back([=](const MemoryHistory& h) {  // allocated rises, so it leaks
        return h.rows.back().allocated_bytes > h.rows.front().allocated_bytes ? leak : otherwise;
      });
      rules.emplace_back([=](const MemoryHistory& h) {  // reserved is far above allocated, so it leaks
        return h.rows.back().reserved_bytes > 2 * h.rows.back().allocated_bytes ? leak : otherwise;
      });
    }
  rules.emplace_back([](const MemoryHistory& h) {  // it failed, so the batch is too big
    return h.failure ? MemoryCause::batch_too_big : MemoryCause::healthy;
  });
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    Tally tally;
    for (std::size_t i = 0; i < patients().size(); ++i)
      tally.add(patients()[i].cause, rules[rule](history_of(i)) == patients()[i].cause);
    EXPECT_LT(tally.right(), 0.65) << "rule " << rule << ": " << tally.right();
  }
}

}  // namespace
}  // namespace labrig::test
