#include "kit/lab_copy.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "kit/product.hpp"
#include "kit/visible_lab.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"
#include "supervisor/reference_store.hpp"

namespace labrig::kit {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// A lab of one's own may have more in its folder, sources and solutions too: only what a built lab consists of travels.
constexpr const char* kFiles[] = {"lab.toml", "judge.so", "call.so", "handout.md", "handout.html"};

bool is_header(const fs::path& file) { return file.extension() == ".hpp" || file.extension() == ".h"; }

void copy_part(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_directories(to.parent_path(), failed);
  fs::copy(from, to, fs::copy_options::recursive, failed);
  if (failed)
    throw Error("cannot-write", "cannot copy " + from.string() + " to " + to.string(), failed.message(),
                "check that the lab is built, that you may write there and that the disk has room");
}

}  // namespace

void copy_lab(const spec::LabSpec& lab, const fs::path& folder, Audience audience, const std::string& figures) {
  for (const char* name : kFiles)
    if (fs::exists(lab.folder / name)) copy_part(lab.folder / name, folder / name);
  for (const auto& entry : fs::directory_iterator(lab.folder))
    if (is_header(entry.path())) copy_part(entry.path(), folder / entry.path().filename());
  if (fs::exists(lab.folder / "starter")) copy_part(lab.folder / "starter", folder / "starter");
  store::write_atomically(folder / "reference.json", figures, store::Existing::replace);
  strip_binaries(folder);
  if (audience == Audience::grader) return;
  const std::string text = store::read_file(lab.folder / "lab.toml").value();
  store::write_atomically(folder / "lab.toml", visible_lab(text, (lab.folder / "lab.toml").string()),
                          store::Existing::replace);
  spec::load_lab(folder).value();  // throws where what is left makes no lab
}

std::optional<std::string> shipped_figures_of(const spec::LabSpec& lab, const std::vector<spec::Case>& cases) {
  const Result<std::string> text = store::read_file(lab.folder / "reference.json");
  if (!text) return std::nullopt;
  const Json shipped = Json::parse(text.value(), nullptr, /*allow_exceptions=*/false);
  if (!shipped.is_object() || !shipped.contains("cases")) return std::nullopt;
  std::set<std::string> wanted;
  for (const spec::Case& plan : cases) wanted.insert(supervisor::case_key(lab, plan));
  Json kept = shipped;
  kept["cases"] = Json::array();
  for (const Json& item : shipped.at("cases"))
    if (wanted.erase(item.value("key", std::string())) > 0) kept["cases"].push_back(item);
  if (!wanted.empty()) return std::nullopt;
  return kept.dump(1) + "\n";
}

}  // namespace labrig::kit
