// labrig conform KIND FILE: our core against recordings of PyTorch. Prints how many are exact and, when one is not, the
// first difference in full. Exits 1 on any difference.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "conform/alloc_traces.hpp"
#include "labrig/error.hpp"

namespace labrig::app {

namespace {

using nlohmann::ordered_json;

void print_text(const conform::AllocTracesResult& result) {
  std::printf("%zu of %zu exact\n", result.exact, result.traces);
  if (result.without_log > 0) {
    std::printf(
        "%zu of them without a log: addresses are not compared there; which of two equal blocks is taken depends on "
        "them, "
        "so that figures can differ\n",
        result.without_log);
  }
  if (!result.ignored.empty()) {
    std::string list;
    for (const std::string& key : result.ignored) list += (list.empty() ? "" : ", ") + key;
    std::printf("not known here, and ignored: %s\n", list.c_str());
  }
  if (!result.first) return;
  const conform::Difference& first = *result.first;
  std::printf("first difference: %s, operation %zu: %s\n  key:      %s\n  expected: %s\n  got:      %s\n",
              first.trace.c_str(), first.operation, first.operation_text.c_str(), first.key.c_str(),
              first.expected.c_str(), first.got.c_str());
}

void print_json(const conform::AllocTracesResult& result) {
  ordered_json answer = {{"kind", "alloc_traces"},          {"total", result.traces},
                         {"exact", result.exact},           {"without_log", result.without_log},
                         {"operations", result.operations}, {"figures", result.figures},
                         {"addresses", result.addresses},   {"ignored", result.ignored},
                         {"first_difference", nullptr}};
  if (result.first) {
    const conform::Difference& first = *result.first;
    answer["first_difference"] = {
        {"trace", first.trace}, {"operation", first.operation}, {"operation_text", first.operation_text},
        {"key", first.key},     {"expected", first.expected},   {"got", first.got}};
  }
  std::printf("%s\n", answer.dump(2).c_str());
}

void run_alloc_traces(const std::string& path, Context& context) {
  const conform::JsonFile file = conform::JsonFile::read(path).value();
  const conform::AllocTracesResult result = conform::conform_alloc_traces(file).value();
  if (context.json) {
    print_json(result);
  } else {
    print_text(result);
  }
  context.exit_code = result.exact == result.traces ? kPassed : kBelowPassMark;
}

}  // namespace

void add_conform(CLI::App& app, Context& context) {
  auto* conform = app.add_subcommand("conform", "Compare the core with recordings of PyTorch");
  conform->require_subcommand(1);
  auto* traces = conform->add_subcommand(
      "alloc_traces", "The caching allocator: every statistic after every operation, and every block address");
  auto path = std::make_shared<std::string>();
  traces->add_option("FILE", *path, "Recording, .json or .json.gz")->required();
  add_json_flag(*traces, context);
  traces->footer(
      "Exits 1 on any difference and 2 when the file is not such a recording.\n"
      "Example: labrig conform alloc_traces tests/golden/core/alloc_traces.json.gz");
  traces->callback([path, &context] { run_alloc_traces(*path, context); });
}

}  // namespace labrig::app
