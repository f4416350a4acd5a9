// Lab 03, oom-triage: what a submission gets, how it is called, and what its answers must be. Histories and true
// batches come from loops that really run (faulty_loops.hpp, true_batch.hpp); the job of task 2 is training_job.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "history_text.hpp"
#include "interface.hpp"
#include "judge_diagnosis.hpp"
#include "labrig/autograd.hpp"
#include "labrig/lab.hpp"
#include "training_job.hpp"
#include "true_batch.hpp"

namespace oom_triage {

using namespace labrig;

class OomTriage {
 public:
  using Submission = oom_triage::Submission;

  void inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    in.set("kind", s.kind);
    if (s.kind == "diagnose") {
      const std::vector<Patient> patients = draw_patients(s.integer("draw"), s.integer("each"));
      in.set("histories", static_cast<std::int64_t>(patients.size()));
      for (std::size_t i = 0; i < patients.size(); ++i) in.set(history_name(i), to_text(patients[i].history()));
    } else if (s.kind == "estimate") {
      in.set("questions", question_rows(draw_questions(static_cast<std::uint64_t>(s.integer("draw")))));
    } else {
      job_inputs(s, data, in);
    }
  }

  void call(lab::Call& call, Submission& submission) {
    const lab::Values& in = call.inputs();
    if (in.has("histories")) return call_diagnose(call, submission);
    if (in.has("questions")) return call_estimate(call, submission);
    call_train(call, submission);
  }

  void judge(const lab::Scenario& s, const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    if (s.kind == "diagnose")
      return judge_diagnosis(draw_patients(s.integer("draw"), s.integer("each")), in, out, verdict);
    if (s.kind == "estimate") return judge_estimate(s, out, verdict);
    if (s.kind == "learn") return judge_losses(in, out, verdict);
    judge_survival(s, out, verdict);
  }

