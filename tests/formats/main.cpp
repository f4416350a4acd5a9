// labrig-format-files DIR: writes every format of every sample, and of reports whose texts try to break out of each,
// for programs that are not ours to read.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "formats.hpp"
#include "samples.hpp"

using namespace labrig::reports;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// The strings that broke writers of JUnit files, as bytes.
std::vector<std::pair<std::string, std::string>> hostile_strings() {
  std::vector<std::pair<std::string, std::string>> all = {{"hostile", test::hostile_text()},
                                                          {"formula", "=HYPERLINK(\"x\")"},
                                                          {"surrogate", "bytes \xed\xa0\x80"},
                                                          {"invalid", "\xff\xfe\xc0\xaf"}};
  const json strings = json::parse(test::read_file(std::string(LABRIG_GOLDEN_EXPORTS) + "/junit_strings.json"));
  for (const auto& [name, text] : strings.items())
    all.emplace_back(name, name == "long_line" ? std::string(200'000, 'A') : text.get<std::string>());
  return all;
}

void write(const fs::path& folder, const json& report) {
  fs::create_directories(folder);
  for (const Format format : {Format::html, Format::json, Format::junit, Format::gradescope, Format::markdown,
                              Format::csv, Format::trace, Format::github, Format::classroom})
    std::ofstream(folder / file_of(format), std::ios::binary) << render(format, report);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: labrig-format-files DIR\n";
    return 2;
  }
  const fs::path folder = argv[1];
  for (const char* name : {"solution", "weights-every-batch", "crashed", "hazard", "amp", "refused"})
    write(folder / name, test::sample(name));
  for (const auto& [name, text] : hostile_strings()) write(folder / ("string-" + name), test::with_every_text(text));
}
