// labrig report index DIR: one page over all reports below a folder, DIR/index.html. With --expected it also says of
// the shipped submissions whether they came out as their table says (plugins/flawed/<lab>/expected.toml): `make demo`
// uses it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "console.hpp"
#include "expected_table.hpp"
#include "labrig/error.hpp"
#include "render.hpp"
#include "store/atomic_file.hpp"

namespace labrig::app {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// What a shipped submission must come to, in words, and whether it did.
void compare(reports::IndexRow& row, const json& report, const ExpectedTable& flawed) {
  const double score = row.score.value_or(-1);
  if (row.name == "solution") {
    row.role = "solution", row.expected = "all points", row.matched = score == row.max_score;
  } else if (row.name == "starter") {
    row.role = "starter", row.expected = "0 points", row.matched = score == 0;
  } else if (row.name.starts_with("alternate")) {
    row.role = "alternate", row.expected = "95 points or more", row.matched = score >= 95;
  } else if (const ExpectedRow* expected = flawed.find(row.lab, row.name)) {
    row.role = "flawed", row.expected = expected->text(), row.matched = row_of(report) == *expected;
  }
}

json row_json(const reports::IndexRow& row) {
  json result = {
      {"lab", row.lab}, {"name", row.name}, {"report", row.link}, {"max_score", row.max_score}, {"passed", row.passed}};
  result["score"] = row.score ? json(*row.score) : json();
  if (row.matched) result["as_expected"] = *row.matched;
  return result;
}

// Enough of one to be listed.
bool is_report(const json& report) {
  return report.is_object() && report.contains("lab") && report.contains("cases") && report.contains("checks") &&
         report["checks"].is_array();
}

struct IndexArguments {
  std::string folder, expected, title = "Reports";
};

void run_index(const IndexArguments& arguments, Context& context) {
  const fs::path folder = arguments.folder;
  if (!fs::is_directory(folder))
    throw Error("no-such-folder", "there is no folder " + arguments.folder,
                "an index is made over the reports below a folder",
                "name the folder that was given to `labrig grade --out`, or one above it");
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().filename() == "report.json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw Error("no-reports", "there is no report.json below " + arguments.folder,
                "nothing was graded into this folder",
                "run `labrig grade PATH --lab ID --out " + arguments.folder + "/NAME` first");

  ExpectedTable flawed;
  if (!arguments.expected.empty()) flawed = read_expected_tables(arguments.expected).value();
  std::vector<reports::IndexRow> rows;
  std::vector<std::string> broken;
  int surprises = 0;
  for (const fs::path& file : files) {
    std::ifstream stream(file);
    const json report = json::parse(stream, nullptr, /*allow_exceptions=*/false);
    if (!is_report(report)) {  // one of many: the others still have their page
      broken.push_back(fs::relative(file, folder).string());
      continue;
    }
    auto row = reports::index_row(report, fs::relative(file.parent_path() / "report.html", folder).string());
    if (!arguments.expected.empty()) compare(row, report, flawed);
    if (row.matched && !*row.matched) ++surprises;
    rows.push_back(std::move(row));
  }
  auto rank = [](const reports::IndexRow& row) {
    return row.role == "solution" ? 0 : row.role == "starter" ? 1 : row.role == "alternate" ? 2 : 3;
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return std::pair(a.lab, rank(a)) < std::pair(b.lab, rank(b)); });
  reports::IndexOptions options;
  options.title = arguments.title;
  store::write_atomically(folder / "index.html", reports::render_index(rows, options), store::Existing::replace);

  for (const std::string& file : broken)
    std::fprintf(stderr,
                 "warning: left out: %s is no report\n  why: it is not JSON, or was cut short\n"
                 "  fix: grade the submission again, or remove the file\n",
                 file.c_str());
  if (context.json) {
    json all = json::array();
    for (const auto& row : rows) all.push_back(row_json(row));
    const json answer = {{"index", (folder / "index.html").string()}, {"reports", all}, {"broken", broken}};
    print_answer(answer);
  } else if (!context.quiet) {
    for (const auto& row : rows)
      if (row.matched && !*row.matched)
        std::printf("not as expected: %s/%s (%s)\n", row.lab.c_str(), row.name.c_str(), row.expected.c_str());
    std::printf("%zu reports: %s\n", rows.size(), (folder / "index.html").string().c_str());
  }
  context.exit_code = surprises == 0 ? kPassed : kBelowPassMark;
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  auto* report = app.add_subcommand("report", "Pages and files made of reports that are already there");
  report->require_subcommand(1);
  report->footer("Example: labrig report render report/report.json --format junit --out report");
  add_report_render(*report, context);
  auto* index = report->add_subcommand("index", "One page over all reports below a folder: DIR/index.html");
  auto arguments = std::make_shared<IndexArguments>();
  index->add_option("DIR", arguments->folder, "Folder with reports, at any depth")->required();
  index
      ->add_option("--expected", arguments->expected,
                   "Folder that holds LAB/expected.toml: also say which submissions came out otherwise")
      ->type_name("DIR");
  index->add_option("--title", arguments->title, "Heading of the page");
  add_json_flag(*index, context);
  index->footer(
      "Exit codes: 0 done, 1 a submission did not come out as --expected says, 2 usage\n"
      "Example: labrig report index build/demo --expected plugins/flawed");
  index->callback([arguments, &context] { run_index(*arguments, context); });
}

}  // namespace labrig::app