 private:
  // --- task 1 ------------------------------------------------------------------------------------------------
  static void call_diagnose(lab::Call& call, Submission& submission) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(call.inputs().integer("histories")); ++i) {
      const Diagnosis found = submission.diagnose(from_text(call.inputs().text(history_name(i))));
      call.output(cause_name(i), static_cast<std::int64_t>(found.cause));
      call.output(rows_name(i), tensor(found.rows));
    }
  }

  // --- task 2 ------------------------------------------------------------------------------------------------

  // Sizes for which a step with all samples would hold `times` the card: an activation of each layer, and two more on
  // the way back.
  static void job_inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    constexpr std::array<std::int64_t, 10> kPrimes = {59, 61, 67, 71, 73, 79, 83, 89, 97, 101};  // nothing divides them
    const std::int64_t samples = s.kind == "hopeless" ? 5 : kPrimes.at(static_cast<std::size_t>(s.integer("prime")));
    const std::int64_t width = s.integer("width"), layers = s.integer("layers");
    const double step_bytes = s.real("times") * s.real("card_mib") * 1048576;
    const double a_token = 4 * static_cast<double>(width * samples * (layers + 1));
    const auto tokens = static_cast<std::int64_t>(step_bytes / a_token);
    for (const auto& [name, value] : {std::pair{"samples", samples},
                                      {"tokens", tokens},
                                      {"width", width},
                                      {"layers", layers},
                                      {"steps", s.integer("steps")}})
      in.set(name, value);
    if (s.kind != "learn") return;
    in.set("x", data.uniform_tensor({samples, tokens, kEnds}, -1, 1));
    in.set("y", data.uniform_tensor({samples, tokens, kEnds}, -1, 1));
    for (std::int64_t i = 0; i < layers; ++i) {
      const auto [from, to] = ends_of(in, i);
      const double limit = std::sqrt(6 / static_cast<double>(from));
      in.set("weight." + std::to_string(i), data.uniform_tensor({to, from}, -limit, limit));
      in.set("bias." + std::to_string(i), data.uniform_tensor({to}, -0.1, 0.1));
    }
  }

  static constexpr std::int64_t kEnds = 2;  // numbers in and out for each token: next to nothing
  static constexpr double kRate = 0.2;

  static std::pair<std::int64_t, std::int64_t> ends_of(const lab::Values& in, std::int64_t layer) {
    const std::int64_t width = in.integer("width");
    return {layer == 0 ? kEnds : width, layer + 1 == in.integer("layers") ? kEnds : width};
  }

  static nn::Sequential model_of(const lab::Values& in) {
    nn::Sequential model;
    for (std::int64_t i = 0; i < in.integer("layers"); ++i) {
      const auto [from, to] = ends_of(in, i);
      nn::Linear linear(from, to);
      if (const std::string number = std::to_string(i); in.has("weight." + number)) {
        const NoGradGuard guard;
        linear.weight.copy_(in.tensor("weight." + number));
        linear.bias.copy_(in.tensor("bias." + number));
      }
      if (i > 0) model.push_back(nn::ReLU());
      model.push_back(linear);
    }
    return model;
  }

  static void call_train(lab::Call& call, Submission& submission) {
    const lab::Values& in = call.inputs();
    const Dims sizes = {in.integer("samples"), in.integer("tokens"), kEnds};
    TrainingJob job(model_of(in), in.has("x") ? in.tensor("x") : empty(sizes),
                    in.has("y") ? in.tensor("y") : empty(sizes), in.integer("steps"), kRate, call.device());
    Tensor losses;
    try {
      losses = submission.train(job, call.device());
      call.output("gave_up", 0);
    } catch (const OutOfMemoryError&) {
      call.output("gave_up", 1);
    }
    const Watch& watch = job.watch();
    call.output("complete", job.complete() ? 1 : 0);
    call.output("failures", watch.failures);
    call.output("last_count", watch.count);
    call.output("repeated", watch.repeated);
    call.output("held_bytes", watch.held_bytes);
    call.output("emptied", watch.emptied);
    if (losses.defined()) call.output("losses", losses);
  }

  static void judge_survival(const lab::Scenario& s, const lab::Values& out, lab::Verdict& verdict) {
    const std::string tries = std::to_string(out.integer("failures"));
    const bool gave_up = out.integer("gave_up") == 1;
    lab::Verdict::Finding survives, cargo;
    const auto fails = [](lab::Verdict::Finding& finding, const char* code, std::string text) {
      if (finding.share > 0) finding = {0, code, std::move(text)};
    };
    if (s.kind == "hopeless") {
      if (!gave_up)
        fails(survives, "no-error", "not one sample fits on this card, and train() returned as if all were well");
      else if (out.integer("last_count") > 1)
        fails(survives, "gave-up-early",
              "train() gave up with micro-batches of " + std::to_string(out.integer("last_count")) +
                  " samples; only when one sample does not fit is there nothing left to try");
    } else if (gave_up) {
      fails(survives, "gave-up",
            "memory ran out " + tries + " times and train() gave up, on a card that holds a " +
                share_words(s.integer("times")) + " of a step with all samples");
    } else if (out.integer("complete") == 0) {
      fails(survives, "left-out", "some samples of some steps were never trained on without running out of memory");
    } else if (!out.has("losses") || out.tensor("losses").sizes() != Dims{s.integer("steps")}) {
      fails(survives, "no-losses",
            "train() did not return one loss for each of the " + std::to_string(s.integer("steps")) +
                " steps, in one tensor");
    }
    verdict.findings["survives"] = survives;
    if (const std::int64_t n = out.integer("emptied"); n > 0)
      fails(cargo, "empties-the-cache", "the cache was emptied " + std::to_string(n) + " times inside the loop");
    if (const std::int64_t n = out.integer("repeated"); n > 0)
      fails(cargo, "retries-unchanged",
            std::to_string(n) + " of " + tries +
                " failures were of a request that had failed before, with as many samples");
    if (const std::int64_t bytes = out.integer("held_bytes"); bytes > 0)
      fails(cargo, "holds-the-failed-try",
            "when the next try took its samples, the card held " + std::to_string(bytes >> 10) +
                " KiB more than before the step that failed");
    verdict.findings["no-cargo-cult"] = cargo;
  }

  static std::string share_words(std::int64_t times) {
    return times == 2 ? "half" : times == 4 ? "quarter" : times == 10 ? "tenth" : "1/" + std::to_string(times);
  }

  // All samples at once, in float64, on the host.
  static void judge_losses(const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    if (out.integer("gave_up") == 1)
      return verdict.wrong("gave-up", "memory ran out " + std::to_string(out.integer("failures")) +
                                          " times and train() gave up; half of the samples fit");
    nn::Sequential model = model_of(in);
    model.to(kF64);
    const Tensor x = in.tensor("x").to(kF64), y = in.tensor("y").to(kF64);
    optim::SGD optimizer(model.parameters(), {.lr = kRate});
    std::vector<double> losses;
    for (std::int64_t step = 0; step < in.integer("steps"); ++step) {
      optimizer.zero_grad();
      const Tensor loss = mse_loss(model(x), y);
      loss.backward();
      optimizer.step();
      losses.push_back(loss.item());
    }
    if (out.has("losses") && out.tensor("losses").dim() == 1)
      verdict.charts.push_back(loss_chart(out.tensor("losses"), losses));
    verdict.require(lab::compare(out.tensor("losses"), tensor(losses), 1e-3, 1e-6), "the losses");
  }

  static lab::Chart loss_chart(const Tensor& yours, std::span<const double> right) {
    lab::Chart chart;
    chart.id = "loss";
    chart.title = "Loss by step";
    chart.read =
        "Steps in micro-batches come to the same losses as steps with all samples at once, so the two curves "
        "lie on each other. One that is above or below from the first step adds its parts up wrongly; one that "
        "parts later takes other steps.";
    chart.x = {"step", "", false};
    chart.y = {"loss", "", false};
    const auto line = [](const char* label, const char* role, std::span<const double> losses) {
      lab::Chart::Line points{label, role, {}};
      for (std::size_t i = 0; i < losses.size(); ++i) points.points.emplace_back(static_cast<double>(i + 1), losses[i]);
      return points;
    };
    const Tensor yours64 = yours.to(kF64).contiguous();
    chart.lines = {line("yours", "yours", yours64.data<const double>()),
                   line("all samples at once, on the host", "reference", right)};
    return chart;
  }

  // --- task 3 ------------------------------------------------------------------------------------------------
  static constexpr std::int64_t kNumbers = 4 + 3 * 8;  // of a question, as a row

  static Tensor question_rows(const std::vector<Question>& questions) {
    const Tensor rows = zeros({static_cast<std::int64_t>(questions.size()), kNumbers}, kI64);
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const Question& q = questions[i];
      std::int64_t* row = rows.data<std::int64_t>().data() + static_cast<std::int64_t>(i) * kNumbers;
      *row++ = q.model.tokens;
      *row++ = static_cast<std::int64_t>(q.optimizer);
      *row++ = static_cast<std::int64_t>(q.precision);
      *row++ = static_cast<std::int64_t>(q.capacity_bytes);
      for (const Layer& layer : q.model.layers) {
        *row++ = layer.in;
        *row++ = layer.out;
        *row++ = layer.relu ? 1 : 0;
      }
    }
    return rows;
  }

  static void call_estimate(lab::Call& call, Submission& submission) {
    const Tensor rows = call.inputs().tensor("questions");
    const Tensor answers = empty({rows.size(0)}, kI64);
    for (std::int64_t i = 0; i < rows.size(0); ++i) {
      const auto row = rows.data<const std::int64_t>().subspan(static_cast<std::size_t>(i * kNumbers), kNumbers);
      ModelShape model;
      model.tokens = row[0];
      for (std::size_t at = 4; at < row.size() && row[at] > 0; at += 3)
        model.layers.push_back({row[at], row[at + 1], row[at + 2] == 1});
      answers.data<std::int64_t>()[static_cast<std::size_t>(i)] = submission.largest_batch(
          model, static_cast<Optimizer>(row[1]), static_cast<Dtype>(row[2]), static_cast<std::size_t>(row[3]));
    }
    call.output("batches", answers);
  }

  static void judge_estimate(const lab::Scenario& s, const lab::Values& out, lab::Verdict& verdict) {
    const auto questions = draw_questions(static_cast<std::uint64_t>(s.integer("draw")));
    const auto answers = out.tensor("batches").data<const std::int64_t>();
    if (answers.size() != questions.size())
      return verdict.wrong("wrong-shape", "there is not one batch for each question");
    std::array<int, 2> wrong = {};  // by group
    int above = 0;
    std::string example;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const std::int64_t truth = Trial(questions[i]).largest(), said = answers[i];
      if (said <= truth && static_cast<double>(said) >= 0.75 * static_cast<double>(truth)) continue;
      ++wrong.at(static_cast<std::size_t>(questions[i].group));
      above += said > truth ? 1 : 0;
      if (example.empty())
        example = "; for example " + std::to_string(said) + " where " + std::to_string(truth) + " fit, with " +
                  std::to_string(static_cast<std::int64_t>(questions[i].parameters())) + " parameters on a card of " +
                  std::to_string(questions[i].capacity_bytes >> 20) + " MiB";
    }
    const int all = wrong[0] + wrong[1];
    const double right = 1 - static_cast<double>(all) / static_cast<double>(questions.size());
    verdict.figures["estimates_right"] = right;
    lab::Verdict::Finding finding;
    finding.code = wrong[1] == 0   ? "wrong-for-large-models"
                   : wrong[0] == 0 ? "wrong-for-long-samples"
                                   : "wrong-for-all";
    finding.text = std::to_string(all) + " of " + std::to_string(questions.size()) +
                   " batches are not between 0.75 and 1.0 times the largest that trains (" + std::to_string(wrong[0]) +
                   " where parameters decide, " + std::to_string(wrong[1]) + " where activations do; " +
                   std::to_string(above) + " do not fit at all)" + example;
    verdict.findings["estimate"] = finding;
  }
};

}  // namespace oom_triage

LABRIG_LAB(oom_triage::OomTriage)
