// The lower part of the loading ladder: everything that can be known about a plugin before any of its code runs.
//
//   find  file  manifest  class  entry  imports  kind  lab  abi  build   |   load  magic  init  describe  create
//   ---------------------- inspect(): reads the file --------------------|-- LoadedPlugin: runs the plugin's code --
//
// A plugin that fails left of the line is refused (exit 3); from `load` on it is a graded failure (exit 1). Each rung
// has an error of its own, `plugin-<rung>`. Read next: loaded_plugin.hpp; docs/errors/loading.md explains every rung.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "labrig/abi.h"
#include "labrig/error.hpp"
#include "loader/elf_file.hpp"

namespace labrig::loader {

// What the plugin is wanted for.
struct Expectation {
  std::optional<labrig_kind> kind;  // any when not set
  std::string lab_id;               // any when empty
  // [imports] forbid of lab.toml: demangled names, or prefixes that end in '*' or "::". For submissions, and
  // always_forbidden() with them.
  std::vector<std::string> forbid;
};

// dlopen and its like, and the core's own controls of the simulated card.
const std::vector<std::string>& always_forbidden();

struct Rung {
  std::string name;
  bool ok = false;
  std::string detail;          // what was found, one line
  std::optional<Error> error;  // set when not ok
};

// The manifest, taken apart. Empty where it is not there.
struct Manifest {
  std::string kind, lab, abi, build, compiler;
};

struct Inspection {
  std::vector<Rung> rungs;  // up to and with the first that failed
  ElfFile file;             // facts, as far as they were read
  Manifest manifest;

  bool ok() const { return !rungs.empty() && rungs.back().ok; }
  const Error* error() const { return ok() || rungs.empty() ? nullptr : &*rungs.back().error; }
  // Facts that a person may want to know: NEEDED libraries, constructors, symbols besides the entry.
  std::vector<std::string> notes() const;
};

Inspection inspect(const std::filesystem::path& path, const Expectation& expectation);

// "submission", "lab-judge", "lab-call": the word of the manifest.
std::string name_of(labrig_kind kind);
// True when a demangled name, or a type or function in it, is what `pattern` forbids.
bool is_forbidden(const std::string& demangled_name, const std::string& pattern);

}  // namespace labrig::loader
