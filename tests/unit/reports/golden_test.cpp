// The pages of the samples as a person approved them. LABRIG_APPROVE=1 writes them anew: look at each in a browser
// before you commit it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "formats.hpp"
#include "render.hpp"
#include "samples.hpp"

namespace labrig::reports::test {
namespace {

void expect_approved(const std::string& file, const std::string& text) {
  const std::string path = std::string(LABRIG_GOLDEN_DIR) + "/" + file;
  if (std::getenv("LABRIG_APPROVE") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  const std::string approved = read_file(path);
  if (approved == text) return;
  const auto at = static_cast<std::size_t>(
      std::mismatch(text.begin(), text.end(), approved.begin(), approved.end()).first - text.begin());
  const std::size_t from = at < 60 ? 0 : at - 60;
  ADD_FAILURE() << file << " differs from the approved one at byte " << at << "\n  now:      " << text.substr(from, 160)
                << "\n  approved: " << approved.substr(std::min(from, approved.size()), 160)
                << "\nLook at the new page; then LABRIG_APPROVE=1 ctest -R ReportGolden writes it.";
}

TEST(ReportGolden, Page) {
  // One page: the others are looked at in a browser (tests/browser).
  expect_approved("weights-every-batch.html", render_html(sample("weights-every-batch")));
}

TEST(ReportGolden, EveryOtherFormat) {
  for (const Format format : formats_from("junit,gradescope,markdown,csv,github,classroom"))
    expect_approved("formats/" + std::string(file_of(format)), render(format, sample("weights-every-batch")));
  expect_approved("formats/trace.json", render(Format::trace, sample("hazard")));
}

TEST(ReportGolden, ConsoleOfTheSamples) {
  for (const std::string& name : sample_names()) expect_approved(name + ".txt", render_console(sample(name), false));
}

TEST(ReportGolden, Index) {
  std::vector<IndexRow> rows;
  for (const std::string& name : sample_names()) {
    IndexRow row = index_row(sample(name), name + ".html");
    row.role = name == "solution" ? "solution" : "flawed";
    row.expected = name == "solution" ? "all points" : "loses bytes-up, copies-up, time";
    row.matched = name != "crashed";
    rows.push_back(row);
  }
  expect_approved("index.html", render_index(rows, {"Transfer cost",
                                                    "Three samples, of which the last is not what its table says."}));
}

}  // namespace
}  // namespace labrig::reports::test
