// Renders the samples, an index and a hostile report, and writes them into the page that examines them in a browser.
#include <iostream>

#include "render.hpp"
#include "samples.hpp"

int main(int argc, char** argv) {
  using namespace labrig::reports;
  if (argc != 2) {
    std::cerr << "usage: labrig-report-probe TEMPLATE\n";
    return 2;
  }
  nlohmann::json pages = nlohmann::json::object();
  std::vector<IndexRow> rows;
  for (const std::string& name : test::sample_names()) {
    pages[name] = render_html(test::sample(name));
    rows.push_back(index_row(test::sample(name), name + ".html"));
    rows.back().matched = rows.size() != 2;
    rows.back().expected = "all points";
  }
  pages["index"] = render_index(rows);
  pages["hostile: markup"] = render_html(test::with_every_text(test::hostile_text()));
  pages["hostile: one long word"] = render_html(test::with_every_text(std::string(3000, 'W')));

  // Inside a script element "</" would end it.
  std::string text = pages.dump();
  for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3))
    text.replace(at, 2, "<\\/");
  std::string probe = test::read_file(argv[1]);
  const std::string place = "/*PAGES*/{}";
  const std::size_t at = probe.find(place);
  if (at == std::string::npos) {
    std::cerr << "the template has no place for the pages\n";
    return 1;
  }
  std::cout << probe.replace(at, place.size(), text);
}
