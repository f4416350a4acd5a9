// The verdict: one run for each thing that can bound it, and the samples.
#include "bottleneck.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "model.hpp"
#include "samples.hpp"

namespace labrig::reports {
namespace {

constexpr double kMs = 1e9;  // picoseconds

Card card() { return {"a card", 1e10, 1e13, 4e13, 1e12, 2e10, 2e10}; }

// Of a run of 10 ms: how long each engine was busy, in ms.
Numbers counts(double compute, double up, double down, double overlap = 0) {
  return {{"time_ps", 10 * kMs},      {"busy_compute_ps", compute * kMs},
          {"busy_up_ps", up * kMs},   {"busy_down_ps", down * kMs},
          {"overlap", overlap * kMs}, {"launches", 100},
          {"h2d_copies", 7}};
}
Numbers with(Numbers numbers, std::string_view name, double value) {
  numbers.emplace_back(name, value);
  return numbers;
}

// A host that waits and works for so many ms.
Trace host(double waits, double works) {
  Trace trace;
  trace.timeline = {{"host", "wait", 0, 0, waits * kMs, 0, "value"},
                    {"host", "read", 0, waits * kMs, (waits + works) * kMs, 0, ""}};
  trace.end_ps = 10 * kMs;
  return trace;
}

Bound bound_of(const Numbers& metrics, const Trace* trace, const std::optional<Card>& of = card()) {
  const auto verdict = bottleneck_of(metrics, trace, of);
  if (!verdict) throw std::runtime_error("no verdict");
  EXPECT_FALSE(verdict->sentence.empty());
  return verdict->bound;
}

TEST(Bottleneck, IsTheBusWhenACopyEngineIsBusiest) {
  const Trace trace = host(8, 0);
  EXPECT_EQ(bound_of(counts(3, 6, 0), &trace), Bound::bus);
  EXPECT_EQ(bound_of(counts(3, 0, 6), &trace), Bound::bus);
  const auto verdict = bottleneck_of(counts(3, 0, 6), &trace, card());
  EXPECT_NE(verdict->sentence.find("the download engine was busy for 60 %"), std::string::npos) << verdict->sentence;
}

TEST(Bottleneck, IsTheBusiestEngineWhenTheyTakeTurnsWithoutAPause) {
  const Trace trace = host(9, 0);
  EXPECT_EQ(bound_of(counts(3.5, 4.5, 0), &trace), Bound::bus);
  EXPECT_EQ(bound_of(counts(3.5, 4.5, 0, 3.5), &trace), Bound::syncs) << "at once: half of the time is idle";
}

TEST(Bottleneck, IsArithmeticWhenItFillsTheComputeEngine) {
  // 6e10 flops at 1e13 a second: 6 ms of the 8.
  const Numbers metrics = with(with(counts(8, 1, 0), "device_flops", 6e10), "device_bytes", 1e9);
  EXPECT_EQ(bound_of(metrics, nullptr), Bound::arithmetic);
}

TEST(Bottleneck, TakesTheMatrixRateWhenTheRunWasFasterThanF32Allows) {
  // 2e11 flops in 8 ms: 20 ms in f32, 5 ms in matrix units; the bytes take 7 ms.
  const Numbers metrics = with(with(counts(8, 0, 0), "device_flops", 2e11), "device_bytes", 7e9);
  EXPECT_EQ(bound_of(metrics, nullptr), Bound::device_memory);
}

TEST(Bottleneck, IsDeviceMemoryWhenMovingBytesFillsTheComputeEngine) {
  const Numbers metrics = with(with(counts(8, 1, 0), "device_flops", 1e9), "device_bytes", 6e9);
  EXPECT_EQ(bound_of(metrics, nullptr), Bound::device_memory);
}

TEST(Bottleneck, IsLaunchesWhenKernelsAreTooSmallToFillTheCard) {
  const Numbers metrics = with(with(counts(8, 1, 0), "device_flops", 1e9), "device_bytes", 1e9);
  EXPECT_EQ(bound_of(metrics, nullptr), Bound::launches);
  const auto verdict = bottleneck_of(metrics, nullptr, card());
  EXPECT_NE(verdict->sentence.find("100 kernels took 80.0 us each on average"), std::string::npos) << verdict->sentence;
  EXPECT_NE(verdict->sentence.find("needs 10.0 us"), std::string::npos) << verdict->sentence;
}

TEST(Bottleneck, IsLaunchesWhenTheHostIsBusySubmitting) {
  const Trace trace = host(2, 1);
  EXPECT_EQ(bound_of(counts(3, 1, 0), &trace), Bound::launches);
  EXPECT_NE(
      bottleneck_of(counts(3, 1, 0), &trace, card())->sentence.find("100 kernels and 7 copies took the host 70 %"),
      std::string::npos);
}

TEST(Bottleneck, IsWaitsWhenTheHostStandsAndNoEngineIsBusy) {
  const Trace trace = host(6, 1);
  EXPECT_EQ(bound_of(counts(4, 1, 0), &trace), Bound::syncs);
  const auto verdict = bottleneck_of(with(counts(4, 1, 0), "syncs_value", 40), &trace, card());
  EXPECT_NE(verdict->sentence.find("60 % of the time (40 values read)"), std::string::npos) << verdict->sentence;
}

TEST(Bottleneck, IsWaitsFromAThirdOfTheTimeSinceTheQueueMustBeFilledAgain) {
  const Trace more = host(3.4, 0), less = host(3.2, 0);
  EXPECT_EQ(bound_of(counts(3, 1, 0), &more), Bound::syncs);
  EXPECT_EQ(bound_of(counts(3, 1, 0), &less), Bound::launches);
}

TEST(Bottleneck, IsDataWhenTheHostsOwnWorkTakesLongest) {
  const Trace trace = host(1, 7);
  EXPECT_EQ(bound_of(counts(2, 1, 0), &trace), Bound::data);
}

TEST(Bottleneck, DoesNotGuessAboutTheHostWithoutATimeline) {
  EXPECT_EQ(bound_of(counts(2, 1, 0), nullptr), Bound::host);
  EXPECT_EQ(bound_of(counts(8, 1, 0), nullptr, std::nullopt), Bound::arithmetic) << "no card: nothing to compare with";
}

TEST(Bottleneck, IsLeftOutWhereTheCardDidNothing) {
  EXPECT_FALSE(bottleneck_of({}, nullptr, card()));
  EXPECT_FALSE(bottleneck_of(counts(0, 0, 0), nullptr, card()));
  EXPECT_FALSE(bottleneck_of({{"busy_compute_ps", 5}, {"time_ps", 0}}, nullptr, card()));
}

TEST(Advice, IsToDoLessOfWhatTheReferenceDoesLess) {
  const Numbers reference = {
      {"time_ps", kMs}, {"h2d_bytes", 4096}, {"h2d_copies", 3}, {"launches", 10}, {"overlap", kMs / 4}};
  const auto told = [&](std::string_view name, double value) {
    Numbers yours = reference;
    for (auto& [known, number] : yours)
      if (known == "time_ps") number = 2 * kMs;
    std::erase_if(yours, [&](const auto& row) { return row.first == name; });
    if (value >= 0) yours.emplace_back(name, value);
    return advice_for(Bound::bus, yours, reference);
  };
  EXPECT_NE(told("h2d_bytes", 40960).find("moves 40.0 KiB against 4.00 KiB"), std::string::npos);
  EXPECT_NE(told("h2d_copies", 130).find("130 against 3 copies of as many bytes"), std::string::npos);
  EXPECT_NE(told("syncs_value", 16).find("reads 16 against 0 values"), std::string::npos);
  EXPECT_NE(told("launches", 100).find("100 against 10 kernels"), std::string::npos);
  EXPECT_NE(told("overlap", 0).find("in a stream of its own"), std::string::npos);
  EXPECT_NE(told("none", -1).find("are the reference's"), std::string::npos);
  EXPECT_NE(advice_for(Bound::bus, reference, reference).find("no longer than the reference"), std::string::npos);
  EXPECT_NE(advice_for(Bound::bus, reference, {}).find("Move fewer bytes"), std::string::npos);
}

TEST(Utilisation, CountsEachMomentOfTheHostOnceAndKnowsWhatACutRecordingTells) {
  Trace trace = host(4, 0);
  trace.timeline.push_back({"host", "wait", 0, 2 * kMs, 5 * kMs, 0, "copy"});
  EXPECT_DOUBLE_EQ(*utilisation_of(counts(3, 0, 0), &trace)->waits, 0.5);
  trace.cut = true;
  trace.end_ps = 5 * kMs;
  EXPECT_DOUBLE_EQ(*utilisation_of(counts(3, 0, 0), &trace)->waits, 1);
}

TEST(Bottleneck, OfTheSamplesIsWhatTheirAuthorsMeant) {
  const auto of = [](const std::string& name, const std::string& id) {
    const Report report = read_report(test::sample(name));
    for (const Case& c : report.cases) {
      if (c.id == id)
        return bottleneck_of(c.metrics, c.submission_trace ? &*c.submission_trace : nullptr, c.card)->bound;
    }
    ADD_FAILURE() << name << " has no case " << id;
    return Bound::host;
  };
  EXPECT_EQ(of("weights-every-batch", "sixteen-batches@desktop"), Bound::syncs) << "blocking copies in each batch";
  EXPECT_EQ(of("weights-every-batch", "twenty-batches@desktop"), Bound::syncs) << "the same program";
  EXPECT_EQ(of("solution", "sixteen-batches@desktop"), Bound::launches) << "small kernels, one after another";
  EXPECT_EQ(of("hazard", "a-slow-bus@t4"), Bound::bus);
}

}  // namespace
}  // namespace labrig::reports
