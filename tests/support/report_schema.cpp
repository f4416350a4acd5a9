// Validation with valijson, whose headers stay in this file.
#include "report_schema.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace labrig::test {

std::string problems(const nlohmann::json& report) { return problems(report, LABRIG_REPORT_SCHEMA); }

std::string problems(const nlohmann::json& value, const std::string& schema_file) {
  std::ifstream file(schema_file);
  const nlohmann::json document = nlohmann::json::parse(file);
  valijson::Schema schema;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7)
      .populateSchema(valijson::adapters::NlohmannJsonAdapter(document), schema);
  valijson::ValidationResults results;
  valijson::adapters::NlohmannJsonAdapter target(value);
  if (valijson::Validator().validate(schema, target, &results)) return {};
  std::string out;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const std::string& step : error.context) out += step;
    out += ": " + error.description + "\n";
  }
  return out.empty() ? "invalid" : out;
}

}  // namespace labrig::test
