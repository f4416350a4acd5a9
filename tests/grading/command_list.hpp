// The product's own list of its commands, so that a new one is tested without being named in a test.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grade_toy.hpp"

namespace labrig::test {

struct Listed {
  std::vector<std::string> words;  // plugin, doctor
  nlohmann::json help;             // as `--help --json` shows it

  std::string name() const {
    std::string name;
    for (const std::string& word : words) name += (name.empty() ? "" : " ") + word;
    return name;
  }
  bool is_group() const { return !help.at("commands").empty(); }
  std::vector<std::string> with(const std::vector<std::string>& more) const {
    std::vector<std::string> call = words;
    call.insert(call.end(), more.begin(), more.end());
    return call;
  }
};

// Only what it writes on stdout.
inline Outcome answer(const std::vector<std::string>& arguments) {
  const Scratch scratch;
  std::string command = quoted(std::string(LABRIG_BUILD) + "/bin/labrig");
  for (const std::string& argument : arguments) command += " " + quoted(argument);
  const int status = std::system((command + " >" + scratch / "out" + " 2>/dev/null </dev/null").c_str());
  std::ifstream file(scratch / "out");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, {std::istreambuf_iterator<char>(file), {}}};
}

// Every command at every depth, a parent before its children; the program itself is the first, without words.
inline std::vector<Listed> all_commands() {
  std::vector<Listed> found;
  const std::function<void(std::vector<std::string>, const nlohmann::json&)> add = [&](std::vector<std::string> words,
                                                                                       const nlohmann::json& help) {
    found.push_back({words, help});
    for (const nlohmann::json& below : help.at("commands")) {
      const std::string name = below.at("command");
      std::vector<std::string> longer = words;
      longer.push_back(name.substr(name.rfind(' ') + 1));
      add(longer, below);
    }
  };
  add({}, nlohmann::json::parse(answer({"--help", "--json"}).text));
  return found;
}

}  // namespace labrig::test
