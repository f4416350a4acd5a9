#include "kit/product.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "build/run_program.hpp"
#include "labrig/error.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"

namespace labrig::kit {
namespace fs = std::filesystem;

namespace {

constexpr const char* kPrograms[] = {"labrig", "labrig-supervisor", "labrig-worker", "labrig-device"};
constexpr char kCudaBackend[] = "liblabrig-cuda.so";

Error incomplete(const std::string& what, const std::string& why) {
  return Error("incomplete-product", what, why, "build all of labrig (make build), then try again");
}

[[noreturn]] void cannot_write(const fs::path& folder, const std::string& why) {
  throw Error("cannot-write", "cannot write " + folder.string(), why,
              "check that you may write there and that the disk has room");
}

// What links point to is copied, not the link.
void copy_tree(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  if (!fs::exists(from, failed)) return;
  fs::create_directories(to.parent_path(), failed);
  fs::copy(from, to, fs::copy_options::recursive, failed);
  if (failed) cannot_write(to, failed.message());
}

bool is_elf(const fs::path& file) {
  char magic[4] = {};
  std::ifstream(file, std::ios::binary).read(magic, sizeof magic);
  return std::memcmp(magic, "\177ELF", 4) == 0;
}

std::vector<fs::path> binaries_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && is_elf(entry.path())) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

// What every system with a C++ compiler has, and what comes with CUDA and its driver; as in tools/bundle.sh.
bool comes_from_outside(const std::string& library) {
  static const std::regex outside(
      R"((linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|libz|libcudart|libcublas|libcublasLt|libcuda)\.so.*)");
  return std::regex_match(library, outside);
}

// The lines `name => path (address)` that the loader's own look-up gives.
void add_needed_libraries(const fs::path& binary, const fs::path& lib) {
  const build::RunResult run = build::run_program({"ldd", binary.string()}, {});
  if (!run.succeeded()) throw incomplete("the libraries of " + binary.string() + " cannot be listed", run.output);
  std::istringstream lines(run.output);
  for (std::string name, arrow, path, rest; lines >> name;) {
    std::getline(lines, rest);
    std::istringstream words(rest);
    if (!(words >> arrow >> path) || arrow != "=>") continue;
    if (comes_from_outside(name) || fs::exists(lib / name)) continue;
    if (!path.starts_with('/'))
      throw incomplete(binary.filename().string() + " needs " + name, "it is not on this machine");
    copy_tree(fs::canonical(path), lib / name);
  }
}

void copy_programs(const fs::path& root, const fs::path& folder) {
  for (const char* program : kPrograms) {
    if (!fs::is_regular_file(root / "bin" / program))
      throw incomplete("there is no " + (root / "bin" / program).string(), "the program is part of labrig");
    copy_tree(root / "bin" / program, folder / "bin" / program);
  }
}

void copy_libraries(const fs::path& root, const fs::path& folder, const ProductOptions& options) {
  for (const auto& entry : fs::directory_iterator(root / "lib")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".so") && name.find(".so.") == std::string::npos) continue;
    if (name == kCudaBackend && !options.cuda) continue;
    copy_tree(entry.path(), folder / "lib" / name);
  }
}

// There it is found by its name: this machine's may lie elsewhere, or be called otherwise.
void name_the_compiler(const fs::path& folder) {
  const fs::path file = folder / "share/labrig/build.json";
  nlohmann::ordered_json facts = nlohmann::ordered_json::parse(store::read_file(file).value());
  facts["compiler"] = "g++";
  store::write_atomically(file, facts.dump(2) + "\n", store::Existing::replace);
}

}  // namespace

void strip_binaries(const fs::path& folder) {
  for (const fs::path& binary : binaries_below(folder))
    build::run_program({"strip", "--strip-unneeded", binary.string()}, {});
}

void copy_product(const fs::path& root, const fs::path& folder, const ProductOptions& options) {
  if (fs::exists(folder)) cannot_write(folder, "it is there already");
  copy_programs(root, folder);
  copy_libraries(root, folder, options);
  for (const char* part : {"include", "profiles"}) copy_tree(root / part, folder / part);
  // In an installed prefix the labs lie there too.
  for (const auto& entry : fs::directory_iterator(root / "share/labrig"))
    if (entry.path().filename() != "labs") copy_tree(entry.path(), folder / "share/labrig" / entry.path().filename());
  name_the_compiler(folder);
  for (const fs::path& binary : binaries_below(folder)) add_needed_libraries(binary, folder / "lib");
  strip_binaries(folder);
}

}  // namespace labrig::kit
