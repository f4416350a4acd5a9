// What stands in lab.toml, table by table. Read next: toml_reader.hpp (how keys are asked for), validate.cpp (what no
// single key shows).
#include <fmt/format.h>

#include "spec/lab_spec.hpp"
#include "spec/positions.hpp"
#include "spec/toml_reader.hpp"
#include "store/digest.hpp"

namespace labrig::spec {
namespace {

const std::vector<std::pair<std::string, Visibility>> kVisibilities = {{"visible", Visibility::visible},
                                                                       {"hidden", Visibility::hidden}};

Limits read_limits(TomlReader reader) {
  const Limits standard;
  Limits limits;
  limits.cpu_ms = reader.positive("cpu_ms", standard.cpu_ms);
  limits.memory_mib = reader.positive("memory_mib", standard.memory_mib);
  limits.output_kib = reader.positive("output_kib", standard.output_kib);
  limits.device_mib = reader.positive("device_mib", standard.device_mib);
  reader.finish();
  return limits;
}

Task read_task(TomlReader reader) {
  Task task;
  task.id = reader.integer("id");
  task.title = reader.text("title");
  reader.finish();
  return task;
}

std::vector<Parameter> read_parameters(TomlReader reader, bool may_be_ranges) {
  std::vector<Parameter> parameters;
  for (const std::string& name : reader.keys()) {
    Parameter parameter;
    parameter.name = name;
    if (!reader.is_table(name)) {
      parameter.from = parameter.to = reader.number(name);
    } else if (!may_be_ranges) {
      reader.wrong(name, "a number (only hidden scenarios have ranges)", "a range");
    } else {
      TomlReader range = reader.table(name);
      parameter.from = range.number("from");
      parameter.to = range.number("to");
      parameter.step = range.number("step", 1);
      if (parameter.step <= 0) range.wrong("step", "a positive number", fmt::format("{}", parameter.step));
      if (parameter.to < parameter.from)
        range.wrong("to", fmt::format("at least {}", parameter.from), fmt::format("{}", parameter.to));
      range.finish();
    }
    parameters.push_back(parameter);
  }
  return parameters;
}

// Several cards of one profile; `card` is the number of the one that is asked for.
void read_cards(TomlReader& reader, ScenarioSpec& scenario) {
  if (scenario.device != DeviceType::sim) return;  // the keys are unknown there
  constexpr std::int64_t kMostCards = 8;
  const auto within = [&](const char* key, std::int64_t low, std::int64_t high, std::int64_t otherwise) {
    const std::int64_t value = reader.has(key) ? reader.integer(key) : otherwise;
    if (value < low || value > high)
      reader.wrong(key, fmt::format("an integer from {} to {}", low, high), fmt::format("{}", value));
    return static_cast<int>(value);
  };
  scenario.cards = within("cards", 1, kMostCards, 1);
  scenario.card = within("card", 0, scenario.cards - 1, 0);
}

// Segments of the allocator are multiples of 2 MiB.
std::int64_t read_capacity(TomlReader& reader, DeviceType device) {
  const std::int64_t mib = reader.positive("capacity_mib", 0);
  if (device != DeviceType::sim) reader.wrong("capacity_mib", "a scenario on a card", "one on the host");
  if (mib % 2 != 0 || mib > 1 << 20) reader.wrong("capacity_mib", "an even number of MiB", std::to_string(mib));
  return mib;
}

ScenarioSpec read_scenario(TomlReader reader) {
  ScenarioSpec scenario;
  scenario.id = reader.text("id");
  scenario.kind = reader.text("kind");
  scenario.visibility = reader.word<Visibility>("visibility", kVisibilities, Visibility::visible);
  scenario.device =
      reader.word<DeviceType>("device", {{"sim", DeviceType::sim}, {"cpu", DeviceType::cpu}}, DeviceType::sim);
  // On the host a profile is what the lab's judge makes of it; a card must have one.
  if (scenario.device == DeviceType::sim || reader.has("profiles")) {
    scenario.profiles = reader.texts("profiles");
    if (scenario.profiles.empty()) reader.wrong("profiles", "at least one profile", "none");
  }
  if (reader.has("capacity_mib")) scenario.capacity_mib = read_capacity(reader, scenario.device);
  scenario.data = reader.boolean("data", true);
  read_cards(reader, scenario);
  if (reader.has("reads")) {
    scenario.reads_zeros = reader.word<bool>("reads", {{"refused", false}, {"zeros", true}}, std::nullopt);
    if (scenario.data) reader.wrong("reads", "data = false beside it", "a scenario that has values");
  }
  if (reader.has("parameters"))
    scenario.parameters = read_parameters(reader.table("parameters"), scenario.visibility == Visibility::hidden);
  reader.finish();
  return scenario;
}

void read_limit(TomlReader& reader, Condition& condition) {
  const int given = reader.has("limit") + reader.has("parameter") + reader.has("reference_times");
  if (given != 1)
    reader.wrong("rule", "with at_most exactly one of limit, parameter, reference_times", std::to_string(given));
  if (reader.has("limit")) condition.limit = reader.number("limit");
  condition.limit_parameter = reader.text("parameter", "");
  if (reader.has("reference_times")) {
    condition.reference_times = reader.number("reference_times");
    condition.plus = reader.number("plus", 0);
  }
}

// `id` and `title_failed` of the check stand in where the judge decides and says nothing.
void read_condition(TomlReader& reader, Condition& condition, const std::string& id, const std::string& title_failed) {
  condition.rule = reader.word<Rule>("rule",
                                     {{"values", Rule::values},
                                      {"ordered", Rule::ordered},
                                      {"finding", Rule::finding},
                                      {"ratio", Rule::ratio},
                                      {"at_most", Rule::at_most},
                                      {"equals", Rule::equals},
                                      {"accuracy", Rule::accuracy}},
                                     std::nullopt);
  const bool judged =
      condition.rule == Rule::values || condition.rule == Rule::ordered || condition.rule == Rule::finding;
  if (condition.rule == Rule::finding) condition.finding = reader.text("finding");
  if (!judged) {
    condition.finding = reader.text("finding", "");
    condition.metric = reader.texts("metric");
    if (condition.metric.empty()) reader.wrong("metric", "at least one metric", "none");
  }
  if (condition.rule == Rule::ratio) condition.more_is_better = reader.boolean("more_is_better", false);
  if (condition.rule == Rule::equals) condition.limit = reader.number("limit");
  if (condition.rule == Rule::at_most) read_limit(reader, condition);
  condition.code = judged ? reader.text("code", id) : reader.text("code");
  condition.text = judged ? reader.text("text", title_failed) : reader.text("text");
}

CheckSpec read_check(TomlReader reader) {
  CheckSpec check;
  check.id = reader.text("id");
  check.task = reader.integer("task");
  TomlReader title = reader.table("title");
  check.title_passed = title.text("passed");
  check.title_failed = title.text("failed");
  title.finish();
  check.points = reader.number("points");
  if (check.points <= 0) reader.wrong("points", "a positive number", fmt::format("{}", check.points));
  check.visibility = reader.word<Visibility>("visibility", kVisibilities, Visibility::visible);
  check.kinds = reader.texts("kinds");
  if (check.kinds.empty()) reader.wrong("kinds", "at least one kind", "none");
  if (reader.has("needs")) check.needs = reader.texts("needs");
  check.combine = reader.word<Combine>("combine", {{"mean", Combine::mean}, {"worst", Combine::worst}}, Combine::mean);
  read_condition(reader, check, check.id, check.title_failed);
  if (reader.has("also"))
    for (TomlReader& further : reader.tables("also")) {
      read_condition(further, check.also.emplace_back(), check.id, check.title_failed);
      further.finish();
    }
  if (reader.has("explain")) {
    TomlReader explain = reader.table("explain");
    check.explain = Explain{explain.text("what"), explain.text("cause"), explain.text("next")};
    explain.finish();
  }
  if (reader.has("causes")) {
    TomlReader causes = reader.table("causes");
    for (const std::string& code : causes.keys()) {
      TomlReader cause = causes.table(code);
      check.causes[code] = Cause{cause.text("cause"), cause.text("next")};
      cause.finish();
    }
    causes.finish();
  }
  check.hints = reader.texts("hints");
  if (check.hints.size() != 3) reader.wrong("hints", "three hints", std::to_string(check.hints.size()));
  check.facts = reader.texts_or_none("facts");
  check.handout = reader.text("handout", "");
  reader.finish();
  return check;
}

LabSpec read_lab(TomlReader top) {
  LabSpec spec;
  if (const std::int64_t schema = top.integer("schema"); schema != 1) top.wrong("schema", "1", std::to_string(schema));
  TomlReader lab = top.top_table("lab");
  spec.id = lab.text("id");
  spec.version = lab.text("version");
  spec.title = lab.text("title");
  spec.pass_mark = lab.number("pass_mark", 60);
  if (spec.pass_mark < 0 || spec.pass_mark > 100)
    lab.wrong("pass_mark", "a number from 0 to 100", fmt::format("{}", spec.pass_mark));
  spec.points = lab.number("points", 100);
  if (spec.points <= 0 || spec.points > 100)
    lab.wrong("points", "a number above 0, up to 100", fmt::format("{}", spec.points));
  lab.finish();
  TomlReader submission = top.top_table("submission");
  spec.files = submission.texts("files");
  if (spec.files.empty()) submission.wrong("files", "at least one file", "none");
  submission.finish();
  if (top.has("imports")) {
    TomlReader imports = top.top_table("imports");
    spec.forbidden_imports = imports.texts("forbid");
    imports.finish();
  }
  if (top.has("limits")) spec.limits = read_limits(top.top_table("limits"));
  for (TomlReader& reader : top.tables("task")) spec.tasks.push_back(read_task(reader));
  for (TomlReader& reader : top.tables("scenario")) spec.scenarios.push_back(read_scenario(reader));
  for (TomlReader& reader : top.tables("check")) spec.checks.push_back(read_check(reader));
  top.finish();
  return spec;
}

}  // namespace

Result<LabSpec> parse_lab(std::string_view text, const std::string& file, const std::string& handout) {
  try {
    Positions positions(file, "bad-lab-toml");
    const TomlDocument document(text, file);
    LabSpec spec = read_lab(document.top("lab.toml", positions));
    validate(spec, positions, handout);
    return spec;
  } catch (const Error& error) {
    return error;
  }
}

Result<LabSpec> load_lab(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "lab.toml";
  Result<std::string> text = store::read_file(file);
  if (!text) return text.error();
  const Result<std::string> handout = store::read_file(folder / "handout.html");
  Result<LabSpec> spec = parse_lab(*text, file.string(), handout ? handout.value() : "");
  if (spec) spec->folder = folder;
  return spec;
}

}  // namespace labrig::spec
