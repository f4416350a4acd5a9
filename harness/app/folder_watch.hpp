// Tells when files of a folder have other content than before: however an editor saves, in place or by renaming a
// temporary file, and however often it writes in a row.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace labrig::app {

class FolderWatch {
 public:
  // `files` are relative to the folder. Throws Error `cannot-watch`.
  FolderWatch(std::filesystem::path folder, std::vector<std::string> files);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  int descriptor() const { return inotify_; }  // readable when something in the folder happened
  // Waits until the folder is quiet for a moment; true when the content is not what it was at the last call (or at the
  // start).
  bool changed();

 private:
  void drain() const;
  std::string content() const;

  std::filesystem::path folder_;
  std::vector<std::string> files_;
  int inotify_ = -1;
  std::string last_;
};

}  // namespace labrig::app
