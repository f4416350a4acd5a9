// labrig triage [FILE]: the cause of memory trouble, from what a run left behind. Reads standard input where no FILE or
// `-` is given.
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "commands.hpp"
#include "labrig/error.hpp"
#include "labrig/triage.hpp"

namespace labrig::app {
namespace {

std::string read_all(std::istream& stream) { return {std::istreambuf_iterator<char>(stream), {}}; }

std::string read_input(const std::string& file) {
  if (file.empty() && isatty(STDIN_FILENO) != 0)
    throw Error("usage", "`labrig triage` needs an input", "no FILE is given, and nothing is piped in",
                "name a file, or pipe a message in: labrig triage - < message.txt");
  if (file.empty() || file == "-") return read_all(std::cin);
  std::ifstream stream;
  if (!std::filesystem::is_directory(file)) stream.open(file, std::ios::binary);
  if (!stream.is_open())
    throw Error("bad-file", "cannot read " + file, "there is no such file, or it is a folder, or it may not be read",
                "name a file with a message, a history, a snapshot or readings");
  return read_all(stream);
}

}  // namespace

void add_triage(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("triage", "Find the cause of memory trouble in a message, a snapshot or readings");
  auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file,
                      "Message, memory_summary, snapshot or history (JSON), readings (CSV), loss scales; - for stdin");
  add_json_flag(*command, context);
  command->footer(
      "Exit codes: 0 there is a diagnosis (also: healthy, unknown), 2 the input is none of these\n"
      "Example: labrig triage message.txt\n"
      "         python train.py 2>&1 | tail -50 | labrig triage -");
  command->callback([file, &context] {
    const triage::Diagnosis diagnosis = triage::diagnose(read_input(*file)).value();
    std::printf("%s", (context.json ? to_json(diagnosis) : to_text(diagnosis)).c_str());
  });
}

}  // namespace labrig::app
