// Lab 05, device-mismatch: what a submission gets, how it is called, and what its answers must be. The counted checks
// (trips to the host, bytes on other cards) stand in lab.toml. Task 1 has its recipe in recipe.hpp, task 3 its programs
// in families.hpp.
#include <algorithm>

#include "checkpoint_file.hpp"
#include "families.hpp"
#include "labrig/lab.hpp"
#include "mismatch.hpp"
#include "program_text.hpp"
#include "recipe.hpp"

namespace device_mismatch {

using namespace labrig;

class DeviceMismatch {
 public:
  using Submission = device_mismatch::Submission;

  void inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    if (s.kind == "load") return load_inputs(s, data, in);
    if (s.kind == "culprit") return culprit_inputs(s, in);
    in.set("already_there", s.kind == "numbered" ? 1 : 0);
    set_recipe(s, data, in);
  }

  void call(lab::Call& call, Submission& submission) {
    const lab::Values& in = call.inputs();
    if (in.has("checkpoint")) return call_load(call, submission);
    if (in.has("lr")) return call_train(call, submission);
    call.start_counting();
    for (std::int64_t i = 0; in.has(numbered("program", i)); ++i)
      call.output(numbered("blamed", i),
                  joined(submission.culprit(program_from(in.text(numbered("program", i)))), '\n'));
  }

  void judge(const lab::Scenario& s, const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    if (s.kind == "load") return judge_load(s, in, out, verdict);
    if (s.kind == "culprit") return judge_culprits(s, out, verdict);
    judge_training(in, out, verdict);
  }

 private:
  // --- train -------------------------------------------------------------------------------------------------
  void call_train(lab::Call& call, Submission& submission) {
    const bool there = call.inputs().integer("already_there") == 1;
    const Recipe recipe = recipe_of(call.inputs(), there ? call.device() : Device());
    call.start_counting();
    Trained trained;
    try {
      trained = submission.train(recipe, call.device());
    } catch (const Error& error) {
      throw explained(error, call.device());
    }
    if (trained.losses.defined()) {
      call.output("losses_on_host", trained.losses.device().is_cpu() ? 1 : 0);
      call.output("losses", trained.losses.detach());
    }
    for (const char* name : kLearnt)
      if (const Tensor tensor = find(trained.state, name); tensor.defined()) call.output(name, tensor.detach());
  }

  void judge_training(const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    const Recipe recipe = recipe_of(in);
    const Oracle right = oracle_of(recipe), stale = oracle_of(recipe, true);
    verdict.findings["parameters"] = parameters_found(right, stale, out);
    if (!out.has("losses")) return verdict.wrong("no-result", "train() returned no losses");
    if (out.integer("losses_on_host") == 0)
      return verdict.wrong("losses-not-on-the-host",
                           "train() returned its losses on the card; they are wanted on the CPU, fetched once");
    const Tensor& losses = out.tensor("losses");
    if (recipe.restart_at > 0 && near(losses, stale.losses) && !near(losses, right.losses))
      return verdict.wrong(
          "stands-still-after-restart",
          "the losses are right up to step " + std::to_string(recipe.restart_at) +
              ", where the run goes on with a new model; from there on they are those of a model that nothing changes: "
              "the optimizer still holds the parameters of the old one");
    verdict.require(lab::compare(losses, right.losses, kRelative, kAbsolute), "the losses, one a step");
  }

  lab::Verdict::Finding parameters_found(const Oracle& right, const Oracle& stale, const lab::Values& out) {
    lab::Verdict::Finding finding;
    for (const char* name : kLearnt) {
      const std::string quoted = "'" + std::string(name) + "' after the last step";
      if (!out.has(name)) return {0, "no-state", quoted + " is not in the state that train() returned"};
      const lab::Comparison compared =
          lab::compare(out.tensor(name), find(right.state, name).detach(), kRelative, kAbsolute);
      if (compared.equal) continue;
      if (near(out.tensor(name), find(stale.state, name).detach()))
        return {0, "updates-an-old-model",
                quoted +
                    " is as it was loaded at the restart: the parameters that take part are not those that the "
                    "optimizer updates"};
      return {0, "wrong-parameters", quoted + ": " + compared.text};
    }
    return finding;
  }

