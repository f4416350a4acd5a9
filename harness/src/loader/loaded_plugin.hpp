// The upper part of the loading ladder: load, magic, init, describe, create. This runs the plugin's code, so a
// submission is loaded in a worker only, after inspect() found nothing wrong with its file. Read next: inspection.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "labrig/abi.h"
#include "loader/inspection.hpp"

namespace labrig::loader {

// Told when a rung is begun (so that whoever watches knows where a crash happened) and when it was reached.
struct LadderObserver {
  std::function<void(const char* rung)> begun;
  std::function<void(const char* rung, const std::string& detail)> reached;
};

// A plugin with its object, ready to be called. The library stays mapped until the process ends: whatever the object
// handed out (a thread, an exception, the deleter of a tensor) may point into it.
class LoadedPlugin {
 public:
  // Climbs to the top. Throws the Error of the rung that failed: plugin-load, -magic, -init, -describe, -create.
  LoadedPlugin(const std::filesystem::path& path, const Expectation& expectation, const LadderObserver& observer = {});
  ~LoadedPlugin();  // destroys the object
  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;

  // What create() made: the lab's interface for a submission, JudgeModule or CallModule for a lab's modules.
  void* object() const { return object_; }
  const labrig_plugin_v1& entry() const { return *entry_; }
  // The plugin's own line about itself; empty when it has none.
  const std::string& description() const { return description_; }
  // Destroys the object now, so that a failure in its destructor falls into the caller's phase.
  void destroy();

 private:
  void load(const std::filesystem::path& path);
  std::string check_struct(const Expectation& expectation) const;
  std::string init() const;
  std::string describe();
  std::string create();

  const labrig_plugin_v1* entry_ = nullptr;
  void* object_ = nullptr;
  std::string description_;
};

}  // namespace labrig::loader
