// What both kits have in common: which labs, and the figures of their reference solutions, so that no kit needs one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kit/lab_copy.hpp"
#include "spec/lab_spec.hpp"

namespace labrig::app {

struct KitArguments {
  std::string out, secret_file;
  std::vector<std::string> labs;
  int minutes = 9;
};

// All labs when `ids` is empty. Throws Error `unknown-lab`, `no-labs`.
std::vector<spec::LabSpec> labs_for_kit(const Context& context, const std::vector<std::string>& ids);

// The reference.json of a kit: every case that its audience runs, drawn from `secret`. Those that ship with the lab are
// used for graders where they are enough; else the reference solution runs. Throws Error `no-solution`,
// `reference-failed`, `interrupted`.
std::string figures_for_kit(const Context& context, const spec::LabSpec& lab, const std::string& secret,
                            kit::Audience audience);

// A folder beside `out` that becomes it when all is there, and is gone otherwise.
class StagedFolder {
 public:
  explicit StagedFolder(const std::filesystem::path& out);
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  // Throws Error `cannot-write`.
  void move_to(const std::filesystem::path& out);

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, const std::string& text, bool executable = false);
// Bytes of all files below a folder.
std::uintmax_t bytes_below(const std::filesystem::path& folder);

void make_student_kit(Context& context, const KitArguments& arguments);     // kit_student.cpp
void make_gradescope_kit(Context& context, const KitArguments& arguments);  // kit_gradescope.cpp
// In an autograder's container: grades <root>/submission into <root>/results/results.json.
void autograde(Context& context, const std::filesystem::path& root,
               const std::string& secret_file);  // kit_autograder.cpp

}  // namespace labrig::app