  static constexpr double kRelative = 1e-3, kAbsolute = 1e-4;
  static bool near(const Tensor& actual, const Tensor& expected) {
    return lab::compare(actual, expected, kRelative, kAbsolute).equal;
  }

  // --- load --------------------------------------------------------------------------------------------------

  // The file has two tensors that nobody wants, and lacks one that is wanted.
  void load_inputs(const lab::Scenario& s, lab::Random& data, lab::Values& in) {
    const std::int64_t width = s.integer("width");
    const Device saved(DeviceType::sim, static_cast<int>(s.integer("saved_on")));
    NamedTensors file;
    std::map<std::string, Device> saved_on;
    const auto save = [&](const std::string& name, const Dims& sizes, Device device) {
      file.emplace_back(name, data.uniform_tensor(sizes, -1, 1));
      saved_on[name] = device;
      in.set("file." + name, file.back().second);
    };
    save("embedding.weight", {width, 8}, saved);
    save("hidden.weight", {16, 8}, saved);
    save("hidden.bias", {16}, saved);
    save("head.weight", {4, 16}, Device());
    save("ema.weight", {16, 8}, saved);
    save("ema.decay", {}, Device());
    in.set("names", std::string("embedding.weight\nhidden.weight\nhidden.bias\nhead.weight\nhead.bias"));
    const std::int64_t elsewhere = s.integer("elsewhere");
    in.set("elsewhere", std::string(elsewhere == 0   ? ""
                                    : elsewhere == 1 ? "embedding.weight=cpu"
                                                     : "hidden.weight=sim:1\nhidden.bias=sim:1"));
    in.set("checkpoint", checkpoint_bytes(file, saved_on));
  }

  static Wanted wanted_of(const lab::Values& in) {
    Wanted wanted{split(in.text("names"), '\n'), {}};
    for (const std::string& line : split(in.text("elsewhere"), '\n'))
      wanted.elsewhere[line.substr(0, line.find('='))] = Device(line.substr(line.find('=') + 1));
    return wanted;
  }

  void call_load(lab::Call& call, Submission& submission) {
    const MemoryFile file(call.inputs().tensor("checkpoint"));
    const Wanted wanted = wanted_of(call.inputs());
    call.start_counting();
    const Loaded loaded = submission.load(file.path(), call.device(), wanted);
    call.output("missing", joined(loaded.missing, '\n'));
    call.output("unexpected", joined(loaded.unexpected, '\n'));
    for (const std::string& name : wanted.names)
      if (const Tensor tensor = find(loaded.tensors, name); tensor.defined()) {
        call.output("device." + name, tensor.device().str());
        call.output("tensor." + name, tensor.detach());
      }
  }

  void judge_load(const lab::Scenario& s, const lab::Values& in, const lab::Values& out, lab::Verdict& verdict) {
    const Wanted wanted = wanted_of(in);
    for (const std::string& name : wanted.names) {
      if (!in.has("file." + name)) continue;
      if (!out.has("tensor." + name))
        return verdict.wrong("tensor-not-loaded", "load() returned no tensor '" + name + "', which the file has");
      const auto other = wanted.elsewhere.find(name);
      const std::string device = (other == wanted.elsewhere.end() ? s.device : other->second).str();
      if (out.text("device." + name) != device)
        return verdict.wrong("wrong-device", "'" + name + "' was loaded to " + out.text("device." + name) +
                                                 ", and is wanted on " + device);
      verdict.require(lab::compare(out.tensor("tensor." + name), in.tensor("file." + name).to(kF64), 0, 0, kF32),
                      "'" + name + "'");
      if (!verdict.values_right) return;
    }
    require_names(out, "missing", {"head.bias"}, verdict);
    if (verdict.values_right) require_names(out, "unexpected", {"ema.decay", "ema.weight"}, verdict);
  }

