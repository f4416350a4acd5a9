// Reading logs of loss scales, and the ordered rules that judge them.
#include "triage/scales.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "triage/amount.hpp"
#include "triage/message.hpp"

namespace labrig::triage {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string show(double scale) { return fmt::format("{:g}", scale); }

// --- reading --------------------------------------------------------------------------------------------------------

// A number, "inf" or "nan" at the start of a compact text.
std::optional<double> value_at(std::string_view text) {
  if (const auto number = number_at(text.substr(0, 48))) return number->value;
  if (text.starts_with("inf")) return kInfinity;
  if (text.starts_with("nan")) return std::nan("");
  return std::nullopt;
}

// The number behind "loss_scale" in a compact text: "=0.062", ":65536", "to32768.0", "':128".
std::optional<double> scale_behind(std::string_view text) {
  for (bool again = true; again;) {
    again = false;
    while (!text.empty() && std::string_view(":=_'\"(->").find(text.front()) != text.npos)
      text.remove_prefix(1), again = true;
    for (const std::string_view word : {"factor", "isnow", "update", "to", "is", "of", "now"})
      if (text.starts_with(word)) text.remove_prefix(word.size()), again = true;
  }
  return value_at(text);
}

// --- the shape of a log --------------------------------------------------------------------------------------

struct Shape {
  explicit Shape(const ScaleLog& log);

  const std::vector<double>& scales;
  std::size_t ups = 0, downs = 0;
  std::size_t first_fall = 0;  // entries from the start that only fall, without rest
  std::size_t last_fall = 0;   // the same at the end
  std::size_t plateau = 0;     // equal entries right before the last fall
  std::size_t below_one = 0;
  bool finite = true, probes = true;  // every fall takes back a rise, to the level before

