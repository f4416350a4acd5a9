// What a table of readings says: the first rule that applies decides, in the order of questions of docs/triage.md. A
// table has no owners of blocks, so two kinds of leak look alike in it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "triage/advice.hpp"
#include "triage/amount.hpp"
#include "triage/readings.hpp"
#include "triage/series.hpp"

namespace labrig::triage {
namespace {

constexpr double kAbove = 1.2;    // evaluation above training
constexpr double kFix = 1.5;      // a fix that shows
constexpr double kSpike = 1.8;    // one reading above the median of its phase
constexpr double kCaching = 1.5;  // reserved above allocated
constexpr double kFull = 0.9;     // of the card

struct Table {
  explicit Table(const Readings& readings);

  const Readings& readings;
  const Column* main = nullptr;   // the sizes that are judged: before a fix, allocated first
  const Column* after = nullptr;  // the same after it
  std::vector<double> train, eval, other, eval_after, train_after;

  std::vector<double> values(const Column* column, std::string_view phase) const {
    std::vector<double> result;
    if (!column) return result;
    for (const Reading& reading : column->readings)
      if (reading.phase == phase) result.push_back(reading.value);
    return result;
  }
  std::vector<std::int64_t> rows_of(std::string_view phase) const {
    std::vector<std::int64_t> rows;
    for (const Reading& reading : main->readings)
      if (reading.phase == phase) rows.push_back(reading.row);
    return rows;
  }
  std::string show(double value) const {
    return main->unit == "bytes" ? exactly(value).text : fmt::format("{:.1f} {}", value, main->unit);
  }
  // What stands for the loop where the table has no phases.
  const std::vector<double>& loop() const { return train.empty() ? other : train; }
  std::string loop_phase() const {
    return train.empty() && !main->readings.empty() ? main->readings.front().phase : "train";
  }
};

Table::Table(const Readings& all) : readings(all) {
  for (const char* what : {"allocated", "peak", "reserved", "free", "total"})
    for (const char* version : {"before", "", "after"})
      if (!main) main = readings.find(what, version);
  after = main->version == "before" ? readings.find(main->what, "after") : nullptr;
  train = values(main, "train"), eval = values(main, "eval");
  train_after = values(after, "train"), eval_after = values(after, "eval");
  for (const Reading& reading : main->readings)
    if (reading.phase != "train" && reading.phase != "eval") other.push_back(reading.value);
}

std::string list(const std::vector<double>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < 12; ++i)
    text += fmt::format("{}{:.0f}", i > 0 ? ", " : "", values[i]);
  return values.size() > 12 ? text + ", ..." : text;
}

// --- the rules ----------------------------------------------------------------------------------------------------

bool others_hold_it(const Table& t) {
  const Column *total = t.readings.find("total", ""), *free = t.readings.find("free", ""),
               *held = t.readings.find("reserved", "");
  if (!held) held = t.readings.find("allocated", "");
  if (!total || !free || !held || total->unit != free->unit || total->unit != held->unit) return false;
  const double outside = total->readings.back().value - free->readings.back().value - held->readings.back().value;
  return outside > 0.25 * total->readings.back().value &&
         free->readings.back().value < 0.1 * total->readings.back().value;
}

void say_others(const Table& t, Diagnosis& d) {
  const Column *total = t.readings.find("total", ""), *free = t.readings.find("free", "");
  const Column* held =
      t.readings.find("reserved", "") ? t.readings.find("reserved", "") : t.readings.find("allocated", "");
  d.title = "Others hold the card";
  d.evidence.push_back(
      fmt::format("last row: total {} - free {} - {} {} = {} that are not this process's cache",
                  t.show(total->readings.back().value), t.show(free->readings.back().value), held->what,
                  t.show(held->readings.back().value),
                  t.show(total->readings.back().value - free->readings.back().value - held->readings.back().value)));
  d.rows = {total->readings.back().row};
  d.todo = {"see who it is (nvidia-smi), wait, or choose another card"};
  d.avoid = {"do not shrink the batch first: the memory is not yours to free"};
}

bool eval_keeps_graphs(const Table& t) {
  if (t.train.empty() || t.eval.empty() || rises(t.eval)) return false;
  const double train = median(t.train), eval = median(t.eval);
  if (eval >= kAbove * train) return true;
  return !t.eval_after.empty() && eval >= 0.9 * train && eval >= kFix * median(t.eval_after);
}

void say_eval(const Table& t, Diagnosis& d) {
  const double train = median(t.train), eval = median(t.eval);
  d.title = "Evaluation keeps its graphs: it runs without no_grad";
  d.evidence.push_back(
      fmt::format("median of {} in training {}, in evaluation {}: {:.1f} times as much, though evaluation "
                  "needs no graph",
                  t.main->name, t.show(train), t.show(eval), eval / train));
  d.evidence.push_back(
      fmt::format("evaluation rows ({}): {}; no steady rise (rank correlation {:.2f}), so nothing piles up "
                  "from step to step",
                  t.main->unit.empty() ? t.main->name : t.main->unit, list(t.eval), trend(t.eval)));
  if (!t.eval_after.empty() && median(t.eval_after) > 0)
    d.evidence.push_back(fmt::format("after the fix the median in evaluation is {}: {:.1f} times less; in training {}",
                                     t.show(median(t.eval_after)), eval / median(t.eval_after),
                                     t.train_after == t.train ? "nothing changed" : t.show(median(t.train_after))));
  d.rows = t.rows_of("eval");
  d.todo = {"put the evaluation under no_grad (NoGradGuard, torch.no_grad() or inference_mode())",
            "keep from it only detached numbers, and let go of the outputs before the next batch"};
  d.avoid = {"do not look for a leak: nothing grows from step to step",
             "do not shrink the batch: training fits with the same one"};
}

void say_leak(const Table& t, Diagnosis& d) {
  const Ends e = ends(t.loop());
  d.title = "A leak: memory is kept from step to step";
  d.evidence.push_back(
      fmt::format("{} rises from {} (median of the first third) to {} (last third); rank correlation with "
                  "time {:.2f}",
                  t.main->name, t.show(e.first), t.show(e.last), trend(t.loop())));
  const std::vector<std::int64_t> rows = t.rows_of(t.loop_phase());
  d.rows = {rows.front(), rows.back()};
  d.todo = {
      "look for what is kept: losses.append(loss) keeps the graph of each step (keep loss.item(), or a detached sum), "
      "outputs and predictions kept on the card, closures and globals",
      "halve the batch: a leak still climbs, at half the slope if graphs are kept"};
  d.avoid = {"do not shrink the batch and go on: it only takes longer",
             "do not call empty_cache: what is held is not cached"};
  d.unread.push_back("who holds the memory: a table does not say (graphs of kept losses, or kept outputs)");
}

void say_eval_leak(const Table& t, Diagnosis& d) {
  const Ends e = ends(t.eval);
  d.title = "Evaluation keeps its outputs on the card";
  d.evidence.push_back(fmt::format("{} in evaluation rises from {} to {} (rank correlation {:.2f})", t.main->name,
                                   t.show(e.first), t.show(e.last), trend(t.eval)));
  const std::vector<std::int64_t> rows = t.rows_of("eval");
  d.rows = {rows.front(), rows.back()};
  d.todo = {
      "move what is kept to the host (or keep numbers), and run the evaluation under no_grad: an output without it "
      "keeps its whole graph"};
  d.avoid = {"do not call empty_cache between the batches: what is held is not cached"};
}

bool has_spike(const Table& t) {
  const std::vector<double>& values = t.loop();
  if (values.size() < 5) return false;
  const double middle = median(values);
  const auto high = std::count_if(values.begin(), values.end(), [middle](double v) { return v > kSpike * middle; });
  return high > 0 && static_cast<std::size_t>(high) * 10 <= values.size() + 9;
}

void say_spike(const Table& t, Diagnosis& d) {
  d.title = "A spike: single steps need far more than the others";
  for (const Reading& reading : t.main->readings)
    if (reading.phase == t.loop_phase() && reading.value > kSpike * median(t.loop())) {
      d.rows.push_back(reading.row);
      d.evidence.push_back(fmt::format("row {}: {} against a median of {}", reading.row, t.show(reading.value),
                                       t.show(median(t.loop()))));
    }
  d.todo = {"find the operator or the batch of that step (the longest sequence, the largest image) and split it"};
  d.avoid = {"do not shrink every batch for it"};
}

bool only_reserved_is_high(const Table& t) {
  const Column* reserved = t.readings.find("reserved", t.main->version);
  if (!reserved || t.main->what != "allocated" || rises(t.loop())) return false;
  std::vector<double> values;
  for (const Reading& reading : reserved->readings) values.push_back(reading.value);
  return median(values) >= kCaching * median(t.loop());
}

void say_caching(const Table& t, Diagnosis& d) {
  const Column* reserved = t.readings.find("reserved", t.main->version);
  std::vector<double> values;
  for (const Reading& reading : reserved->readings) values.push_back(reading.value);
  d.title = "Healthy: reserved above allocated is caching";
  d.evidence.push_back(
      fmt::format("median allocated {}, median reserved {}; allocated does not rise (rank correlation {:.2f})",
                  t.show(median(t.loop())), t.show(median(values)), trend(t.loop())));
  d.todo = {"nothing: the cache is given back when it is needed"};
  d.avoid = {"do not call empty_cache: it slows the loop and frees nothing that is held"};
}

bool fills_the_card(const Table& t) {
  const Column* total = t.readings.find("total", "");
  return total && total->unit == t.main->unit && median(t.loop()) >= kFull * total->readings.back().value;
}

void say_full(const Table& t, Diagnosis& d) {
  const double total = t.readings.find("total", "")->readings.back().value;
  d.title = "The batch is too big: steady, and no room";
  d.evidence.push_back(fmt::format("{} stays at {} of {} ({:.0f} %) and does not rise", t.main->name,
                                   t.show(median(t.loop())), t.show(total), 100 * median(t.loop()) / total));
  d.todo = capacity_advice();
  d.avoid = {"do not look for a leak: nothing grows"};
}

void say_steady(const Table& t, Diagnosis& d) {
  d.title = "Nothing in these readings is out of the ordinary";
  const std::vector<double>& loop = t.loop().empty() ? t.eval : t.loop();
  d.evidence.push_back(fmt::format("{} readings of {}: median {}, no steady rise (rank correlation {:.2f})",
                                   loop.size(), t.main->name, t.show(median(loop)), trend(loop)));
  if (!t.train.empty() && !t.eval.empty())
    d.evidence.push_back(
        fmt::format("evaluation {} is not above training {}", t.show(median(t.eval)), t.show(median(t.train))));
  d.todo = {"read on: the message of a failure, or readings up to it, would say more"};
  d.avoid = {"do not change what runs well"};
}

struct Rule {
  const char* cause;
  bool (*applies)(const Table&);
  void (*say)(const Table&, Diagnosis&);
};
constexpr std::array kRules = {
    Rule{"other_process", others_hold_it, say_others},
    Rule{"eval_without_no_grad", eval_keeps_graphs, say_eval},
    Rule{"leak", [](const Table& t) { return rises(t.loop()); }, say_leak},
    Rule{"outputs_kept", [](const Table& t) { return rises(t.eval); }, say_eval_leak},
    Rule{"operator_spike", has_spike, say_spike},
    Rule{"batch_too_big", fills_the_card, say_full},
    Rule{"healthy", only_reserved_is_high, say_caching},
    Rule{"healthy", [](const Table&) { return true; }, say_steady},
};

}  // namespace

Diagnosis diagnose(const Readings& readings) {
  const Table table(readings);
  Diagnosis d;
  d.kind = "readings";
  for (const Rule& rule : kRules) {
    if (!rule.applies(table)) continue;
    d.cause = rule.cause;
    rule.say(table, d);
    break;
  }
  if (!readings.has_phase)
    d.unread.push_back("the phase of a row (training, evaluation): the table has no such column");
  if (!readings.has_step) d.unread.push_back("the step of a row: taken in the order of the rows");
  if (table.main->unit.empty()) d.unread.push_back("the unit of " + table.main->name + ": only ratios are used");
  d.unread.insert(d.unread.end(), readings.unread.begin(), readings.unread.end());
  if (!table.train.empty()) d.numbers.push_back({"median_train", median(table.train)});
  if (!table.eval.empty()) d.numbers.push_back({"median_eval", median(table.eval)});
  if (!table.eval_after.empty()) d.numbers.push_back({"median_eval_after", median(table.eval_after)});
  return d;
}

}  // namespace labrig::triage
