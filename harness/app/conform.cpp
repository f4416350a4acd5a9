// labrig conform KIND FILE: our core against recordings of PyTorch. Prints how many entries agree and, when one does
// not, the first difference in full. Exits 1 on any difference.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "conform/kinds.hpp"
#include "console.hpp"
#include "labrig/error.hpp"

namespace labrig::app {
namespace {

struct Arguments {
  std::string kind, file, device = "sim";
};

void run(const Arguments& arguments, Context& context) {
  const conform::Kind& kind = conform::kind_named(arguments.kind);
  if (arguments.file.empty()) {
    throw Error("usage", "`labrig conform " + arguments.kind + "` needs a FILE",
                "it compares the core with a recording", "name the recording: a .json or .json.gz");
  }
  const Device device(arguments.device);
  const conform::JsonFile file = conform::JsonFile::read(arguments.file).value();
  try {
    const conform::Outcome outcome = kind.run(file, device);
    if (context.json)
      print_answer(to_json(outcome));
    else
      std::printf("%s", to_text(outcome).c_str());
    context.exit_code = outcome.ok() ? kPassed : kBelowPassMark;
  } catch (const Error& error) {
    // A card that this machine does not have is no mistake on the command line.
    if (device.type() != DeviceType::cuda || error.code() != "invalid-device") throw;
    print_error(context, error);
    context.exit_code = kUnfit;
  }
}

std::string footer() {
  std::string text = "KIND is one of\n";
  for (const conform::Kind& kind : conform::kinds()) {
    text += "  " + std::string(kind.name) + std::string(16 - kind.name.size(), ' ') + std::string(kind.about) + "\n";
  }
  return text +
         "Exit codes: 0 all agree, 1 something differs, 2 usage or not such a recording, 4 this machine has no such "
         "card\nExample: labrig conform alloc_traces tests/golden/core/alloc_traces.json.gz";
}

}  // namespace

void add_conform(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("conform", "Compare the core with recordings of PyTorch");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("KIND", arguments->kind, "What was recorded")->required();
  command->add_option("FILE", arguments->file, "Recording, .json or .json.gz");
  command->add_option("--device", arguments->device, "sim, cuda:0, or cpu")->type_name("DEVICE")->capture_default_str();
  add_json_flag(*command, context);
  command->footer(footer());
  command->callback([arguments, &context] { run(*arguments, context); });
}

}  // namespace labrig::app