  double first() const { return scales.front(); }
  double last() const { return scales.back(); }
  double smallest() const { return *std::min_element(scales.begin(), scales.end()); }
  double largest() const { return *std::max_element(scales.begin(), scales.end()); }
  std::size_t entries() const { return scales.size(); }
};

Shape::Shape(const ScaleLog& log) : scales(log.scales) {
  const std::size_t n = scales.size();
  for (const double scale : scales) finite = finite && std::isfinite(scale), below_one += scale < 1;
  while (first_fall + 1 < n && scales[first_fall + 1] < scales[first_fall]) ++first_fall;
  while (last_fall + 1 < n && scales[n - 1 - last_fall] < scales[n - 2 - last_fall]) ++last_fall;
  const std::size_t top = n - 1 - last_fall;
  while (plateau < top && scales[top - plateau - 1] == scales[top]) ++plateau;
  double level = scales[first_fall];  // what the scaler had settled at before it rose
  for (std::size_t i = first_fall + 1; i < n; ++i) {
    if (scales[i] > scales[i - 1]) {
      ++ups;
      level = scales[i - 1];
    } else if (scales[i] < scales[i - 1]) {
      ++downs;
      probes = probes && scales[i] >= level;
    }
  }
}

// --- the rules ----------------------------------------------------------------------------------------------------

constexpr std::size_t kLongFall = 10;  // halvings without one good step
constexpr std::size_t kShortFall = 4;  // more than a few bad steps in a row
constexpr std::size_t kSettled = 5;    // equal entries
constexpr double kOften = 0.05;        // of the steps

bool never_a_good_step(const ScaleLog& log, const Shape& s) {
  if (log.good_steps) return false;
  if (log.reached_minimum && s.last_fall + 1 >= s.entries()) return true;
  return s.last_fall >= kLongFall && s.last() < 1 && s.plateau + 1 < kSettled;
}

bool falls_late(const ScaleLog& log, const Shape& s) {
  const bool settled_before = log.good_steps || s.plateau + 1 >= kSettled || s.entries() - s.last_fall > 2 * kLongFall;
  if (s.last_fall >= kShortFall && settled_before) return true;
  return log.nan_loss || (log.reached_minimum && s.last() < 1);
}

void say_not_finite(const ScaleLog&, const Shape& s, Diagnosis& d) {
  d.title = "The scale itself is no longer finite";
  d.evidence.push_back(fmt::format("the log of {} entries holds inf or nan", s.entries()));
  d.todo = {"let the scale grow only while it stays finite (the library's scaler does, from release 2.0 on)",
            "go back to a checkpoint with a finite scale"};
  d.avoid = {"do not go on from this state: every gradient is inf or nan, and every step is skipped"};
}

void say_forward(const ScaleLog& log, const Shape& s, Diagnosis& d) {
  d.title = "Not finite whatever the scale: the inf or nan comes from the forward, and scaling cannot help";
  d.evidence.push_back(fmt::format("{} to {} in {} steps down in a row, without one good step",
                                   show(s.scales[s.entries() - 1 - s.last_fall]), show(s.last()), s.last_fall));
  if (s.below_one > 0)
    d.evidence.push_back(
        fmt::format("{} entries are below 1: there the gradients were scaled down, and still overflowed", s.below_one));
  if (s.smallest() < std::numeric_limits<float>::denorm_min() && s.below_one > 0)
    d.evidence.push_back(
        fmt::format("a float is zero below {}; this scale is kept in double precision, which hides the zero for longer",
                    show(std::numeric_limits<float>::denorm_min())));
  if (log.reached_minimum) d.evidence.push_back("the scaler gave up at its smallest scale");
  d.todo = {
      "look for the first inf or nan in the forward: check the loss and the outputs of each layer before backward, on "
      "the first batch",
      "run one step in f32: if it is finite there, an operator overflows in f16 (sums, exp, squares, an attention "
      "mask of -1e9); compute it in f32, or use bf16",
      "if it is not finite in f32 either, look at the data and the initial weights"};
  d.avoid = {"do not lower the initial or the smallest scale, and do not change the growth: no scale makes inf finite",
             "do not go on training: no step has been taken"};
}

void say_divergence(const ScaleLog& log, const Shape& s, Diagnosis& d) {
  const double before = s.scales[s.entries() - 1 - s.last_fall];
  d.title = "A late collapse: the data or a divergence, not the scaler";
  if (s.last_fall > 0)
    d.evidence.push_back(
        fmt::format("steady at {} for {} entries, then {} steps down in a row to {} (entries {} to {})", show(before),
                    s.plateau + 1, s.last_fall, show(s.last()), s.entries() - s.last_fall, s.entries() - 1));
  if (log.nan_loss) d.evidence.push_back("a loss in the log is nan or inf");
  if (log.reached_minimum) d.evidence.push_back("the scaler gave up at its smallest scale");
  d.todo = {"look at the loss and the gradients' norm of the steps right before the fall: they leave with it",
            "look at the batches there (an empty target, a zero division, an outlier); then at the learning rate",
            "go back to a checkpoint before the fall, with clipping after unscale_ or a lower rate; compare with f32"};
  d.avoid = {"do not tune the scaler (initial scale, interval, smallest scale): it only reports what happened"};
}

void say_does_not_fit(const ScaleLog&, const Shape& s, Diagnosis& d) {
  d.title = "The model does not fit f16: its gradients overflow even unscaled";
  d.evidence.push_back(fmt::format("{} of {} entries are below 1, between {} and {}", s.below_one, s.entries(),
                                   show(s.smallest()), show(s.largest())));
  if (s.ups > 0)
    d.evidence.push_back(
        fmt::format("{} times up, {} times down: good steps happen, so the forward is finite", s.ups, s.downs));
  if (s.entries() < kSettled) d.unread.push_back("how the log goes on: it has few entries");
  d.todo = {
      "use bf16 where the card has it: it has the range of f32",
      "else keep the operators with large values in f32 (losses that sum, norms, attention scores), or divide the "
      "loss (mean instead of sum)"};
  d.avoid = {"do not raise the scale, and do not set a smallest scale of 1: then every step would be skipped",
             "do not take it for normal: a scale below 1 pushes small gradients out of f16's range"};
}

void say_frequent(const ScaleLog&, const Shape& s, Diagnosis& d) {
  d.title = "Overflows happen often: the scale is grown too soon, or gradients have spikes";
  d.evidence.push_back(fmt::format("{} falls in {} entries ({:.0f} %), between {} and {}", s.downs, s.entries(),
                                   100.0 * static_cast<double>(s.downs) / static_cast<double>(s.entries()),
                                   show(s.smallest()), show(s.largest())));
  d.todo = {"look at the gradients' norm: spikes come from the data or the learning rate",
            "give the scaler its usual interval (2000 steps), or use bf16"};
  d.avoid = {"do not count skipped steps as steps of the schedule"};
}

void say_probe(const ScaleLog& log, const Shape& s, Diagnosis& d) {
  d.title = "Normal: the scaler tries a larger scale and takes it back";
  d.evidence.push_back(
      log.only_overflows
          ? fmt::format("the scale falls back to {} each time, so it had doubled in between", show(s.last()))
          : fmt::format("{} times up and {} times down, always back to the level before ({})", s.ups, s.downs,
                        show(s.smallest())));
  d.todo = {"nothing: one step in an interval is skipped"};
  d.avoid = {"do not switch off the growth: the scale would miss the time when gradients become small"};
}

void say_healthy(const ScaleLog&, const Shape& s, Diagnosis& d) {
  d.title = "Healthy: the scaler has found its scale";
  if (s.first_fall > 0)
    d.evidence.push_back(
        fmt::format("{} from {} to {} at the start, then no further fall in {} entries: the initial scale was "
                    "too high, and was corrected",
                    s.first_fall == 1 ? "one step" : fmt::format("{} steps", s.first_fall), show(s.first()),
                    show(s.scales[s.first_fall]), s.entries() - 1 - s.first_fall));
  else
    d.evidence.push_back(fmt::format("between {} and {} in {} entries, and never a fall that lasts", show(s.smallest()),
                                     show(s.largest()), s.entries()));
  d.todo = {"nothing; a few skipped steps at the start are how the scale is found"};
  d.avoid = {"do not look for a fault in the model because of this message: a skipped step is no error"};
}

void say_undecided(const ScaleLog&, const Shape& s, Diagnosis& d) {
  d.title = "The scale was still falling when the log ends";
  d.evidence.push_back(fmt::format("{} to {} in {} steps down", show(s.first()), show(s.last()), s.last_fall));
  d.todo = {
      "wait: it is healthy when it settles at 1 or above; if it passes 1 without a good step, the forward is not "
      "finite"};
  d.avoid = {"do not change the scaler before that"};
  d.unread.push_back("how the log goes on");
}

struct Rule {
  const char* cause;
  bool (*applies)(const ScaleLog&, const Shape&);
  void (*say)(const ScaleLog&, const Shape&, Diagnosis&);
};
// The first that applies decides.
constexpr std::array kRules = {
    Rule{"scale_not_finite", [](const ScaleLog&, const Shape& s) { return !s.finite; }, say_not_finite},
    Rule{"forward_not_finite", never_a_good_step, say_forward},
    Rule{"divergence", falls_late, say_divergence},
    Rule{"does_not_fit_f16", [](const ScaleLog&, const Shape& s) { return 2 * s.below_one > s.entries(); },
         say_does_not_fit},
    Rule{"growth_probe",
         [](const ScaleLog& log, const Shape& s) {
           if (log.only_overflows) return s.entries() - s.first_fall >= 3 && s.last() == s.scales[s.first_fall];
           return s.downs > 0 && s.probes;
         },
         say_probe},
    Rule{"undecided",
         [](const ScaleLog&, const Shape& s) { return s.last_fall >= kShortFall && s.last_fall + 1 == s.entries(); },
         say_undecided},
    Rule{"frequent_overflow",
         [](const ScaleLog& log, const Shape& s) {
           return !log.only_overflows && s.downs >= 3 &&
                  static_cast<double>(s.downs) > kOften * static_cast<double>(s.entries());
         },
         say_frequent},
    Rule{"healthy", [](const ScaleLog&, const Shape&) { return true; }, say_healthy},
};

// Which of several logs is told first.
int gravity(const std::string& cause) {
  static constexpr std::array kOrder = {"healthy",          "growth_probe", "undecided",          "frequent_overflow",
                                        "does_not_fit_f16", "divergence",   "forward_not_finite", "scale_not_finite"};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), cause) - kOrder.begin());
}

}  // namespace

