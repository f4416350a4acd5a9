// `labrig check --watch`: tries a submission again whenever one of its files is saved. Each try is a process of its
// own, so that a save in the middle of one gives it up at once, and Ctrl-C leaves nothing behind.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands.hpp"

namespace labrig::app {

struct Watched {
  std::filesystem::path folder;
  std::vector<std::string> files;    // that the lab reads, relative to the folder
  std::vector<std::string> command;  // one try: answers with a report in JSON on stdout
};

// Prints the first try as `labrig check` does, then only what each save changed; with --json a line of JSON a try.
// Returns kInterrupted after Ctrl-C. Throws Error `cannot-watch` where the system does not tell of changes.
ExitCode watch(const Context& context, const Watched& watched);

}  // namespace labrig::app
