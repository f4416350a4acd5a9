// labrig plan MODEL.toml: how much memory training takes, before anything runs. Options stand above what the file says.
// Read next: plan_answer.hpp; docs/plan.md has the format of descriptions.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "labrig/error.hpp"
#include "plan_answer.hpp"

namespace labrig::app {
namespace {

struct Arguments {
  std::string file;
  std::optional<std::int64_t> batch;
  std::string optimizer, precision, profile;
  std::optional<double> capacity_gib, context_mib, other_processes_mib, reserve;
  bool measure = false;
};

// The value of an enumeration by its name; `count` of them.
template <class T>
T by_name(const std::string& name, int count) {
  for (int i = 0; i < count; ++i)
    if (name == plan::name_of(static_cast<T>(i))) return static_cast<T>(i);
  throw Error("usage", "there is no '" + name + "'", "the command line should have refused it", "report this");
}

// CLI::Range lets "nan" through.
CLI::Validator between(double low, double high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return "";
    return fmt::format("{} is no number from {} to {}", text, low, high);
  };
  return {check, fmt::format("NUMBER in [{} - {}]", low, high)};
}

std::size_t bytes(double amount, double unit) { return static_cast<std::size_t>(std::llround(amount * unit)); }

void override_training(const Arguments& arguments, spec::ModelFile& file) {
  if (arguments.batch) file.training.batch = *arguments.batch;
  if (!arguments.optimizer.empty()) file.training.optimizer = by_name<plan::Optimizer>(arguments.optimizer, 4);
  if (arguments.precision.empty()) return;
  const auto precision = by_name<plan::Precision>(arguments.precision, 3);
  if (file.model.totals && precision != file.training.precision)
    throw Error("usage", "--precision cannot change what the totals of " + arguments.file + " were measured in",
                "activation_bytes_per_sample is for the file's own precision",
                "measure it again in the other one, or describe the layers");
  file.training.precision = precision;
}

void override_card(const Arguments& arguments, spec::ModelFile& file) {
  const bool any = !arguments.profile.empty() || arguments.capacity_gib || arguments.context_mib ||
                   arguments.other_processes_mib || arguments.reserve;
  if (!any) return;
  spec::PlannedCard card = file.card.value_or(spec::PlannedCard{});
  if (!arguments.profile.empty()) card.profile = arguments.profile, card.capacity_bytes = 0;
  if (arguments.capacity_gib) card.profile.clear(), card.capacity_bytes = bytes(*arguments.capacity_gib, 0x1p30);
  if (arguments.context_mib) card.context_bytes = bytes(*arguments.context_mib, 0x1p20);
  if (arguments.other_processes_mib) card.other_processes_bytes = bytes(*arguments.other_processes_mib, 0x1p20);
  if (arguments.reserve) card.reserve = *arguments.reserve;
  if (card.profile.empty() && card.capacity_bytes == 0)
    throw Error("usage", "it is not known which card this is for", "the file has no [card], and no option names one",
                "add --card PROFILE or --capacity-gib N");
  file.card = card;
}

void run(const Arguments& arguments, const Context& context) {
  spec::ModelFile file = spec::load_model(arguments.file).value();
  override_training(arguments, file);
  override_card(arguments, file);
  const PlanAnswer answer = answer_plan(file, arguments.measure);
  if (context.json)
    print_answer(to_json(answer));
  else
    print_plan(answer);
}

}  // namespace

void add_plan(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("plan", "How much memory training a model takes, and the largest batch");
  command->footer(
      "Exit codes: 0 done, also when it does not fit, 2 usage or a description with a mistake\n"
      "Example: labrig plan docs/models/mlp.toml --batch 512 --card t4");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->file, "The model description (docs/plan.md)")->required();
  command->add_option("--batch", arguments->batch, "Samples in a step")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  command->add_option("--optimizer", arguments->optimizer, "sgd, sgd_momentum, adam or adamw")
      ->type_name("NAME")
      ->check(CLI::IsMember({"sgd", "sgd_momentum", "adam", "adamw"}));
  command->add_option("--precision", arguments->precision, "f32, or an autocast region in f16 or bf16")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}));
  CLI::Option* profile =
      command->add_option("--card", arguments->profile, "The card: a profile's name, or the path of a .toml")
          ->type_name("PROFILE");
  command->add_option("--capacity-gib", arguments->capacity_gib, "The card's memory instead of a profile")
      ->type_name("N")
      ->check(between(0.001, 1e5))
      ->excludes(profile);
  command->add_option("--context-mib", arguments->context_mib, "What the driver keeps for the process")
      ->type_name("N")
      ->check(between(0, 1e8));
  command->add_option("--other-processes-mib", arguments->other_processes_mib, "What other processes hold of the card")
      ->type_name("N")
      ->check(between(0, 1e8));
  command->add_option("--reserve", arguments->reserve, "The part of what is left that stays free (default: 0.2)")
      ->type_name("N")
      ->check(between(0, 0.99));
  command->add_flag("--measure", arguments->measure, "Also train two steps on a simulated card, and read its peak");
  add_json_flag(*command, context);
  command->callback([arguments, &context] { run(*arguments, context); });
}

}  // namespace labrig::app
