// A library of the driver, opened only here and only when it is there: labrig itself needs none of them.
#pragma once

#include <dlfcn.h>

#include <string>

namespace labrig::doctor {

class SharedLibrary {
 public:
  explicit SharedLibrary(const char* name, int flags = RTLD_NOW | RTLD_LOCAL) : handle_(::dlopen(name, flags)) {
    if (handle_ != nullptr) return;
    const char* text = ::dlerror();
    problem_ = text != nullptr ? text : "it is not loaded";
  }
  // Never closed: CUDA's libraries leave threads and exit handlers behind.
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& problem() const { return problem_; }
  // Null when the library is too old to have it.
  template <class Function>
  Function* find(const char* symbol) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(handle_, symbol));
  }

 private:
  void* handle_ = nullptr;
  std::string problem_;
};

}  // namespace labrig::doctor
