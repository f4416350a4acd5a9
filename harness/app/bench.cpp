// labrig bench crossover|copies: when is a card worth it, and what do copies cost? The tables of the field notes, on a
// simulated card (any profile) or measured on a real one.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench_measure.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "labrig/error.hpp"

namespace labrig::app {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string device = "sim", profile;
};

// On what, and whether the times are real.
std::string heading(const BenchDevice& bench) {
  if (bench.simulated())
    return "on " + bench.device().str() + ", profile " + bench.profile().name +
           "\nsimulated: all times are virtual, those of the host too";
  return "on " + describe(bench.device()) + "\nmeasured on this machine: medians, after a warm-up";
}

Json value_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

void print_rows(const Json& rows) { print_answer(rows); }

void crossover(const Context& context, const BenchDevice& bench) {
  const std::vector<CrossoverRow> rows = bench.crossover();
  if (context.json) {
    Json all = Json::array();
    for (const CrossoverRow& row : rows)
      all.push_back({{"n", row.n},
                     {"cpu_ms", row.cpu_ms},
                     {"compute_ms", value_or_null(row.compute_ms)},
                     {"end_to_end_ms", value_or_null(row.end_to_end_ms)}});
    return print_rows(all);
  }
  std::printf("product of two n x n matrices, %s\nf32 throughout; CPU: %d threads\n\n", heading(bench).c_str(),
              bench.host_threads());
  std::printf("%6s %12s %12s %14s %8s\n", "n", "CPU ms", "compute ms", "end-to-end ms", "ratio");
  for (const CrossoverRow& row : rows) {
    std::printf("%6lld %12.4f", static_cast<long long>(row.n), row.cpu_ms);
    if (row.compute_ms)
      std::printf(" %12.4f %14.4f %7.1fx", *row.compute_ms, *row.end_to_end_ms, row.cpu_ms / *row.end_to_end_ms);
    std::printf("\n");
  }
  if (bench.device().is_cpu()) return;
  std::printf(
      "\ncompute: both operands and the result stay on the card; end-to-end: they come from and go to pageable "
      "host memory\nratio: CPU to end-to-end; above 1 the card is worth it\n");
  if (!bench.simulated()) std::printf("empty event pair: %.4f ms\n", bench.empty_event_pair_ms());
}

void copies(const Context& context, const BenchDevice& bench) {
  const std::vector<CopyRow> rows = bench.copies();
  if (context.json) {
    Json all = Json::array();
    for (const CopyRow& row : rows)
      all.push_back({{"bytes", row.bytes},
                     {"direction", row.direction},
                     {"memory", row.memory},
                     {"ms", row.ms},
                     {"gb_per_s", row.gb_per_s()}});
    return print_rows(all);
  }
  std::printf("copies that the host waits for, %s\n\n", heading(bench).c_str());
  std::printf("%12s %10s %10s %12s %10s\n", "bytes", "direction", "memory", "ms", "GB/s");
  for (const CopyRow& row : rows)
    std::printf("%12zu %10s %10s %12.4f %10.3f\n", row.bytes, row.direction.c_str(), row.memory.c_str(), row.ms,
                row.gb_per_s());
  std::printf(
      "\nh2d: host to device; d2h: device to host; d2d: inside the card, whose memory reads and writes each byte\n");
}

void run(Context& context, const Arguments& arguments, void (*table)(const Context&, const BenchDevice&)) {
  const Device device(arguments.device);
  try {
    table(context, BenchDevice(device, arguments.profile));
  } catch (const Error& error) {
    // A card that this machine does not have is no mistake on the command line.
    if (device.type() != DeviceType::cuda || error.code() != "invalid-device") throw;
    print_error(context, error);
    context.exit_code = kUnfit;
  }
}

void add_table(CLI::App& bench, Context& context, const char* name, const char* what,
               void (*table)(const Context&, const BenchDevice&)) {
  CLI::App* command = bench.add_subcommand(name, what);
  command->footer("Exit codes: 0 done, 2 usage, 4 this machine has no such card\nExample: labrig bench " +
                  std::string(name) + " --device sim --profile desktop --json");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--device", arguments->device, "sim, cuda:0, or cpu")->type_name("DEVICE")->capture_default_str();
  command
      ->add_option("--profile", arguments->profile,
                   "The simulated card: a profile's name, or the path of a .toml (default: desktop)")
      ->type_name("PROFILE");
  add_json_flag(*command, context);
  command->callback([arguments, &context, table] { run(context, *arguments, table); });
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  CLI::App* bench = app.add_subcommand("bench", "When is a card worth it, and what do copies cost?");
  bench->require_subcommand(1);
  bench->fallthrough();
  bench->footer("Example: labrig bench crossover --profile t4\n         labrig bench copies --device cuda:0");
  add_table(*bench, context, "crossover", "A product of two matrices on the host, on a card, and end to end",
            crossover);
  add_table(*bench, context, "copies", "Copies of all kinds and sizes", copies);
}

}  // namespace labrig::app
