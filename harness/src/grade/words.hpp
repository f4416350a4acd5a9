// What a report says in words: texts with their placeholders filled, where and why points were lost, the verdict, and
// the one next step. Internal to grade/.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "grade/points.hpp"

namespace labrig::grade {

// "bytes", "ps", "flops" or "" (a count), by the names of the metrics.
std::string unit_of(const std::vector<std::string>& metric);

// {value}, {reference}, {limit}, {ratio}, {case} and {unit} of one case replaced; other braces stay.
std::string fill(std::string_view text, const CaseShare& share);

// Why the share was lost. What a call that did not come back says is not the lab's text: its braces stay.
std::string reason_text(const CaseShare& share);

// {what, where, cause, next, evidence}; null when nothing was lost.
nlohmann::ordered_json explain(const spec::LabSpec& spec, const CheckResult& result);

// One sentence. `score` and `max_score` in points.
std::string verdict_sentence(const spec::LabSpec& spec, std::span<const CheckResult> results, double score,
                             double max_score, bool passed);
// {check, text, command}: what explain() says to do about the first check to mend; null when no points were lost.
nlohmann::ordered_json next_step(const spec::LabSpec& spec, std::span<const CheckResult> results);

}  // namespace labrig::grade
