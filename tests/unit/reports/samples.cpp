// Samples are read from the source tree, so that a test always sees what is committed.
#include "samples.hpp"

#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace labrig::reports::test {
namespace {

void replace_texts(nlohmann::json& value, const std::string& text) {
  // What the renderers compare with: these stay.
  static const std::set<std::string> kept = {"schema", "status", "visibility", "lane", "phase", "source"};
  if (value.is_object()) {
    for (auto& [key, item] : value.items()) {
      if (kept.count(key) == 0) replace_texts(item, text);
    }
  } else if (value.is_array()) {
    for (auto& item : value) replace_texts(item, text);
  } else if (value.is_string()) {
    value = text;
  }
}

}  // namespace

const std::vector<std::string>& sample_names() {
  static const std::vector<std::string> names = {"solution", "weights-every-batch", "crashed"};
  return names;
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

nlohmann::json sample(const std::string& name) {
  return nlohmann::json::parse(read_file(std::string(LABRIG_REPORTS_DIR) + "/samples/" + name + ".json"));
}

nlohmann::json with_every_text(const std::string& text) {
  nlohmann::json report = sample("weights-every-batch");
  // Names of metrics and parameters come from a lab, those of figures from its judge.
  report["cases"][0]["figures"][text] = 1.5;
  report["cases"][0]["output"] = {{"text", "x"}, {"cut", true}};
  replace_texts(report, text);
  return report;
}

std::string hostile_text() {
  return std::string(
             "<script>parent.hacked=1</script><img src=x onerror=parent.hacked=1></title></style></svg></pre>\"'`> ") +
         "javascript:parent.hacked=1 ]]> --> {{verdict}} {{{css}}} {{>head.mustache}} \x1b[2J\x1b[31mPASS\x07 " +
         std::string(1, '\0') +
         " \xe2\x80\xae"
         "001 fo 001\xe2\x81\xa6 \xff\xfe\xc0\xaf\xed\xa0\x80 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d $(reboot) `reboot`";
}

}  // namespace labrig::reports::test
