// Histories and snapshots: those of loops that really ran (lab 03), and those that are damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "evidence.hpp"
#include "faulty_loops.hpp"
#include "labrig/device.hpp"
#include "labrig/triage.hpp"
#include "public_case.hpp"

namespace labrig::triage {
namespace {

constexpr int kCauses = 9;

// A cause told from one number, as a student may try.
double right_share(const std::vector<std::pair<MemoryCause, MemoryHistory>>& cases, auto&& rule) {
  std::map<MemoryCause, std::pair<int, int>> counts;
  for (const auto& [cause, history] : cases) {
    auto& [right, all] = counts[cause];
    right += rule(history) == cause, ++all;
  }
  double sum = 0;
  for (const auto& [cause, count] : counts) sum += static_cast<double>(count.first) / count.second;
  return sum / static_cast<double>(counts.size());
}

TEST(TriageHistory, IsRightOnAllOfTwoHundredRecordedHistories) {
  std::vector<std::pair<MemoryCause, MemoryHistory>> cases;
  for (int i = 0; i < 200; ++i) {
    const auto cause = static_cast<MemoryCause>(i % kCauses);
    cases.emplace_back(cause, oom_triage::record_history(cause, 1000 + static_cast<std::uint64_t>(i)));
    const MemoryHistory& history = cases.back().second;
    const Diagnosis d = diagnose(history);
    EXPECT_EQ(d.cause, name_of(cause)) << i << "\n" << to_text(d) << to_json(history);
    EXPECT_TRUE(oom_triage::Evidence(history, d.rows).shows(cause)) << i << "\n" << to_text(d) << to_json(history);
  }
  // A single rule is not enough.
  EXPECT_LT(right_share(cases, [](const MemoryHistory&) { return MemoryCause::batch_too_big; }), 0.5);
  EXPECT_LT(right_share(cases,
                        [](const MemoryHistory& h) {
                          const bool rises = h.rows.back().allocated_bytes > h.rows.front().allocated_bytes;
                          return rises ? MemoryCause::losses_keep_graph : MemoryCause::batch_too_big;
                        }),
            0.5);
  EXPECT_LT(
      right_share(cases,
                  [](const MemoryHistory& h) { return h.failure ? MemoryCause::batch_too_big : MemoryCause::healthy; }),
      0.5);
}

TEST(TriageHistory, IsRightOnTheReadingsThatSomebodyReallyHad) {
  const MemoryHistory history = oom_triage::fairchem_history();
  const Diagnosis d = diagnose(history);
  EXPECT_EQ(d.cause, "eval_without_no_grad") << to_text(d);
  EXPECT_TRUE(oom_triage::Evidence(history, d.rows).shows(MemoryCause::eval_without_no_grad));
}

TEST(TriageHistory, ReadsWhatItWrites) {
  const MemoryHistory history = oom_triage::record_history(MemoryCause::fragmentation, 7);
  const std::string text = to_json(history);
  EXPECT_EQ(to_json(history_from_json(text).value()), text);
  EXPECT_EQ(to_json(triage::diagnose(text).value()), to_json(diagnose(history)));
}

TEST(TriageHistory, NamesThePlaceOfADamage) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"schema": "labrig.history/2", "rows": []})", "schema"},
      {R"({"schema": "labrig.history/1", "rows": 3})", "rows"},
      {R"({"schema": "labrig.history/1", "rows": [{"step": 1}]})", "rows[0].allocated_bytes"},
      {R"({"schema": "labrig.history/1", "rows": [{"step": 1, "allocated_bytes": -5}]})", "rows[0].allocated_bytes"},
      {R"({"schema": "labrig.history/1", "rows": [{"step": 1.5, "allocated_bytes": 5}]})", "rows[0].step"},
      {R"({"schema": "labrig.history/1", "rows": [7]})", "rows[0]"},
      {R"({"schema": "labrig.history/1", "card": [], "rows": []})", "card"},
      {R"({"schema": "labrig.history/1", "rows": [], "owners": [{"row": 4, "bytes": 1}]})", "owners[0].row"},
      {R"({"schema": "labrig.history/1", "rows": [], "failure": {"free_bytes": 1}})", "failure.requested_bytes"},
  };
  for (const auto& [text, place] : cases) {
    const Result<Diagnosis> found = triage::diagnose(text);
    ASSERT_FALSE(found.ok()) << text;
    EXPECT_EQ(found.error().code(), "bad-history");
    EXPECT_EQ(std::string(found.error().what()), "this history cannot be read: " + place);
  }
}

