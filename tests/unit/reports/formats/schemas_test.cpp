// Files of JSON against the rules of those who read them (tests/formats/*.schema.json), with valijson; and files of
// others that are known to break: strict JSON or the same rules refuse each.
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <nlohmann/json.hpp>

#include "formats.hpp"
#include "report_schema.hpp"
#include "samples.hpp"

namespace labrig::reports {
namespace {

using labrig::test::problems;
using nlohmann::json;

std::string schema(const char* name) { return std::string(LABRIG_FORMAT_SCHEMAS "/") + name + ".schema.json"; }

json decoded(const std::string& base64) {
  std::string out(base64.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(base64.data()),
                  static_cast<int>(base64.size()));
  out.resize(out.size() - (base64.ends_with("==") ? 2 : base64.ends_with('=') ? 1 : 0));
  return json::parse(out);
}

std::vector<json> reports() {
  std::vector<json> all;
  for (const char* name : {"solution", "weights-every-batch", "crashed", "hazard", "amp", "refused"})
    all.push_back(test::sample(name));
  for (const char* name : {"solution", "hazard"}) {
    json fault = test::sample(name);
    fault["score"] = nullptr;
    fault["checks"][0]["status"] = "fault";
    fault["checks"][1]["status"] = "skipped";
    fault["checks"][2]["visibility"] = "hidden";
    all.push_back(fault);
  }
  all.push_back(test::with_every_text(test::hostile_text()));
  return all;
}

TEST(FormatSchemas, HoldForEveryReport) {
  for (const json& report : reports()) {
    EXPECT_EQ(problems(json::parse(render(Format::gradescope, report)), schema("gradescope")), "");
    EXPECT_EQ(problems(json::parse(render_gradescope_partial(report, 0, 3)), schema("gradescope")), "");
    EXPECT_EQ(problems(json::parse(render(Format::trace, report)), schema("trace")), "");
    EXPECT_EQ(problems(decoded(render(Format::classroom, report)), schema("classroom")), "");
  }
}

TEST(FormatSchemas, OrStrictJsonRefuseTheRecordedTraces) {
  for (const char* name : {"inf_bandwidth", "missing_quote", "control_character", "string_ts_epoch_ns"}) {
    const json trace = json::parse(test::read_file(LABRIG_GOLDEN_EXPORTS "/trace/bad_" + std::string(name) + ".json"),
                                   nullptr, /*allow_exceptions=*/false);
    EXPECT_TRUE(trace.is_discarded() || !problems(trace, schema("trace")).empty()) << name;
  }
}

TEST(FormatSchemas, RefuseTheRecordedPayloadsThatSpoilASum) {
  const json recorded = json::parse(test::read_file(LABRIG_GOLDEN_EXPORTS "/classroom_payloads.json"));
  for (const char* name : {"missing_score", "null_tests", "string_score"})
    EXPECT_NE(problems(recorded.at(name).at("payload"), schema("classroom")), "") << name;
}

TEST(FormatSchemas, RefuseWhatGradescopeDoes) {
  const json good = json::parse(render(Format::gradescope, test::sample("solution")));
  for (const auto& [where, value] : std::vector<std::pair<std::string, json>>{{"/score", "100"},
                                                                              {"/visibility", "secret"},
                                                                              {"/tests/0/number", 1},
                                                                              {"/tests/0/status", "skipped"},
                                                                              {"/tests/0/output_format", "raw"},
                                                                              {"/tests/0/points", 1}}) {
    json bad = good;
    bad[json::json_pointer(where)] = value;
    EXPECT_NE(problems(bad, schema("gradescope")), "") << where;
  }
}

}  // namespace
}  // namespace labrig::reports
