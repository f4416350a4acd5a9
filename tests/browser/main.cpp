// labrig-report-pages write DIR [HANDOUT.html…]   renders every page into DIR, and lists them, with the handouts that
// lie there
//                                                 already, in pages.json
// labrig-report-pages time REPORT.json…           size of the page and how long rendering it takes, over 50 times
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "pages.hpp"
#include "render.hpp"
#include "samples.hpp"

namespace fs = std::filesystem;
using namespace labrig::reports;

namespace {

void write(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

void write_pages(const fs::path& folder, int count, char** handouts) {
  std::vector<test::Page> pages;
  for (auto* group : {test::sample_pages, test::synthetic_pages, test::index_pages}) {
    for (test::Page& page : group()) pages.push_back(std::move(page));
  }
  fs::create_directories(folder);
  nlohmann::json list = nlohmann::json::array();
  for (const test::Page& page : pages) {
    write(folder / (page.name + ".html"), page.html);
    list.push_back({{"name", page.name}, {"kind", page.kind}});
  }
  for (int i = 0; i < count; ++i)
    list.push_back({{"name", fs::path(handouts[i]).stem().string()}, {"kind", "handout"}});
  write(folder / "pages.json", list.dump(1));
  std::cout << list.size() << " pages\n";
}

void time_page(const std::string& file) {
  const nlohmann::json report = nlohmann::json::parse(test::read_file(file));
  std::vector<double> ms;
  std::size_t bytes = 0;
  for (int i = 0; i < 50; ++i) {
    const auto start = std::chrono::steady_clock::now();
    bytes = render_html(report).size();
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(ms.begin(), ms.end());
  std::cout << file << "\t" << bytes << " bytes\tmedian " << ms[25] << " ms\tslowest " << ms.back() << " ms\n";
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string verb = argc > 2 ? argv[1] : "";
  if (verb == "write") {
    write_pages(argv[2], argc - 3, argv + 3);
  } else if (verb == "time") {
    for (int i = 2; i < argc; ++i) time_page(argv[i]);
  } else {
    std::cerr << "usage: labrig-report-pages write DIR [HANDOUT.html…] | time REPORT.json…\n";
    return 2;
  }
} catch (const std::exception& error) {
  std::cerr << "labrig-report-pages: " << error.what() << "\n";
  return 1;
}
