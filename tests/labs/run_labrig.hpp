// Runs the built `labrig` as a user would, and reads what it leaves.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace labrig::test {

// A folder that goes away.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "labrig-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int exit_code = -1;
  std::string text;  // stdout and stderr
};

inline std::string quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// `before` goes in front of the command: "nice", "cd … &&".
inline Outcome run_labrig(const std::vector<std::string>& arguments, const std::string& before = "") {
  std::string command = before;
  command.append(" ").append(quoted(std::string(LABRIG_BUILD) + "/bin/labrig"));
  for (const std::string& argument : arguments) command.append(" ").append(quoted(argument));
  FILE* pipe = popen((command + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  Outcome outcome;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) outcome.text.append(buffer, n);
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

inline nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("no file " + path);
  return nlohmann::json::parse(file);
}

inline std::string plugin(const std::string& lab, const std::string& name) {
  return std::string(LABRIG_BUILD) + "/plugins/" + lab + "/" + name + ".labrig.so";
}

}  // namespace labrig::test
