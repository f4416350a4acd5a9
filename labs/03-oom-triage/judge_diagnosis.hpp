// Task 1's judge: which histories a case has, and what the answers to them are worth. Every cause weighs the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evidence.hpp"
#include "faulty_loops.hpp"
#include "history_text.hpp"
#include "labrig/lab.hpp"
#include "public_case.hpp"

namespace oom_triage {

inline std::string history_name(std::size_t i) { return "history." + std::to_string(i); }
inline std::string cause_name(std::size_t i) { return "cause." + std::to_string(i); }
inline std::string rows_name(std::size_t i) { return "rows." + std::to_string(i); }

inline constexpr std::array<const char*, kCauses> kCauseWords = {
    "healthy",       "other process", "evaluation without no_grad", "losses keep their graph",     "outputs kept",
    "batch too big", "fragmentation", "spike in one operator",      "resume loads the state early"};

// One history of a case, before it is recorded.
struct Patient {
  labrig::MemoryCause cause{};
  std::uint64_t seed = 0;
  bool is_public = false;  // the one of public_case.hpp
  labrig::MemoryHistory history() const { return is_public ? fairchem_history() : record_history(cause, seed); }
};

// `each` of every cause and the public case, in an order that says nothing.
inline std::vector<Patient> draw_patients(std::int64_t draw, std::int64_t each) {
  labrig::lab::Random random(static_cast<std::uint64_t>(draw));
  std::vector<Patient> patients = {{labrig::MemoryCause::eval_without_no_grad, 0, true}};
  for (int cause = 0; cause < kCauses; ++cause)
    for (std::int64_t i = 0; i < each; ++i)
      patients.push_back({static_cast<labrig::MemoryCause>(cause), random.bits(), false});
  for (std::size_t i = patients.size() - 1; i > 0; --i)
    std::swap(patients[i], patients[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i)))]);
  return patients;
}

// Right and wrong answers by cause.
class Tally {
 public:
  void add(labrig::MemoryCause cause, bool right) {
    auto& [good, all] = counts_[static_cast<std::size_t>(cause)];
    good += right ? 1 : 0;
    ++all;
  }
  double right() const {
    double sum = 0;
    for (const auto& [good, all] : counts_) sum += all == 0 ? 1 : static_cast<double>(good) / static_cast<double>(all);
    return sum / kCauses;
  }
  // "3 of 3 of fragmentation, 1 of 4 of outputs kept"
  std::string wrong_words() const {
    std::string text;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (const auto& [good, all] = counts_[i]; good < all)
        text += (text.empty() ? "" : ", ") + std::to_string(all - good) + " of " + std::to_string(all) + " of " +
                kCauseWords[i];
    return text;
  }

 private:
  std::array<std::pair<int, int>, kCauses> counts_ = {};
};

inline void judge_diagnosis(const std::vector<Patient>& patients, const labrig::lab::Values& in,
                            const labrig::lab::Values& out, labrig::lab::Verdict& verdict) {
  Tally causes, rows;
  std::array<int, kCauses> said_wrongly = {};
  for (std::size_t i = 0; i < patients.size(); ++i) {
    const std::int64_t said = out.integer(cause_name(i));
    const bool right = said == static_cast<std::int64_t>(patients[i].cause);
    causes.add(patients[i].cause, right);
    if (!right && said >= 0 && said < kCauses) ++said_wrongly[static_cast<std::size_t>(said)];
    const labrig::MemoryHistory history = from_text(in.text(history_name(i)));
    const auto named = out.tensor(rows_name(i)).data<const std::int64_t>();
    rows.add(patients[i].cause, right && Evidence(history, {named.begin(), named.end()}).shows(patients[i].cause));
  }
  const std::size_t most = static_cast<std::size_t>(std::ranges::max_element(said_wrongly) - said_wrongly.begin());
  // The shares are the rule's; the findings say which were wrong.
  verdict.figures["diagnoses_right"] = causes.right();
  verdict.figures["evidence_right"] = rows.right();
  const std::string word = kCauseWords[most];
  std::string code = "says-" + word;
  std::ranges::replace_if(code, [](char c) { return c == ' ' || c == '_'; }, '-');
  verdict.findings["diagnosis"] = {0, code, "wrong: " + causes.wrong_words() + "; most often it was called " + word};
  verdict.findings["evidence"] = {0, "rows-do-not-show-it",
                                  "rows that do not show the cause, or belong to a wrong one: " + rows.wrong_words()};
}

}  // namespace oom_triage
