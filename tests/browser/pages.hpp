// The pages that the browser tests open: each sample report, and reports made up for what no sample has.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace labrig::reports::test {

struct Page {
  std::string name;  // of the file too: NAME.html
  // "report", "index", "handout": what a page has to show. "made-up": a report that is no run's. "hostile": its texts try to
  // break out of the page.
  std::string kind;
  std::string html;
};

std::vector<Page> sample_pages();
std::vector<Page> synthetic_pages();
std::vector<Page> index_pages();

}  // namespace labrig::reports::test