  static void require_names(const lab::Values& out, const char* which, const std::vector<std::string>& expected,
                            lab::Verdict& verdict) {
    std::vector<std::string> named = split(out.text(which), '\n');
    std::ranges::sort(named);
    if (named == expected) return;
    const auto list = [](std::vector<std::string> names) {
      return names.empty() ? std::string("nothing") : joined(names, ' ');
    };
    verdict.wrong(std::string(which) + "-not-named",
                  std::string("load() names as ") + which + ": " + list(named) + "; right is: " + list(expected));
  }

  // --- culprit -----------------------------------------------------------------------------------------------
  void culprit_inputs(const lab::Scenario& s, lab::Values& in) {
    std::int64_t i = 0;
    for (const Puzzle& puzzle : draw_puzzles(s.profile, static_cast<std::uint64_t>(s.integer("draw"))))
      in.set(numbered("program", i++), to_text(puzzle.program));
  }

  enum class Wrong { none, number, operand, other };

  static Wrong kind_of(const Puzzle& puzzle, const std::set<std::string>& blamed, std::string& example) {
    if (blamed == puzzle.culprits) return Wrong::none;
    Wrong kind = Wrong::other;
    for (const std::string& name : blamed) {
      if (puzzle.culprits.contains(name)) continue;
      const auto value = std::ranges::find(puzzle.program.values, name, &Value::name);
      if (value == puzzle.program.values.end()) continue;
      const bool number = value->sizes.empty() && value->device.is_cpu();
      const bool operand = std::ranges::count(puzzle.program.operands, name) > 0;
      if (kind == Wrong::number || (!number && !operand)) continue;
      kind = number ? Wrong::number : Wrong::operand;
      example = "'" + name + "' (" + value->line + ")";
    }
    return kind;
  }

  void judge_culprits(const lab::Scenario& s, const lab::Values& out, lab::Verdict& verdict) {
    const auto puzzles = draw_puzzles(s.profile, static_cast<std::uint64_t>(s.integer("draw")));
    std::array<int, 4> count{};
    std::array<std::string, 4> examples;
    for (std::size_t i = 0; i < puzzles.size(); ++i) {
      const std::string name = numbered("blamed", static_cast<std::int64_t>(i));
      const std::vector<std::string> blamed = split(out.text(name), '\n');
      std::string example;
      const auto kind = static_cast<std::size_t>(kind_of(puzzles[i], {blamed.begin(), blamed.end()}, example));
      if (count[kind]++ == 0) examples[kind] = "program " + std::to_string(i) + ": " + example;
    }
    verdict.figures["culprits_found"] = static_cast<double>(count[0]) / static_cast<double>(puzzles.size());
    const auto most = static_cast<std::size_t>(std::max_element(count.begin() + 1, count.end()) - count.begin());
    constexpr const char* codes[] = {"", "blames-a-number", "blames-an-operand", "wrong-culprit"};
    constexpr const char* texts[] = {
        "", "most of the wrong answers blame a number on the CPU, which the operation takes as it is",
        "most of the wrong answers blame an operand of the line that failed, and not the value where things went wrong",
        "most of the wrong answers name no value, too few, or one that has no part in the failure"};
    const std::size_t wrong = puzzles.size() - static_cast<std::size_t>(count[0]);
    lab::Verdict::Finding finding{
        1, codes[most],
        std::to_string(count[0]) + " of " + std::to_string(puzzles.size()) + " programs are explained; " + texts[most]};
    if (wrong > 0 && most < 3) finding.text += ". For example " + examples[most];
    verdict.findings["culprit"] = finding;
  }
};

}  // namespace device_mismatch

LABRIG_LAB(device_mismatch::DeviceMismatch)
