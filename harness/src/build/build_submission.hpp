// A submission is a folder: this reads the files that the lab names, and compiles them as labrig compiles its own
// plugins. The result is cached by content, so that a second run of the same answer starts at once.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "build/installation.hpp"
#include "labrig/error.hpp"

namespace labrig::build {

// The files of a submission, read once; what is compiled is what was hashed.
struct SubmissionSource {
  std::string name;                                        // of the folder
  std::vector<std::pair<std::string, std::string>> files;  // name and content, in the order of lab.toml
  std::string hash;                                        // sha256 over names and contents
  std::filesystem::path folder;                            // where they are
};

// `files` is [submission] files of lab.toml. Errors: `no-such-folder`, `missing-file`, `unfit-file` (a link out of the
// folder, a device, more than 4 MiB).
Result<SubmissionSource> read_submission(const std::filesystem::path& folder, const std::vector<std::string>& files);

struct BuiltSubmission {
  std::filesystem::path plugin;
  std::string hash;      // of the source
  bool cached = false;   // it was there already
  std::string warnings;  // what the compiler said although it succeeded; empty when cached
};

// A debugger wants symbols and code that follows the source.
enum class Purpose { grading, debugging };

// Compiles with the compiler that labrig was built with, or LABRIG_CXX. `lab_folder` holds interface.hpp. The plugin
// lies in ${XDG_CACHE_HOME:-~/.cache}/labrig/build. Errors: `does-not-build` (its `why` holds the first message of the
// compiler, with the student's file and line), `build-over-limit`; of the machine: `no-compiler`, `cannot-compile` (the
// compiler itself could not work: no room, a part of it missing), `cannot-write`; `interrupted` (Ctrl-C).
Result<BuiltSubmission> build_submission(const SubmissionSource& source, const std::filesystem::path& lab_folder,
                                         const Installation& installation, Purpose purpose = Purpose::grading);

// The compiler that will be used, and its own line about itself; error `no-compiler`.
struct Compiler {
  std::string path, version;
};
Result<Compiler> find_compiler(const Installation& installation);
// The whole output of the compiler for the last submission that did not build.
std::filesystem::path last_log();
// ${XDG_CACHE_HOME:-~/.cache}/labrig, or a folder in /tmp when there is no home.
std::filesystem::path cache_folder();

}  // namespace labrig::build
