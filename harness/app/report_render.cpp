// labrig report render FILE: the formats of a report that is there already. report.json is the truth; nothing is graded
// again.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "format_files.hpp"
#include "labrig/error.hpp"
#include "render.hpp"
#include "store/atomic_file.hpp"

namespace labrig::app {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct Arguments {
  std::string file, formats = "html", out, previous;
  bool student = false;
};

// The lab of the report, for its handout; empty where it is not here.
fs::path lab_folder_of(const Context& context, const json& report) {
  for (const fs::path& folder : lab_folders(context))
    if (const json& lab = report.at("lab"); lab.is_object() && lab.value("id", "") == folder.filename()) return folder;
  return {};
}

void run(const Context& context, const Arguments& arguments) {
  const std::vector<reports::Format> formats = read_formats(arguments.formats);
  const json whole = read_fitting_report(arguments.file), previous = read_report_file(arguments.previous);
  const json report = arguments.student ? reports::student_view(whole) : whole;
  const auto files = render_files(formats, report, lab_folder_of(context, report), previous);
  json written = json::array();
  for (const auto& [name, text] : files) {
    const fs::path path = fs::path(arguments.out) / name;
    std::error_code ignored;
    if (fs::equivalent(path, arguments.file, ignored)) continue;  // never over the report that it renders
    store::write_atomically(path, text, store::Existing::replace);
    written.push_back(path.string());
  }
  GithubStep step;
  tell_github(context, formats, report, "", step);
  if (context.json) {
    print_answer(json{{"files", written}});
  } else if (!context.quiet) {
    for (const json& path : written) std::printf("%s\n", path.get<std::string>().c_str());
  }
}

}  // namespace

void add_report_render(CLI::App& report, Context& context) {
  CLI::App* command = report.add_subcommand("render", "Write a report.json in other formats");
  command->footer(
      "docs/formats.md says what each format is for.\nExit codes: 0 done, 2 usage or no report\n"
      "Example: labrig report render report/report.json --format junit,csv --out report");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->file, "The report.json of a graded run")->required();
  command->add_option("--format", arguments->formats, "What to write: " + any_format())
      ->default_str("html")
      ->type_name("LIST");
  command->add_option("--out", arguments->out, "Folder for the files")->required()->type_name("DIR");
  command->add_option("--previous", arguments->previous, "An earlier report.json: the page says what changed since")
      ->type_name("FILE");
  command->add_flag("--student", arguments->student, "What students may see: hidden cases without sizes, seeds, data");
  add_json_flag(*command, context);
  command->callback([arguments, &context] { run(context, *arguments); });
}

}  // namespace labrig::app
