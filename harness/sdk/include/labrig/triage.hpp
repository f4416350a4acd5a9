// Triage: from what a run left behind (a recorded history, a memory snapshot, a table of readings, a pasted message) to
// the cause of its memory trouble, the numbers that show it, what to do next and what not to do. The rules and the
// inputs: docs/triage.md. `labrig triage FILE` prints it. A library of its own (labrig::triage), so that lab
// `oom-triage` can forbid it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "labrig/error.hpp"
#include "labrig/export.hpp"
#include "labrig/history.hpp"

namespace labrig::triage {

// A number that was read or computed; `name` ends in its unit ("requested_bytes").
struct Number {
  std::string name;
  double value = 0;
};

struct Diagnosis {
  std::string kind;                   // what the input was read as: "history", "message", "summary", "scales", ...
  std::string subject;                // which part of the input, where it has several: "b_to_zero", "GPU 1"
  std::string cause;                  // one stable word: "fragmentation"
  std::string title;                  // the cause as a sentence
  std::vector<std::string> evidence;  // the rows or the arithmetic that show it
  std::vector<std::string> todo;      // "do" in JSON
  std::vector<std::string> avoid;
  std::vector<std::string> unread;  // what the input does not say, or says in a way that could not be read
  std::vector<Number> numbers;
  // The evidence in a history or a table, from 0; the number behind the last row's is the failure.
  std::vector<std::int64_t> rows;
  std::vector<Diagnosis> parts;  // of an input with several subjects; the diagnosis itself is then its gravest part
};

// Diagnoses any of the inputs of docs/triage.md. Codes: `nothing-to-diagnose` for a text that is none of them,
// `bad-history` for a history that cannot be read, `bad-input` for a file of another kind.
LABRIG_API Result<Diagnosis> diagnose(std::string_view text);

// The cause of a history, decided by docs/triage.md's criteria in their order. Throws Error `bad-history` for one with
// neither a reading nor a failure.
LABRIG_API Diagnosis diagnose(const MemoryHistory& history);

// "eval_without_no_grad": the word of docs/triage.md, also in JSON.
LABRIG_API const char* name_of(MemoryCause cause);

// Schema labrig.history/1.
LABRIG_API Result<MemoryHistory> history_from_json(std::string_view text);
LABRIG_API std::string to_json(const MemoryHistory& history);

// Schema labrig.triage/1; ends with a newline.
LABRIG_API std::string to_json(const Diagnosis& diagnosis);
// For people, in lines; ends with a newline.
LABRIG_API std::string to_text(const Diagnosis& diagnosis);

}  // namespace labrig::triage