std::optional<ScaleLog> read_scale_lines(std::string_view original) {
  const std::string text = compact(original);
  ScaleLog log;
  bool only_overflows = true, any_overflow = false;
  for (std::size_t at = text.find("scale"); at != std::string::npos; at = text.find("scale", at + 1)) {
    const std::string_view behind = std::string_view(text).substr(at + 5, 120);
    if (behind.starts_with("r")) continue;  // "loss scaler 0"
    const std::string_view before = std::string_view(text).substr(at > 24 ? at - 24 : 0, std::min<std::size_t>(at, 24));
    if (before.find("loss") == before.npos && before.find("grad") == before.npos && before.find("amp") == before.npos)
      continue;
    const std::optional<double> value = scale_behind(behind);
    if (!value) continue;
    const bool attempted = before.ends_with("attemptedloss");
    const bool after_fall = before.ends_with("reducingloss") || before.ends_with("settingloss");
    const bool is_limit = before.ends_with("minimumloss") || before.ends_with("minloss") ||
                          before.ends_with("min_loss_") || before.ends_with("initialloss") ||
                          before.ends_with("initloss");
    if (is_limit) continue;
    // "Attempted loss scale: 65536, reducing to 32768": both, so that a rise in between shows.
    if (!attempted || log.scales.empty() || log.scales.back() != *value) log.scales.push_back(*value);
    only_overflows = only_overflows && (attempted || after_fall);
    any_overflow = any_overflow || attempted || after_fall;
    const std::size_t reducing = behind.find(",reducingto");
    if (attempted && reducing < 40)
      if (const auto to = value_at(behind.substr(reducing + 11))) log.scales.push_back(*to);
  }
  log.reached_minimum = text.find("minimumlossscalereached") != std::string::npos ||
                        text.find("lossscalealreadyatminimum") != std::string::npos;
  for (const char* nan : {"loss=nan", "loss:nan", "loss':nan", "lossnan", "loss=inf", "loss:inf", "loss':inf"})
    log.nan_loss = log.nan_loss || text.find(nan) != std::string::npos;
  if (log.scales.empty()) return std::nullopt;
  log.good_steps = any_overflow && !only_overflows;
  log.only_overflows = only_overflows && text.find("attemptedlossscale") == std::string::npos;
  return log;
}

