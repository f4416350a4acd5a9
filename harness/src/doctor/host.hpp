// The machine as files and variables, so that tests can hand in another one.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace labrig::doctor {

class Host {
 public:
  Host();  // this machine
  Host(std::filesystem::path root, std::map<std::string, std::string> variables);

  std::optional<std::string> variable(const std::string& name) const;
  std::string value(const std::string& name) const;  // empty when it is not set
  std::filesystem::path at(const std::string& path) const { return root_ / path.substr(1); }
  bool exists(const std::string& path) const;
  // The beginning of a file, up to 64 KiB; empty when it may not be read.
  std::string read(const std::string& path) const;
  // Whether a program of this name is in PATH.
  bool has_program(const std::string& name) const;

 private:
  std::filesystem::path root_ = "/";
  std::map<std::string, std::string> variables_;
};

}  // namespace labrig::doctor