TEST(TriageHistory, ExtremeNumbersAreDiagnosedAndEmptyHistoriesRefused) {
  constexpr std::size_t kMost = ~std::size_t{0};
  EXPECT_THROW(diagnose(MemoryHistory{}), Error);
  EXPECT_EQ(triage::diagnose(R"({"schema": "labrig.history/1"})").error().code(), "bad-history");
  MemoryHistory history;
  history.failure = HistoryFailure{};
  EXPECT_EQ(diagnose(history).cause, "batch_too_big");
  history.card = {kMost, kMost};
  history.rows.assign(20, {0, "train", 1, kMost, kMost, 0, kMost, kMost});
  history.owners = {{19, "checkpoint", "", -1, kMost}};
  history.failure = {0, "train", "relu", kMost, kMost, kMost, 0, kMost, 0};
  EXPECT_FALSE(diagnose(history).cause.empty());
}

// --- snapshots ------------------------------------------------------------------------------------------------------

TEST(TriageSnapshot, OfOurOwnCoreGivesTheCauseOfTheErrorThatWasThrown) {
  lab::CostCardChanges changes;
  changes.capacity_bytes = std::size_t{96} << 20;
  lab::CostCard card("tiny-256mib", changes);
  record_memory_history(card.device());
  const auto floats = [&](std::int64_t mib) { return empty({mib * 262144}, card.device()); };
  {
    const Tensor large = floats(64);
  }
  const Tensor small = floats(16);
  std::string verdict;
  try {
    floats(64);
  } catch (const OutOfMemoryError& error) {
    verdict = error.what();
  }
  const Diagnosis of_message = diagnose(verdict).value();
  const Diagnosis of_snapshot = diagnose(memory_snapshot(card.device())).value();
  EXPECT_EQ(of_snapshot.cause, "fragmentation") << to_text(of_snapshot);
  EXPECT_EQ(of_message.cause, "fragmentation") << verdict << to_text(of_message);
}

TEST(TriageSnapshot, WithFramesSaysWhoHoldsTheMemory) {
  const std::string text = R"({"segments": [{"device": 1, "total_size": 20971520, "blocks": [
      {"size": 12582912, "state": "active_allocated", "frames": [
        {"filename": "/x/torch/nn/modules/linear.py", "line": 9, "name": "forward"},
        {"filename": "train.py", "line": 42, "name": "step"}]},
      {"size": 8388608, "state": "inactive", "frames": []}]}],
    "device_traces": [[], [{"action": "oom", "size": 1073741824, "device_free": 5242880}, {"action": "snapshot", "size": 0}]]})";
  const Diagnosis d = diagnose(text).value();
  EXPECT_EQ(d.subject, "device 1");
  EXPECT_EQ(d.cause, "capacity");
  EXPECT_NE(to_text(d).find("12.00 MiB in 1 blocks made at train.py:42 step"), std::string::npos) << to_text(d);
}

TEST(TriageSnapshot, ThatIsDamagedIsReadAsFarAsItGoes) {
  for (const char* text :
       {R"({"segments": []})", R"({"segments": [1, null, {"device": -7, "total_size": "x", "blocks": 5}]})",
        R"({"segments": {}, "device_traces": 3})",
        R"({"device_traces": [[{"action": 5, "size": 1e300}, {"action": "oom", "size": 1e300, "device_free": -1}]]})",
        R"([{"blocks": [{"size": 5, "state": "active_allocated"}], "total_size": 10}])"}) {
    const Result<Diagnosis> found = diagnose(text);
    ASSERT_TRUE(found.ok()) << text << found.error().message();
    EXPECT_FALSE(found.value().cause.empty());
  }
}

}  // namespace
}  // namespace labrig::triage
