#include "build/installation.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "labrig/error.hpp"

namespace labrig::build {

namespace fs = std::filesystem;

namespace {

BuildFacts read_facts(const fs::path& file) {
  std::ifstream in(file);
  try {
    const nlohmann::json json = nlohmann::json::parse(in);
    return {json.at("version"),  json.at("compiler"),        json.at("compiler_version"), json.at("header_hash"),
            json.at("sanitize"), json.at("compile_options"), json.at("link_options")};
  } catch (const nlohmann::json::exception&) {
    throw Error("no-installation", "labrig cannot find how it was built",
                in.is_open() ? file.string() + " is damaged" : file.string() + " is missing",
                "run the program from its build folder or from an installed prefix (cmake --install), not from a copy "
                "of the program alone");
  }
}

}  // namespace

Installation installation_at(const fs::path& root) {
  return {root, root / "lib", root / "include", read_facts(root / "share/labrig/build.json")};
}

}  // namespace labrig::build
