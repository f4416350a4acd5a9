// labrig grade PATH --lab ID: runs every case, hidden ones too, and writes the report and its renderings.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "console.hpp"
#include "format_files.hpp"
#include "grading.hpp"
#include "render.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"
#include "store/run_folder.hpp"

namespace labrig::app {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

struct Arguments {
  std::string path, lab, out, seed, secret_file, formats = "html,json", previous;
  bool has_out = false;  // --out was given, if only with an empty name
  int jobs = 0;
};

void write_report(const Arguments& arguments, const std::vector<reports::Format>& formats, const spec::LabSpec& lab,
                  const Json& report) {
  const nlohmann::json plain(report), student = reports::student_view(plain);
  const nlohmann::json previous = read_report_file(arguments.previous);
  auto renderings = render_files(formats, plain, lab.folder, previous);
  renderings.erase("report.json");  // is written first, and never over somebody else's
  if (renderings.contains("report.html")) {
    const nlohmann::json before = previous.is_object() ? reports::student_view(previous) : previous;
    renderings["report.student.html"] =
        render_files({reports::Format::html}, student, lab.folder, before).at("report.html");
  }
  renderings["report.student.json"] = student.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  store::write_run(arguments.out, report, renderings);
}

void run(Context& context, const Arguments& arguments) {
  const spec::LabSpec lab = spec::load_lab(context.lab(arguments.lab)).value();
  RunOptions options;
  options.jobs = arguments.jobs;
  if (!arguments.secret_file.empty()) options.plan.secret = read_secret(arguments.secret_file);
  if (!arguments.seed.empty()) options.plan.seed = read_seed(arguments.seed);
  if (arguments.has_out && arguments.out.empty())
    throw Error("no-such-folder", "--out has no folder", "the name is empty; a variable may not be set",
                "give a folder, as in --out report, or leave --out away");
  const std::vector<reports::Format> formats = read_formats(arguments.formats);
  read_report_file(arguments.previous);  // what is wrong with it is said before anything runs
  const Submitted submitted = take_submission(context, lab, arguments.path);
  options.plan.submission_hash = submitted.facts.hash;
  if (arguments.has_out && std::find(formats.begin(), formats.end(), reports::Format::gradescope) != formats.end())
    options.so_far = [&](const Json& so_far, std::size_t finished, std::size_t total) {
      store::write_atomically(fs::path(arguments.out) / reports::file_of(reports::Format::gradescope),
                              reports::render_gradescope_partial(nlohmann::json(so_far), finished, total),
                              store::Existing::replace);
    };
  const std::optional<Json> report = run_and_grade(context, lab, submitted, options);
  if (!report) {
    context.exit_code = kInterrupted;
    return;
  }
  // Before anything is printed: who reads the console may stop reading.
  if (arguments.has_out) write_report(arguments, formats, lab, *report);
  GithubStep step;
  tell_github(context, formats, nlohmann::json(*report), "", step);
  print_report(context, *report);
  if (arguments.has_out && !context.json && !context.quiet)
    std::printf("report: %s\n", (fs::path(arguments.out) / reports::file_of(formats.front())).string().c_str());
  context.exit_code = exit_code_of(*report, submitted);
}

}  // namespace

void add_grade(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("grade", "Grade a submission: every case, with a report");
  command->footer(
      "Exit codes: 0 reached the pass mark, 1 below it, 2 usage, 3 refused before any code ran,\n"
      "            4 environment unfit, 5 fault of the harness, 130 interrupted\n"
      "Example: labrig grade my-solution --lab transfer-cost --out report");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("PATH", arguments->path, "A student's folder, or a built .labrig.so")->required();
  command->add_option("--lab", arguments->lab, "The lab's id; `labrig labs` lists them")->required()->type_name("ID");
  const CLI::Option* out =
      command->add_option("--out", arguments->out, "Write report.json, report.html and the student's copies here")
          ->type_name("DIR");
  command->add_option("--format", arguments->formats, "With --out: " + any_format())
      ->default_str("html,json")
      ->type_name("LIST");
  command->add_option("--previous", arguments->previous, "An earlier report.json: the page says what changed since")
      ->type_name("FILE");
  command->add_option("--seed", arguments->seed, "Seed of the data of every case, instead of the drawn one")
      ->type_name("N");
  command
      ->add_option("--secret-file", arguments->secret_file,
                   "File with the course's secret, from which hidden sizes and data are drawn")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);  // an empty name, of an unset variable, must not mean the public secret
  command->add_option("--jobs", arguments->jobs, "Cases at a time (default: every usable core)")
      ->type_name("N")
      ->check(CLI::Range(1, 256));
  add_json_flag(*command, context);
  command->callback([arguments, out, &context] {
    arguments->has_out = out->count() > 0;
    run(context, *arguments);
  });
}

}  // namespace labrig::app
