#include "store/run_folder.hpp"

#include <fmt/format.h>

#include "labrig/error.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"

namespace labrig::store {

using Json = nlohmann::ordered_json;

namespace {

// The text under a list of keys, empty when there is none.
std::string text_at(const Json& json, const char* table, const char* key) {
  const auto found = json.find(table);
  return found != json.end() && found->is_object() ? found->value(key, std::string()) : std::string();
}

bool is_of_same_submission(const Json& old, const Json& report) {
  if (!old.is_object() || text_at(old, "lab", "id") != text_at(report, "lab", "id")) return false;
  const std::string hash = text_at(report, "submission", "hash");
  return text_at(old, "submission", "name") == text_at(report, "submission", "name") ||
         (!hash.empty() && text_at(old, "submission", "hash") == hash);
}

}  // namespace

void write_run(const std::filesystem::path& folder, const Json& report,
               const std::map<std::string, std::string>& renderings) {
  const std::filesystem::path file = folder / "report.json";
  const std::string text = report.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (!write_atomically(file, text, Existing::keep)) {
    const Json old = Json::parse(read_file(file).value(), nullptr, /*allow_exceptions=*/false);
    if (!is_of_same_submission(old, report))
      throw Error("other-report", fmt::format("{} is the report of another submission", file.string()),
                  old.is_object() ? fmt::format("it belongs to '{}'", text_at(old, "submission", "name"))
                                  : "it is no report at all",
                  "give a folder of its own to each submission: --out DIR");
    write_atomically(file, text, Existing::replace);
  }
  for (const auto& [name, content] : renderings) write_atomically(folder / name, content, Existing::replace);
}

}  // namespace labrig::store
