// Lab 04, amp: what a submission gets, how it is called, and what its answers must be. Memory and time stand in
// lab.toml; here are the policy, the scaler and what training comes to.
#include "labrig/lab.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "baseline.hpp"
#include "interface.hpp"
#include "recorded_autocast.hpp"
#include "scaler_differences.hpp"
#include "scaler_sequences.hpp"

namespace amp_lab {

using namespace labrig;

inline std::string numbered(const char* what, std::size_t i) { return std::string(what) + "." + std::to_string(i); }

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Amp {
 public:
  using Submission = amp_lab::Submission;

  void inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    if (s.kind == "policy") return policy_inputs(in);
    if (s.kind == "scaler") return scaler_inputs(s, data, in);
    job_inputs(s, data, in);
  }

  void call(lab::Call& call, Submission& submission) {
    if (call.inputs().has("operators")) return call_policy(call, submission);
    if (call.inputs().has("sequences")) return call_scaler(call, submission);
    const Trained trained = submission.train(job_of(call.inputs()), call.device());
    if (trained.losses.defined()) call.output("losses", trained.losses);
    const std::vector<Tensor> parameters = parameters_of(trained.network);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].defined()) call.output(numbered("parameter", i), parameters[i]);
  }

  void judge(const lab::Scenario& s, const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    if (s.kind == "policy") return judge_policy(out, verdict);
    if (s.kind == "scaler") return judge_scaler(in, out, verdict);
    if (s.kind == "clip") return judge_clipping(in, out, verdict);
    judge_losses(s, in, out, verdict);
  }

 private:
  // --- policy --------------------------------------------------------------------------------------------------------
  struct Types {
    Dtype low, a, b;
  };
  static Types types_of(int number) {
    const Dtype low = number < kCasesPerOp / 2 ? kF16 : kBF16;
    return {low, (number & 2) != 0 ? low : kF32, (number & 1) != 0 ? low : kF32};
  }

  void policy_inputs(lab::Values& in) {
    std::string names;
    for (const RecordedOp& op : kRecordedOps) names += std::string(op.name) + "\n";
    in.set("operators", names);
  }

  void call_policy(lab::Call& call, Submission& submission) {
    const std::vector<std::string> names = lines_of(call.inputs().text("operators"));
    std::vector<std::int64_t> answers;
    for (const std::string& name : names)
      for (int i = 0; i < kCasesPerOp; ++i) {
        const Types types = types_of(i);
        const std::optional<Dtype> answer = submission.precision_of(name, types.low, types.a, types.b);
        answers.push_back(answer ? static_cast<std::int64_t>(*answer) : -1);
      }
    call.output("answers", tensor<std::int64_t>(answers));
  }

  static std::string result_text(std::int64_t answer) {
    if (answer < 0) return "refused";
    for (const Dtype dtype : {kF32, kF16, kBF16})
      if (answer == static_cast<std::int64_t>(dtype)) return name_of(dtype);
    return "another type";
  }
  static std::int64_t recorded(char letter) {
    if (letter == 'x') return -1;
    return static_cast<std::int64_t>(letter == 'f' ? kF32 : letter == 'h' ? kF16 : kBF16);
  }

  // The family with the fewest right answers decides: a table that is right about products and wrong about sums is
  // wrong where it hurts.
  void judge_policy(const lab::Values& out, lab::Verdict& verdict) {
    const auto answers = out.tensor("answers").data<const std::int64_t>();
    if (answers.size() != kRecordedOps.size() * kCasesPerOp)
      return verdict.wrong("wrong-shape", "there is not one answer for each question");
    std::array<int, kFamilyNames.size()> items{}, wrong{};
    std::array<std::string, kFamilyNames.size()> example;
    for (std::size_t op = 0; op < kRecordedOps.size(); ++op)
      for (int i = 0; i < kCasesPerOp; ++i) {
        const auto& [name, family, results] = kRecordedOps[op];
        const auto f = static_cast<std::size_t>(family);
        const std::int64_t answer = answers[op * kCasesPerOp + static_cast<std::size_t>(i)];
        const std::int64_t right = recorded(results[static_cast<std::size_t>(i)]);
        ++items[f];
        if (answer == right) continue;
        const Types types = types_of(i);
        if (wrong[f]++ == 0)
          example[f] = std::string(name) + " of " + name_of(types.a) + " and " + name_of(types.b) +
                       " in a region for " + name_of(types.low) + ": " + result_text(answer) + ", and PyTorch says " +
                       result_text(right);
      }
    std::size_t worst = 0;
    double least = 2;
    for (std::size_t f = 0; f < items.size(); ++f) {
      const double right = 1 - static_cast<double>(wrong[f]) / items[f];
      if (right < least) worst = f, least = right;
    }
    verdict.figures["policy_right"] = least;
    lab::Verdict::Finding finding;
    finding.code = "wrong-type";
    finding.text = std::string("of the answers about ") + kFamilyNames[worst] + " " + std::to_string(wrong[worst]) +
                   " of " + std::to_string(items[worst]) + " are wrong; the first: " + example[worst];
    verdict.findings["policy"] = finding;
  }

  // --- scaler --------------------------------------------------------------------------------------------------------
  void scaler_inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    std::vector<Sequence> all;
    if (s.integer("drawn") != 0) {
      all = draw_sequences(data);
    } else {
      all.assign(recorded_sequences().begin(), recorded_sequences().end());
    }
    in.set("sequences", static_cast<std::int64_t>(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const ScalerOptions& o = all[i].options;
      in.set(numbered("options", i),
             tensor<double>({o.init_scale, o.growth_factor, o.backoff_factor, static_cast<double>(o.growth_interval)}));
      std::string plans;
      for (const std::string& plan : all[i].plans) plans += plan + "\n";
      in.set(numbered("plans", i), plans);
      in.set(numbered("resume_at", i), all[i].resume_at);
    }
  }

  static Sequence sequence_of(const lab::Values& in, std::size_t i) {
    const auto o = in.tensor(numbered("options", i)).data<const double>();
    return {{o[0], o[1], o[2], static_cast<std::int64_t>(o[3])},
            lines_of(in.text(numbered("plans", i))),
            in.integer(numbered("resume_at", i))};
  }

  void call_scaler(lab::Call& call, Submission& submission) {
    const auto count = static_cast<std::size_t>(call.inputs().integer("sequences"));
    for (std::size_t i = 0; i < count; ++i)
      call.output(numbered("rows", i), run_sequence(sequence_of(call.inputs(), i), submission));
  }

  // Rows as numbers: scale, tracker, and for each optimizer stepped, parameter, gradient.
  static Tensor run_sequence(const Sequence& sequence, Submission& submission) {
    std::vector<Tensor> parameters;
    std::vector<std::unique_ptr<optim::SGD>> optimizers;
    for (std::size_t o = 0; o < sequence.plans.size(); ++o) {
      parameters.push_back(ones({4}).requires_grad_());
      optimizers.push_back(
          std::make_unique<optim::SGD>(std::vector<Tensor>{parameters[o]}, optim::SgdOptions{.lr = kSequenceLr}));
    }
    std::unique_ptr<Scaler> scaler = submission.make_scaler(sequence.options);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < sequence.iterations(); ++i) {
      if (static_cast<std::int64_t>(i) == sequence.resume_at) {
        const ScalerState saved = scaler->state();
        scaler = submission.make_scaler(ScalerOptions{});
        scaler->load(saved);
      }
      Tensor loss = sum(parameters[0]);
      for (std::size_t o = 1; o < parameters.size(); ++o)
        loss = loss + mul(sum(parameters[o]), static_cast<double>(o + 1));
      for (auto& optimizer : optimizers) optimizer->zero_grad();
      scaler->scale(loss).backward();
      std::vector<double> seen;
      for (std::size_t o = 0; o < parameters.size(); ++o)
        step_once(sequence.plans[o][i], *scaler, *optimizers[o], parameters[o], seen);
      scaler->update();
      const ScalerState state = scaler->state();
      numbers.insert(numbers.end(), {state.scale, static_cast<double>(state.growth_tracker)});
      numbers.insert(numbers.end(), seen.begin(), seen.end());
    }
    return tensor<double>(numbers);
  }

  static void step_once(char what, Scaler& scaler, optim::Optimizer& optimizer, const Tensor& parameter,
                        std::vector<double>& seen) {
    if (is_bad(what)) parameter.grad().data<float>()[0] = is_inf(what) ? INFINITY : NAN;
    if (unscales(what)) scaler.unscale(optimizer);
    const double gradient = unscales(what) ? static_cast<double>(parameter.grad().data<const float>()[1]) : 0;
    const bool stepped = scaler.step(optimizer);
    seen.insert(seen.end(), {stepped ? 1.0 : 0.0, static_cast<double>(parameter.data<const float>()[1]), gradient});
  }

  void judge_scaler(const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    const auto count = static_cast<std::size_t>(in.integer("sequences"));
    std::map<std::string, int> codes;
    std::map<std::string, std::string> texts;
    int wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto numbers = out.tensor(numbered("rows", i)).data<const double>();
      const std::optional<Difference> found = first_difference(sequence_of(in, i), numbers);
      if (!found) continue;
      ++wrong;
      ++codes[found->code];
      texts.emplace(found->code, "sequence " + std::to_string(i + 1) + ": " + found->text);
    }
    const double right = 1 - static_cast<double>(wrong) / static_cast<double>(count);
    verdict.figures["sequences_right"] = right;
    lab::Verdict::Finding finding;
    if (!codes.empty()) {
      const auto most = std::ranges::max_element(codes, {}, [](const auto& entry) { return entry.second; });
      finding.code = most->first;
      finding.text = std::to_string(wrong) + " of " + std::to_string(count) +
                     " sequences end up differently from PyTorch's scaler; " + texts[most->first];
    }
    verdict.findings["scaler"] = finding;
  }

  // --- training ------------------------------------------------------------------------------------------------------
  void job_inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    const std::int64_t times = s.integer("times"), rows = s.integer("rows"), features = s.integer("features");
    const std::int64_t width = s.integer("width"), classes = s.integer("classes");
    auto weights = [&](std::int64_t out, std::int64_t from) {
      const double limit = 1 / std::sqrt(static_cast<double>(from));
      return data.uniform_tensor({out, from}, -limit, limit);
    };
    in.set("parameter.0", weights(width, features));
    in.set("parameter.1", data.uniform_tensor({width}, -0.1, 0.1));
    in.set("parameter.2", weights(width, width));
    in.set("parameter.3", weights(classes, width));
    // A score's offset that all classes share changes no probability. It only makes the numbers large.
    in.set("parameter.4", add(data.uniform_tensor({classes}, -0.1, 0.1), s.real("offset")));
    const Tensor target = empty({rows}, kI64);
    const double signal = s.real("signal");
    const Tensor centres = data.uniform_tensor({classes, features}, -signal, signal);
    const Tensor x = data.uniform_tensor({times, rows, features}, -0.7 * signal, 0.7 * signal);
    for (std::int64_t r = 0; r < rows; ++r) {
      // Three of four rows are of class 0, so that there is something to learn by the offsets of the scores alone.
      const std::int64_t c = r % 4 != 0 ? 0 : 1 + r / 4 % (classes - 1);
      target.data<std::int64_t>()[static_cast<std::size_t>(r)] = c;
      for (std::int64_t t = 0; t < times; ++t) add_(x[t][r], centres[c]);
    }
    in.set("x", x);
    in.set("target", target);
    in.set("steps", s.integer("steps"));
    in.set("loss_weight", s.real("loss_weight"));
    in.set("lr", s.real("rate") / s.real("loss_weight"));
    in.set("max_norm", s.real("norm") * s.real("loss_weight"));
  }

  static Job job_of(const lab::Values& in) {
    Job job;
    std::vector<Tensor> parameters;
    for (std::size_t i = 0; i < 5; ++i) parameters.push_back(in.tensor(numbered("parameter", i)));
    job.start = network_of(parameters);
    job.x = in.tensor("x");
    job.target = in.tensor("target");
    job.steps = in.integer("steps");
    job.lr = in.real("lr");
    job.loss_weight = in.real("loss_weight");
    job.max_norm = in.real("max_norm");
    return job;
  }

  static double mean_of_last(std::span<const float> losses, std::size_t count) {
    double sum = 0;
    count = std::min(count, losses.size());
    for (const float loss : losses.last(count)) sum += static_cast<double>(loss);
    return sum / static_cast<double>(count);
  }

  // Every element is a number of this 16-bit type.
  static bool fits(const lab::Values& out, Dtype low) {
    for (std::size_t i = 0; i < 5; ++i) {
      if (!out.has(numbered("parameter", i))) return false;
      const Tensor parameter = out.tensor(numbered("parameter", i)).to(kF32);
      if (sum(ne(parameter, parameter.to(low).to(kF32))).item() != 0) return false;
    }
    return true;
  }

  void judge_losses(const lab::Scenario& s, const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    const Trained right = train_on_host(job_of(in), kF32);
    const auto expected = right.losses.data<const float>();
    const Tensor returned = out.tensor("losses").to(kF32);
    if (returned.sizes() != right.losses.sizes())
      return verdict.wrong("wrong-shape",
                           "there is not one loss for each of the " + std::to_string(expected.size()) + " steps");
    const auto losses = returned.data<const float>();
    verdict.charts.push_back(loss_chart(losses, expected, "f32 on the host"));
    for (std::size_t i = 0; i < losses.size(); ++i)
      if (!std::isfinite(losses[i]))
        return verdict.wrong("nan-loss", "in " + s.id + " the loss of step " + std::to_string(i + 1) + " is " +
                                             number_text(static_cast<double>(losses[i])) +
                                             ": a step was taken with gradients that were inf or NaN");
    const double end = mean_of_last(losses, 20), right_end = mean_of_last(expected, 20);
    verdict.figures["away_from_f32"] = std::abs(end / right_end - 1);
    if (std::abs(end - right_end) <= 0.05 * right_end) return;
    const auto first = static_cast<double>(expected[0]);
    const std::string figures = "in " + s.id + " the loss went from " + number_text(static_cast<double>(losses[0])) +
                                " to " + number_text(end) + " (mean of the last 20 steps), and in f32 from " +
                                number_text(first) + " to " + number_text(right_end);
    if (fits(out, kF16) || fits(out, kBF16))
      return verdict.wrong("master", figures +
                                         "; every parameter is a 16-bit number: what a step changes is rounded "
                                         "away where it is less than half of a number's last digit");
    if (end > first - 0.7 * (first - right_end))
      return verdict.wrong("flat", figures + ": much of the gradient got lost on the way back, or steps were left out");
    verdict.wrong("not-like-f32", figures);
  }

  static lab::Chart loss_chart(std::span<const float> yours, std::span<const float> right,
                               const std::string& baseline) {
    lab::Chart chart;
    chart.id = "loss";
    chart.title = "Loss by step";
    chart.read =
        "Both curves start from the same parameters and see the same data. A flat curve means that gradients got "
        "lost or that steps were left out; a gap in it is a loss that was inf or NaN.";
    chart.x = {"step", "", false};
    chart.y = {"loss", "", false};
    const auto line = [](const std::string& label, const char* role, std::span<const float> losses) {
      lab::Chart::Line points{label, role, {}};
      for (std::size_t i = 0; i < losses.size(); ++i)
        points.points.emplace_back(static_cast<double>(i + 1), static_cast<double>(losses[i]));
      return points;
    };
    chart.lines = {line("yours", "yours", yours), line(baseline, "reference", right)};
    return chart;
  }

  // What the steps changed, against the same in f64: the parameters themselves are mostly what they were.
  void judge_clipping(const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    const Job job = job_of(in);
    const std::vector<Tensor> start = parameters_of(job.start);
    const Trained trained = train_on_host(job, kF64);
    const std::vector<Tensor> right = parameters_of(trained.network);
    if (out.has("losses") && out.tensor("losses").sizes() == trained.losses.sizes()) {
      const Tensor yours = out.tensor("losses").to(kF32), f64 = trained.losses.to(kF32);
      verdict.charts.push_back(loss_chart(yours.data<const float>(), f64.data<const float>(), "f64 on the host"));
    }
    static constexpr std::array kNames = {"input", "bias", "again", "head", "head_bias"};
    for (std::size_t i = 0; i < start.size(); ++i) {
      const Tensor change = sub(right[i], start[i].to(kF64));
      const double largest = std::max(max(change).item(), max(neg(change)).item());
      const Tensor& returned = out.tensor(numbered("parameter", i));
      if (returned.sizes() != start[i].sizes())
        return verdict.wrong("wrong-shape", std::string("`") + kNames[i] + "` of the network came back with sizes " +
                                                returned.sizes().str() + " in place of " + start[i].sizes().str());
      const Tensor got = sub(returned.to(kF64), start[i].to(kF64));
      const lab::Comparison comparison = lab::compare(got, change, 0, 0.05 * largest);
      if (comparison.equal) continue;
      const std::string what = std::string("what the steps changed in `") + kNames[i] + "`";
      verdict.mismatches.push_back({what, comparison});
      verdict.wrong("wrong-clipping", what + ": " + comparison.text);
    }
  }
};

}  // namespace amp_lab

LABRIG_LAB(amp_lab::Amp)
