#include "doctor/host.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace labrig::doctor {
namespace fs = std::filesystem;

Host::Host() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t at = text.find('=');
    if (at != std::string::npos) variables_[text.substr(0, at)] = text.substr(at + 1);
  }
}

Host::Host(fs::path root, std::map<std::string, std::string> variables)
    : root_(std::move(root)), variables_(std::move(variables)) {}

std::optional<std::string> Host::variable(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? std::nullopt : std::optional(found->second);
}

std::string Host::value(const std::string& name) const { return variable(name).value_or(""); }

bool Host::exists(const std::string& path) const {
  std::error_code ignored;
  return fs::exists(at(path), ignored);
}

std::string Host::read(const std::string& path) const {
  constexpr std::size_t kMost = 65536;
  std::ifstream file(at(path), std::ios::binary);
  std::string text(kMost, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

bool Host::has_program(const std::string& name) const {
  std::istringstream folders(value("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (folder.starts_with('/') && ::access(at(folder.append("/").append(name)).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace labrig::doctor
