#include "loader/inspection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "labrig/plugin.hpp"
#include "loader/manifest.hpp"

namespace labrig::loader {

namespace fs = std::filesystem;

namespace {

// The words of two build tags that differ, as "headers-… (here headers-…)".
std::string difference(const std::string& theirs, const std::string& ours) {
  const auto split = [](const std::string& tag) {
    std::vector<std::string> words(1);
    for (char c : tag)
      if (c == ' ')
        words.emplace_back();
      else
        words.back() += c;
    return words;
  };
  const std::vector<std::string> a = split(theirs), b = split(ours);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "nothing", right = i < b.size() ? b[i] : "nothing";
    if (left != right) parts.push_back(fmt::format("{} (here {})", left, right));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Climbs: the first rung that fails ends the inspection.
class Climb {
 public:
  Climb(const fs::path& path, const Expectation& expectation) : path_(path), want_(expectation) {}

  Inspection run() {
    using Step = std::string (Climb::*)();
    constexpr std::pair<const char*, Step> kLadder[] = {{"find", &Climb::find},         {"file", &Climb::file},
                                                        {"manifest", &Climb::manifest}, {"class", &Climb::elf_class},
                                                        {"entry", &Climb::entry},       {"imports", &Climb::imports},
                                                        {"kind", &Climb::kind},         {"lab", &Climb::lab},
                                                        {"abi", &Climb::abi},           {"build", &Climb::build}};
    for (const auto& [name, step] : kLadder) {
      try {
        found_.rungs.push_back({name, true, (this->*step)(), std::nullopt});
      } catch (const Error& error) {
        found_.rungs.push_back({name, false, error.what(), error});
        break;
      }
    }
    return std::move(found_);
  }

 private:
  std::string find() {
    std::error_code missing;
    const fs::file_status status = fs::status(path_, missing);
    if (!fs::exists(status))
      throw Error("plugin-find", fmt::format("there is no file {}", path_.string()),
                  "nothing has that name, or a folder on the way to it cannot be read",
                  "check the path; a built plugin lies in build/plugins/<lab>/<name>.labrig.so");
    if (!fs::is_regular_file(status))
      throw Error("plugin-find", fmt::format("{} is not a file", path_.string()),
                  fs::is_directory(status) ? "it is a folder; a plugin is one file" : "it is a device, socket or pipe",
                  "give the .labrig.so itself; to have a folder of sources built and run, use `labrig check FOLDER`");
    return path_.string();
  }

  std::string file() {
    found_.file = read_elf(path_).value();
    return fmt::format("shared library of {} bytes", found_.file.file_bytes);
  }

  std::string manifest() {
    if (!found_.file.manifest)
      throw Error(
          "plugin-manifest", "this shared library is not a labrig plugin",
          "it has no section " LABRIG_MANIFEST_SECTION ", in which a plugin says what it is",
          "end your source with LABRIG_SUBMISSION(YourClass), or LABRIG_LAB(YourLab) for a lab, and build it with "
          "labrig_add_submission() or labrig_add_lab()");
    const std::optional<Manifest> parsed = parse_manifest(*found_.file.manifest);
    if (!parsed)
      throw Error("plugin-manifest", "the manifest of this plugin cannot be read",
                  "the section " LABRIG_MANIFEST_SECTION " does not hold the text that labrig's macros write there",
                  "use LABRIG_SUBMISSION(YourClass) or LABRIG_LAB(YourLab) once, and nothing else in that section");
    found_.manifest = *parsed;
    return fmt::format("{} for the lab `{}`, built with {}", parsed->kind, parsed->lab, parsed->compiler);
  }

  std::string elf_class() {
    const std::string seen = fmt::format("{}-bit {}", found_.file.bits, found_.file.architecture);
    const std::string wanted = fmt::format("{}-bit {}", 8 * sizeof(void*), LABRIG_TAG_ARCHITECTURE);
    if (seen != wanted)
      throw Error("plugin-class", fmt::format("this plugin is for another kind of processor: {}", seen),
                  fmt::format("this labrig runs as {}, and one process holds code of one kind", wanted),
                  "build the plugin again on this machine, or give labrig the folder with its sources");
    return seen;
  }

  std::string entry() {
    if (std::ranges::find(found_.file.exported, LABRIG_ENTRY_SYMBOL) == found_.file.exported.end())
      throw Error(
          "plugin-entry", "this plugin does not export `" LABRIG_ENTRY_SYMBOL "`",
          "that symbol is how labrig finds what is in a plugin; it is missing or hidden",
          "use LABRIG_SUBMISSION(YourClass) or LABRIG_LAB(YourLab) at namespace scope in exactly one source file, "
          "and do not strip the library or link it with a version script");
    return LABRIG_ENTRY_SYMBOL " is exported";
  }

  std::string imports() {
    if (found_.manifest.kind != loader::name_of(LABRIG_SUBMISSION_KIND)) return "a lab may use everything";
    for (const std::string& symbol : found_.file.imported) {
      const std::string name = demangled(symbol);
      refuse_import(
          name, always_forbidden(),
          "no submission may use `{}`: it reaches into what belongs to labrig, or loads code that was not handed in");
      refuse_import(name, want_.forbid, kForbiddenByLab);
    }
    for (const std::string& library : found_.file.needed)
      refuse_import(contents_of(library), want_.forbid, kForbiddenByLab);
    return fmt::format("{} symbols, none of them forbidden", found_.file.imported.size());
  }

  static constexpr const char* kForbiddenByLab = "the lab forbids `{}`: its task is to be solved without it";

  // What is in one of labrig's libraries: liblabrig-amp.so holds labrig::amp::*, and is not loaded where that is
  // forbidden, whether or not it is used.
  static std::string contents_of(const std::string& library) {
    constexpr std::string_view prefix = "liblabrig-", suffix = ".so";
    if (!library.starts_with(prefix) || !library.ends_with(suffix)) return library;
    return "labrig::" + library.substr(prefix.size(), library.size() - prefix.size() - suffix.size()) + "::*";
  }

  static void refuse_import(const std::string& name, const std::vector<std::string>& patterns, const char* why) {
    for (const std::string& pattern : patterns)
      if (is_forbidden(name, pattern))
        throw Error("plugin-imports", fmt::format("this plugin uses `{}`, which is not allowed here", name),
                    fmt::format(fmt::runtime(why), pattern),
                    "write that part yourself with the tools that the handout names, and take the call out");
  }

  std::string kind() {
    if (want_.kind && found_.manifest.kind != loader::name_of(*want_.kind))
      throw Error("plugin-kind",
                  fmt::format("this plugin is a {}, not a {}", found_.manifest.kind, loader::name_of(*want_.kind)),
                  "a student's answer is a submission; a lab consists of the modules lab-judge and lab-call",
                  *want_.kind == LABRIG_SUBMISSION_KIND
                      ? "give a plugin that was made with LABRIG_SUBMISSION(YourClass)"
                      : "build the lab with labrig_add_lab(), which puts judge.so and call.so in their places");
    return found_.manifest.kind;
  }

  std::string lab() {
    if (!want_.lab_id.empty() && found_.manifest.lab != want_.lab_id)
      throw Error("plugin-lab",
                  fmt::format("this plugin is for the lab `{}`, not `{}`", found_.manifest.lab, want_.lab_id),
                  "a submission is written against the interface of one lab",
                  fmt::format("grade it with --lab {}, or give a plugin for `{}`", found_.manifest.lab, want_.lab_id));
    return found_.manifest.lab;
  }

  std::string abi() {
    const auto version = parse_version(found_.manifest.abi);
    const std::string ours = fmt::format("{}.{}", LABRIG_ABI_MAJOR, LABRIG_ABI_MINOR);
    if (!version || version->first != LABRIG_ABI_MAJOR || version->second > LABRIG_ABI_MINOR)
      throw Error(
          "plugin-abi", fmt::format("this plugin speaks version {} of the plugin contract", found_.manifest.abi),
          fmt::format("this labrig speaks version {}: the first number must be equal, the second not larger", ours),
          "build the plugin with this labrig, or use the labrig that it was built with");
    return found_.manifest.abi;
  }

  std::string build() {
    const std::string &theirs = found_.manifest.build, ours(plugin::kBuildTag);
    if (theirs != ours)
      throw Error(
          "plugin-build", "this plugin was not built for this labrig",
          fmt::format("its build tag is `{}`, labrig's is `{}`; different: {}", theirs, ours, difference(theirs, ours)),
          fmt::format("build it again with this labrig: `cmake --build` in the plugin's build folder, or hand the "
                      "folder with its sources to `labrig grade FOLDER --lab {}`, which compiles them itself",
                      found_.manifest.lab));
    return theirs;
  }

  fs::path path_;
  const Expectation& want_;
  Inspection found_;
};

}  // namespace

const std::vector<std::string>& always_forbidden() {
  static const std::vector<std::string> names = {"dlopen", "dlmopen", "dlsym", "dlvsym", "labrig::sim::*"};
  return names;
}

std::string name_of(labrig_kind kind) { return std::string(plugin::detail::name_of(kind)); }

bool is_forbidden(const std::string& name, const std::string& pattern) {
  const bool star = pattern.ends_with('*'), open = star || pattern.ends_with("::");
  const std::string_view prefix(pattern.data(), pattern.size() - (star ? 1 : 0));
  // "void labrig::amp::scale<int>(…)", "typeinfo for labrig::amp::Scaler": each word outside <> and before ( counts.
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at <= name.size(); ++at) {
    const char c = at < name.size() ? name[at] : '(';
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth > 0 || (c != ' ' && c != '(')) continue;
    const std::string_view word = std::string_view(name).substr(start, at - start);
    if (open ? word.starts_with(prefix) : word == prefix) return true;
    if (c == '(') return false;
    start = at + 1;
  }
  return false;
}

std::vector<std::string> Inspection::notes() const {
  std::vector<std::string> notes;
  if (!file.needed.empty()) notes.push_back(fmt::format("loads with it: {}", fmt::join(file.needed, ", ")));
  // g++ puts one function of its own (frame_dummy) into every library.
  if (file.constructors > 1)
    notes.push_back(
        fmt::format("{} functions run while it is loaded, before labrig asks for anything", file.constructors - 1));
  std::vector<std::string> others;
  for (const std::string& symbol : file.exported)
    if (symbol != LABRIG_ENTRY_SYMBOL) others.push_back(demangled(symbol));
  if (!others.empty())
    notes.push_back(
        fmt::format("exports {} symbols besides " LABRIG_ENTRY_SYMBOL ": {}{}", others.size(),
                    fmt::join(others.begin(), others.begin() + std::min<std::ptrdiff_t>(3, std::ssize(others)), ", "),
                    others.size() > 3 ? ", …" : ""));
  return notes;
}

Inspection inspect(const fs::path& path, const Expectation& expectation) { return Climb(path, expectation).run(); }

}  // namespace labrig::loader