std::optional<ScaleLog> read_plain_scales(std::string_view text) {
  ScaleLog log;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (std::string_view(" \t\r\n,;[]").find(c) != std::string_view::npos) {
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \t\r\n,;[]", at), text.size());
    const auto number = number_at(text.substr(at, end - at));
    if (number && number->length == end - at)
      log.scales.push_back(number->value);
    else if (text.substr(at, end - at) == "inf" || text.substr(at, end - at) == "Infinity")
      log.scales.push_back(kInfinity);
    else if (text.substr(at, end - at) == "nan" || text.substr(at, end - at) == "NaN")
      log.scales.push_back(std::nan(""));
    else
      return std::nullopt;
    at = end;
  }
  if (log.scales.size() < 3) return std::nullopt;
  return log;
}

Diagnosis diagnose(const ScaleLog& log) {
  const Shape shape(log);
  Diagnosis d;
  d.kind = "scales";
  d.subject = log.name;
  for (const Rule& rule : kRules) {
    if (!rule.applies(log, shape)) continue;
    d.cause = rule.cause;
    rule.say(log, shape, d);
    break;
  }
  if (log.only_overflows) d.unread.push_back("the steps between two overflows: the log names overflows only");
  d.unread.insert(d.unread.end(), log.unread.begin(), log.unread.end());
  d.numbers = {
      {"entries", static_cast<double>(shape.entries())}, {"first_scale", shape.first()}, {"last_scale", shape.last()}};
  return d;
}

Diagnosis diagnose(const std::vector<ScaleLog>& logs) {
  std::vector<Diagnosis> parts;
  for (const ScaleLog& log : logs) parts.push_back(diagnose(log));
  if (parts.size() == 1) return parts.front();
  Diagnosis d = *std::max_element(parts.begin(), parts.end(), [](const Diagnosis& a, const Diagnosis& b) {
    return gravity(a.cause) < gravity(b.cause);
  });
  d.evidence.insert(d.evidence.begin(), fmt::format("{} logs; the gravest is {}", parts.size(), d.subject));
  for (const Diagnosis& part : parts)
    if (part.subject != d.subject)
      d.evidence.push_back(fmt::format("{}: {} ({})", part.subject, part.cause, part.title));
  d.parts = std::move(parts);
  return d;
}

}  // namespace labrig::triage
