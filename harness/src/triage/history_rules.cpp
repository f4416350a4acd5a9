// How a recorded history is diagnosed: the first rule of kRules that applies decides. The order is that of triage:
// others on the card, what is kept although nobody wants it, what grows; then the request that failed. A smaller batch
// is the last answer, not the first.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "labrig/triage.hpp"
#include "triage/advice.hpp"
#include "triage/history_case.hpp"
#include "triage/series.hpp"

namespace labrig::triage {
namespace {

constexpr double kShareOfTheCard = 0.25;    // others, from which on they are the cause
constexpr double kAboveTraining = 1.25;     // evaluation above training, by the medians
constexpr double kOneOperator = 0.9;        // of what has grown
constexpr double kCheckpointCounts = 0.05;  // of what is allocated

// --- the rules ----------------------------------------------------------------------------------------------------

bool others_hold_it(const Case& c) {
  const double others = c.others_bytes();
  return c.history.failure && others > 0 && others >= kShareOfTheCard * as_double(c.history.card.total_bytes) &&
         others + as_double(c.history.failure->free_bytes) >= as_double(c.history.failure->segment_bytes);
}

void say_others(const Case& c, Diagnosis& d) {
  const HistoryFailure& f = *c.history.failure;
  d.title = "Other processes hold the card";
  d.evidence.push_back(fmt::format("at the failure: total {} - context {} - reserved {} - free {} = {} of others",
                                   number_in(as_double(c.history.card.total_bytes), "MiB"),
                                   number_in(as_double(c.history.card.context_bytes), "MiB"),
                                   number_in(as_double(f.reserved_bytes), "MiB"),
                                   number_in(as_double(f.free_bytes), "MiB"), mib(c.others_bytes())));
  d.evidence.push_back(
      fmt::format("free + others = {} >= {}, which were asked of the driver: without them it would fit",
                  mib(as_double(f.free_bytes) + c.others_bytes()), mib(f.segment_bytes)));
  d.rows = {c.failure_row()};
  d.todo = {"see who they are (nvidia-smi); wait, end your own forgotten ones, or choose another card"};
  d.avoid = {"do not shrink the batch: it is a red herring, the memory is not yours to free"};
}

// The checkpoint's tensors at the last list of owners.
double checkpoint_bytes(const Case& c) {
  if (c.history.owners.empty()) return 0;
  const std::int64_t last = c.history.owners.back().row;
  double bytes = 0;
  for (const HistoryOwner& owner : c.history.owners)
    if (owner.row == last && owner.op == "checkpoint") bytes += as_double(owner.bytes);
  return bytes;
}

bool checkpoint_stays(const Case& c) {
  if (c.history.rows.empty()) return false;
  const double allocated =
      as_double(c.history.failure ? c.history.failure->allocated_bytes : c.history.rows.back().allocated_bytes);
  return checkpoint_bytes(c) > kCheckpointCounts * allocated;
}

void say_checkpoint(const Case& c, Diagnosis& d) {
  d.title = "Resuming: the loaded checkpoint stays on the card beside model and optimizer";
  const std::int64_t last = c.history.owners.back().row;
  d.rows = {last};
  d.evidence.push_back(
      fmt::format("owners at row {}: {} in tensors of the checkpoint, after it was loaded into the model", last,
                  mib(checkpoint_bytes(c))));
  for (std::size_t row = 0; row < c.history.rows.size(); ++row)
    if (c.history.rows[row].phase == "resume") {
      d.evidence.push_back(c.show(row));
      if (static_cast<std::int64_t>(row) != last) d.rows.push_back(static_cast<std::int64_t>(row));
    }
  d.todo = {
      "load the checkpoint to the host (map_location), copy it into model and optimizer, and let go of it before "
      "training starts"};
  d.avoid = {"do not shrink the batch: before the interruption the same batch did fit"};
}

bool eval_keeps_graphs(const Case& c) {
  if (c.eval.empty() || c.train.empty()) return false;
  const std::vector<double> eval = c.values(c.eval, &HistoryRow::allocated_bytes);
  return median(eval) > kAboveTraining * median(c.values(c.train, &HistoryRow::allocated_bytes)) && !rises(eval);
}

void say_eval(const Case& c, Diagnosis& d) {
  d.title = "Evaluation runs without no_grad: it keeps its graphs";
  const double train = median(c.values(c.train, &HistoryRow::allocated_bytes)),
               eval = median(c.values(c.eval, &HistoryRow::allocated_bytes));
  d.evidence.push_back(
      fmt::format("allocated, by the medians: {} in training, {} in evaluation ({:.1f} times as much), which "
                  "needs no graph",
                  mib(train), mib(eval), eval / train));
  d.evidence.push_back("it does not climb from one evaluation to the next: no leak");
  for (const std::size_t row : c.eval) {
    d.rows.push_back(static_cast<std::int64_t>(row));
    if (d.rows.size() <= 4) d.evidence.push_back(c.show(row));
  }
  d.todo = {"put the evaluation under no_grad (NoGradGuard, torch.no_grad())", "keep only detached numbers of it"};
  d.avoid = {"do not shrink the batch: training fits", "do not look for a leak"};
}

// One operator made nearly all that has grown: outputs. Several: the graph of a step.
bool of_one_operator(const Case& c) {
  double all = 0, most = 0;
  for (const auto& [op, bytes] : c.grown) all += bytes, most = std::max(most, bytes);
  if (all > 0) return most >= kOneOperator * all;
  // Without owners: a graph is about what a step holds beyond what stays.
  const HistoryRow &first = c.history.rows[c.climb->first], &last = c.history.rows[c.climb->second];
  const double a_step = as_double(last.allocated_bytes - first.allocated_bytes) /
                        as_double(static_cast<std::size_t>(last.step - first.step));
  const double working = first.peak_allocated_bytes > first.allocated_bytes
                             ? as_double(first.peak_allocated_bytes - first.allocated_bytes)
                             : 0;
  return a_step < 0.4 * working;
}

void say_climb(const Case& c, Diagnosis& d) {
  d.evidence.push_back(fmt::format("allocated only rises, over {} steps:",
                                   c.history.rows[c.climb->second].step - c.history.rows[c.climb->first].step));
  d.evidence.push_back(c.show(c.climb->first));
  d.evidence.push_back(c.show(c.climb->second));
  d.rows = {static_cast<std::int64_t>(c.climb->first), static_cast<std::int64_t>(c.climb->second)};
  for (const auto& [op, bytes] : c.grown)
    d.evidence.push_back(fmt::format("grown by {}: what {} made", mib(bytes), op));
  if (c.grown.empty())
    d.unread.push_back(
        "who holds the memory: the history lists no owners, so the two kinds of leak were "
        "told apart by the slope");
}

void say_losses(const Case& c, Diagnosis& d) {
  d.title = "Losses are kept with the graph of their step";
  say_climb(c, d);
  d.todo = {
      "keep the number, not the tensor: losses.append(loss.item()), or better a detached sum on the card and one "
      "item() at "
      "the end",
      "let go of the loss (and of retain_graph) after backward"};
  d.avoid = {"do not shrink the batch: it only takes longer", "do not call empty_cache: what is held is not cached"};
}

void say_outputs(const Case& c, Diagnosis& d) {
  d.title = "Outputs are kept on the card";
  say_climb(c, d);
  d.todo = {"move what must be kept to the host after each step, or keep only what is computed from it"};
  d.avoid = {"do not shrink the batch: it only takes longer", "do not call empty_cache: what is held is not cached"};
}

bool is_in_pieces(const Case& c) {
  if (!c.history.failure) return false;
  const HistoryFailure& f = *c.history.failure;
  const double request = as_double(f.requested_bytes), unallocated = c.unallocated_bytes();
  return f.largest_free_block_bytes < f.requested_bytes && as_double(f.free_bytes) < as_double(f.segment_bytes) &&
         (unallocated >= request || (unallocated >= request / 2 && unallocated + as_double(f.free_bytes) >= request));
}

void say_pieces(const Case& c, Diagnosis& d) {
  const HistoryFailure& f = *c.history.failure;
  d.title = "Fragmentation: enough is there, but in pieces";
  d.evidence.push_back(fmt::format("at the failure: unallocated in the cache {} - {} = {}, free {}, requested {}",
                                   number_in(as_double(f.reserved_bytes), "MiB"),
                                   number_in(as_double(f.allocated_bytes), "MiB"), mib(c.unallocated_bytes()),
                                   mib(f.free_bytes), mib(f.requested_bytes)));
  d.evidence.push_back(fmt::format("largest free block {} < requested {} <= free in all {}",
                                   mib(f.largest_free_block_bytes), mib(f.requested_bytes),
                                   mib(c.unallocated_bytes() + as_double(f.free_bytes))));
  d.rows = {c.failure_row()};
  d.todo = {
      "allocate the large sizes first and keep shapes fixed; let go of the small tensors that split large segments",
      "expandable_segments:True, or max_split_size_mb, before the program starts"};
  d.avoid = {"do not shrink the batch first: the memory is there", "do not call empty_cache each step"};
}

// What a step holds at most beyond what stays: of the steps before, and of the failing one by then.
double ordinary_step_bytes(const Case& c) {
  const std::size_t stays = c.history.rows.empty() ? 0 : c.history.rows.back().allocated_bytes;
  std::size_t most = c.history.failure->allocated_bytes - std::min(c.history.failure->allocated_bytes, stays);
  for (const std::size_t row : c.train) {
    const HistoryRow& r = c.history.rows[row];
    most = std::max(most, r.peak_allocated_bytes - std::min(r.peak_allocated_bytes, r.allocated_bytes));
  }
  return as_double(most);
}

bool is_spike(const Case& c) {
  const double ordinary = c.history.failure ? ordinary_step_bytes(c) : 0;
  return ordinary > 0 && as_double(c.history.failure->requested_bytes) > ordinary;
}

void say_spike(const Case& c, Diagnosis& d) {
  const HistoryFailure& f = *c.history.failure;
  d.title = "A spike: one operator asks for more than a whole step holds";
  d.evidence.push_back(fmt::format(
      "{} asked for {} in one request; an ordinary step holds {} at most beyond what stays, and {} were allocated then",
      f.op.empty() ? "the operator" : f.op, mib(f.requested_bytes), mib(ordinary_step_bytes(c)),
      mib(f.allocated_bytes)));
  d.rows = {c.failure_row()};
  d.todo = {
      fmt::format("split {}: process its input in parts, or use a form that does not build the whole intermediate",
                  f.op.empty() ? "that operator" : f.op),
      "look at the shape of its result: often all pairs are built where sums would do"};
  d.avoid = {"do not shrink the batch for one operator", "do not tune the cache: no cache has a block of this size"};
}

void say_batch(const Case& c, Diagnosis& d) {
  const HistoryFailure& f = *c.history.failure;
  d.title = "The batch is too big: memory is steady, and there is no room";
  d.evidence.push_back(fmt::format("at the failure: free {} + unallocated {} = {} < requested {}",
                                   number_in(as_double(f.free_bytes), "MiB"), number_in(c.unallocated_bytes(), "MiB"),
                                   mib(as_double(f.free_bytes) + c.unallocated_bytes()), mib(f.requested_bytes)));
  d.evidence.push_back(fmt::format("tensors hold {} of the card's {}; nothing had climbed before, and others hold {}",
                                   mib(f.allocated_bytes), mib(c.history.card.total_bytes), mib(c.others_bytes())));
  if (!c.train.empty()) {
    d.evidence.push_back("last training step before it: " + c.show(c.train.back()));
    d.rows = {static_cast<std::int64_t>(c.train.back())};
  }
  d.rows.push_back(c.failure_row());
  d.todo = {
      "halve the batch, or take it in micro-batches and accumulate gradients (each divided by its share of the batch)",
      "then mixed precision or checkpointing of activations; leave 20 % spare"};
  d.avoid = {"do not call empty_cache: unused segments were given back before the request failed",
             "do not retry with the same batch"};
}

// Two training rows ten steps apart, of one batch size where there are such: sizes that vary are no climb.
std::optional<std::pair<std::size_t, std::size_t>> rows_that_do_not_climb(const Case& c) {
  std::optional<std::pair<std::size_t, std::size_t>> best;
  std::pair<bool, double> least{true, 0};
  const std::size_t from = c.train.size() > 200 ? c.train.size() - 200 : 0;  // of a long run, the end
  for (std::size_t i = from; i < c.train.size(); ++i)
    for (std::size_t j = i + 1; j < c.train.size(); ++j) {
      const HistoryRow &a = c.history.rows[c.train[i]], &b = c.history.rows[c.train[j]];
      if (b.step - a.step < kStepsApart) continue;
      const std::pair<bool, double> badness{a.batch != b.batch,
                                            as_double(b.allocated_bytes) - as_double(a.allocated_bytes)};
      if (best && badness >= least) continue;
      best = {c.train[i], c.train[j]};
      least = badness;
    }
  return best;
}

void say_healthy(const Case& c, Diagnosis& d) {
  d.title = "Healthy: nothing failed, and nothing grows";
  const HistoryRow& last = c.history.rows.back();
  d.evidence.push_back(c.show(c.history.rows.size() - 1));
  if (last.reserved_bytes > last.allocated_bytes)
    d.evidence.push_back(fmt::format("reserved - allocated = {}: that is caching, and is given back when it is needed",
                                     mib(last.reserved_bytes - last.allocated_bytes)));
  if (const auto pair = rows_that_do_not_climb(c)) {
    d.evidence.push_back(fmt::format("allocated does not climb: {} in row {}, {} in row {}",
                                     mib(c.history.rows[pair->first].allocated_bytes), pair->first,
                                     mib(c.history.rows[pair->second].allocated_bytes), pair->second));
    d.rows = {static_cast<std::int64_t>(pair->first), static_cast<std::int64_t>(pair->second)};
  } else {
    d.rows = {static_cast<std::int64_t>(c.history.rows.size()) - 1};
  }
  d.todo = {"nothing"};
  d.avoid = {"do not call empty_cache to make reserved smaller: it slows the loop and frees nothing that is held"};
}

struct Rule {
  MemoryCause cause;
  bool (*applies)(const Case&);
  void (*say)(const Case&, Diagnosis&);
};
constexpr std::array kRules = {
    // Neither we nor the context hold a quarter of the card, and with it the request would have been served.
    Rule{MemoryCause::other_process, others_hold_it, say_others},
    // Tensors of a checkpoint are held after it was loaded.
    Rule{MemoryCause::resume_loads_state, checkpoint_stays, say_checkpoint},
    // Evaluation holds more than training, and does not climb.
    Rule{MemoryCause::eval_without_no_grad, eval_keeps_graphs, say_eval},
    // Allocated climbs; what has grown was made by one operator, or by several.
    Rule{MemoryCause::outputs_kept, [](const Case& c) { return c.climb && of_one_operator(c); }, say_outputs},
    Rule{MemoryCause::losses_keep_graph, [](const Case& c) { return c.climb.has_value(); }, say_losses},
    // Largest free block < request <= free in all.
    Rule{MemoryCause::fragmentation, is_in_pieces, say_pieces},
    // One request above all that an ordinary step holds.
    Rule{MemoryCause::operator_spike, is_spike, say_spike},
    // It failed, and it is none of these.
    Rule{MemoryCause::batch_too_big, [](const Case& c) { return c.history.failure.has_value(); }, say_batch},
    Rule{MemoryCause::healthy, [](const Case&) { return true; }, say_healthy},
};

}  // namespace

const char* name_of(MemoryCause cause) {
  static constexpr const char* kNames[] = {"healthy",           "other_process",  "eval_without_no_grad",
                                           "losses_keep_graph", "outputs_kept",   "batch_too_big",
                                           "fragmentation",     "operator_spike", "resume_loads_state"};
  return kNames[static_cast<int>(cause)];
}

Diagnosis diagnose(const MemoryHistory& history) {
  if (history.rows.empty() && !history.failure)
    throw Error("bad-history", "there is nothing to diagnose in this history", "it has no reading and no failure",
                "record a reading after each step, and the request that failed (docs/triage.md)");
  const Case c(history);
  Diagnosis d;
  d.kind = "history";
  for (const Rule& rule : kRules) {
    if (!rule.applies(c)) continue;
    d.cause = name_of(rule.cause);
    rule.say(c, d);
    break;
  }
  d.numbers = {{"total_bytes", as_double(history.card.total_bytes)}, {"others_bytes", c.others_bytes()}};
  if (history.failure) {
    d.numbers.push_back({"requested_bytes", as_double(history.failure->requested_bytes)});
    d.numbers.push_back({"free_bytes", as_double(history.failure->free_bytes)});
    d.numbers.push_back({"allocated_bytes", as_double(history.failure->allocated_bytes)});
    d.numbers.push_back({"reserved_bytes", as_double(history.failure->reserved_bytes)});
  }
  if (history.owners.empty()) d.unread.push_back("owners of blocks: the history has none");
  if (history.card.total_bytes == 0) d.unread.push_back("the card's total memory: others could not be looked for");
  return d;
}

}  // namespace labrig::triage
