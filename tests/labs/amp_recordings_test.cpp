// What lab 04 says of PyTorch is what PyTorch did: its tables (labs/04-amp) against the recordings in
// tests/golden/core. And that 16 bits are worth their while in its job.
#include <gtest/gtest.h>

#include <set>

#include "04-amp/recorded_autocast.hpp"
#include "04-amp/scaler_sequences.hpp"
#include "conform/json_file.hpp"
#include "run_labrig.hpp"

namespace labrig::test {
namespace {

using nlohmann::json;

json golden(const std::string& name) {
  return conform::JsonFile::read(std::string(LABRIG_SOURCE) + "/tests/golden/core/" + name + ".json.gz").value().json();
}

TEST(AmpLab, HasTheRecordedAutocastTable) {
  std::map<std::string, std::string> recorded;  // operator -> letters, in the order of the recording
  const std::map<std::string, char> letters = {{"torch.float32", 'f'}, {"torch.float16", 'h'}, {"torch.bfloat16", 'b'}};
  for (const json& row : golden("autocast")) {
    std::string& results = recorded[row[0].get<std::string>()];
    const bool half = results.size() < 4;
    const std::string low = half ? "torch.float16" : "torch.bfloat16";
    const std::size_t place = results.size() % 4;
    ASSERT_EQ(row[1], low);
    ASSERT_EQ(row[2], place < 2 ? "torch.float32" : low);
    ASSERT_EQ(row[3], place % 2 == 0 ? "torch.float32" : low);
    const auto result = row[4].get<std::string>();
    results += result.starts_with("error") ? 'x' : letters.at(result);
  }
  ASSERT_EQ(amp_lab::kRecordedOps.size(), recorded.size());
  for (const amp_lab::RecordedOp& op : amp_lab::kRecordedOps)
    EXPECT_EQ(op.results, recorded[std::string(op.name)]) << op.name;
}

// As in interface.hpp: what happened in each iteration of a recorded scaler.
amp_lab::Sequence sequence_of(const json& recorded) {
  amp_lab::Sequence sequence;
  sequence.options = {recorded.at("init"), recorded.at("growth"), recorded.at("backoff"), recorded.at("interval")};
  std::string plan;
  for (const json& row : recorded.at("rows")) {
    const std::string planted = row.at("bad").is_string() ? row.at("bad").get<std::string>() : "";
    const bool unscales = row.at("explicit_unscale");
    plan += planted == "inf"   ? (unscales ? 'I' : 'i')
            : planted == "nan" ? (unscales ? 'N' : 'n')
                               : (unscales ? 'u' : '.');
  }
  sequence.plans = {plan};
  return sequence;
}

TEST(AmpLab, HasTheRecordedScalersAndComesToTheirScales) {
  const json recorded = golden("grad_scaler");
  ASSERT_EQ(recorded.size(), amp_lab::recorded_sequences().size());
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    SCOPED_TRACE("scaler " + std::to_string(i));
    const amp_lab::Sequence& ours = amp_lab::recorded_sequences()[i];
    const amp_lab::Sequence theirs = sequence_of(recorded[i]);
    EXPECT_EQ(ours.plans, theirs.plans);
    EXPECT_EQ(ours.options.init_scale, theirs.options.init_scale);
    EXPECT_EQ(ours.options.growth_factor, theirs.options.growth_factor);
    EXPECT_EQ(ours.options.backoff_factor, theirs.options.backoff_factor);
    EXPECT_EQ(ours.options.growth_interval, theirs.options.growth_interval);
    const std::vector<amp_lab::Row> right = amp_lab::right_rows(ours);
    const json& rows = recorded[i].at("rows");
    ASSERT_EQ(right.size(), rows.size());
    for (std::size_t r = 0; r < right.size(); ++r) {
      EXPECT_EQ(right[r].scale, rows[r].at("scale_after").get<double>()) << r;
      EXPECT_EQ(right[r].tracker, rows[r].at("growth_tracker").get<double>()) << r;
      EXPECT_EQ(right[r].optimizers[0].stepped == 0, rows[r].at("skipped").get<bool>()) << r;
      EXPECT_FLOAT_EQ(static_cast<float>(right[r].optimizers[0].parameter), rows[r].at("param")[1].get<float>()) << r;
    }
  }
}

// Whatever is drawn, a scaler without one of its parts has to be noticed.
TEST(AmpLab, DrawsSequencesThatGrowBackOffAndResumeInTheMiddle) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    lab::Random random(seed);
    int resumed = 0, unscaled = 0, several = 0;
    for (const amp_lab::Sequence& sequence : amp_lab::draw_sequences(random)) {
      const std::vector<amp_lab::Row> rows = amp_lab::right_rows(sequence);
      double before = sequence.options.init_scale;
      bool grew = false, fell = false;
      for (const amp_lab::Row& row : rows) {
        grew = grew || row.scale > before;
        fell = fell || row.scale < before;
        before = row.scale;
      }
      EXPECT_TRUE(fell) << seed;
      EXPECT_TRUE(grew || sequence.options.init_scale > 1e37) << seed;
      several += sequence.plans.size() > 1 ? 1 : 0;
      unscaled += sequence.plans[0].find_first_of("uIN") != std::string::npos ? 1 : 0;
      if (sequence.resume_at < 0) continue;
      ++resumed;
      const amp_lab::Row& saved = rows[static_cast<std::size_t>(sequence.resume_at) - 1];
      EXPECT_GT(saved.tracker, 0) << seed;
      EXPECT_NE(saved.scale, amp_lab::ScalerOptions{}.init_scale) << seed;
    }
    EXPECT_EQ(resumed, 3);
    EXPECT_EQ(unscaled, 3);
    EXPECT_EQ(several, 3);
  }
}

TEST(AmpLab, NeedsAtMostSevenTenthsOfTheMemoryOfF32) {
  const Outcome outcome = run_labrig({"grade", plugin("amp", "all_f32"), "--lab", "amp", "--json"});
  int jobs = 0;
  const json report = json::parse(outcome.text);
  for (const json& one : report.at("cases")) {
    if (one.at("kind") != "job") continue;
    ++jobs;
    EXPECT_LE(one.at("reference").at("peak_allocated_bytes").get<double>(),
              0.7 * one.at("metrics").at("peak_allocated_bytes").get<double>())
        << one.at("id");
  }
  EXPECT_GT(jobs, 0);
}

}  // namespace
}  // namespace labrig::test
