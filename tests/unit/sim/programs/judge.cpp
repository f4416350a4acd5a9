// Two runs of a program, eager and late, against brute force.
#include "judge.hpp"

#include <cmath>
#include <sstream>

#include "card_run.hpp"
#include "order.hpp"
#include "sequential.hpp"

namespace labrig::sim::programs {
namespace {

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string wrong_values(const Program& program, const Run& run, const std::vector<Pair>& unordered, const char* mode) {
  const std::vector<Value> right = sequential_values(program, unordered);
  std::ostringstream text;
  if (run.seen.size() != right.size()) {
    text << mode << ": " << run.seen.size() << " values seen, " << right.size() << " expected\n";
    return text.str();
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (right[i].doubtful || same(run.seen[i], right[i].value)) continue;
    text << mode << ": value " << i << " is " << run.seen[i] << " instead of " << right[i].value << "\n";
    break;
  }
  return text.str();
}

Hazard::Kind kind_of(Conflict conflict) {
  switch (conflict) {
    case Conflict::read_after_write:
      return Hazard::Kind::read_after_write;
    case Conflict::write_after_read:
      return Hazard::Kind::write_after_read;
    case Conflict::write_after_write:
      return Hazard::Kind::write_after_write;
    case Conflict::freed_in_flight:
      return Hazard::Kind::freed_in_flight;
  }
  return Hazard::Kind::freed_in_flight;
}

std::string text_of(const Program& program, const Pair& pair) {
  static constexpr const char* kNames[] = {"read after write", "write after read", "write after write", "freed"};
  return "  " + to_text(program, pair.earlier) + "  AND  " + to_text(program, pair.later) + ": " +
         kNames[static_cast<std::size_t>(pair.conflict)] + "\n";
}

bool names(const Hazard::Side& side, const Program& program, std::size_t command) {
  if (!is_operation(program.commands[command].kind)) return side.host;
  return side.what.find(tag_of(command)) != std::string::npos;
}

std::string wrong_hazards(const Program& program, const Report& report, const std::vector<Pair>& expected) {
  std::ostringstream text;
  if (report.metrics.hazards != count_of(expected)) {
    text << report.metrics.hazards << " hazards reported, " << count_of(expected) << " pairs are unordered\n";
  }
  for (const Hazard& hazard : report.hazards) {
    bool known = false;
    for (const Pair& pair : expected) {
      known = known || (hazard.kind == kind_of(pair.conflict) && names(hazard.earlier, program, pair.earlier) &&
                        names(hazard.later, program, pair.later));
    }
    if (!known) text << "reported, but ordered: " << hazard.text << "\n";
  }
  if (text.str().empty()) return "";
  for (const Pair& pair : expected) text << text_of(program, pair);
  for (const Hazard& hazard : report.hazards) text << hazard.count << "x " << hazard.text << "\n";
  return text.str();
}

}  // namespace

std::string disagreement(const Program& program) {
  const Run eager = run_on_card(program, Mode::eager), late = run_on_card(program, Mode::late);
  std::string text;
  for (const Run* run : {&eager, &late}) {
    if (!run->report.violation_text.empty()) text += "refused: " + run->report.violation_text + "\n";
  }
  if (eager.answers != late.answers) text += "queries are answered differently in the two modes\n";
  if (to_rows(eager.report.metrics) != to_rows(late.report.metrics)) text += "metrics differ between the two modes\n";
  const std::vector<Pair> unordered = unordered_pairs(program, eager.answers);
  text += wrong_values(program, eager, {}, "eager");
  text += wrong_values(program, late, unordered, "late");
  text += wrong_hazards(program, eager.report, unordered);
  text += wrong_hazards(program, late.report, unordered);
  return text;
}

Program shrunk(const Program& program, const std::function<std::string(const Program&)>& complaint) {
  Program smallest = program;
  for (bool again = true; again;) {
    again = false;
    for (std::size_t length = smallest.commands.size() / 2 + 1; length >= 1; length /= 2) {
      for (std::size_t at = 0; at < smallest.commands.size();) {
        Program shorter = smallest;
        const auto first = shorter.commands.begin() + static_cast<std::ptrdiff_t>(at);
        const auto left = static_cast<std::ptrdiff_t>(std::min(length, smallest.commands.size() - at));
        shorter.commands.erase(first, first + left);
        shorter = legal(shorter);
        if (complaint(shorter).empty()) {
          at += length;
        } else {
          smallest = shorter;
          again = true;
        }
      }
    }
  }
  return smallest;
}

}  // namespace labrig::sim::programs
