#include "folder_watch.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "labrig/error.hpp"
#include "store/digest.hpp"

namespace labrig::app {
namespace fs = std::filesystem;

namespace {

constexpr int kMostWaits = 20;
constexpr int kQuietMs = 60;  // an editor's several writes of one save lie closer together

Error cannot_watch(const fs::path& folder, int number) {
  return {"cannot-watch", "changes in " + folder.string() + " cannot be watched", std::strerror(number),
          number == ENOSPC ? "too many files are watched on this machine: close other programs that do, or raise "
                             "fs.inotify.max_user_watches"
                           : "run `labrig check` by hand after each save"};
}

}  // namespace

FolderWatch::FolderWatch(fs::path folder, std::vector<std::string> files)
    : folder_(std::move(folder)), files_(std::move(files)), inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (inotify_ < 0) throw cannot_watch(folder_, errno);
  std::set<fs::path> folders = {folder_};
  for (const std::string& file : files_) folders.insert((folder_ / file).parent_path());
  for (const fs::path& one : folders) {
    // A file that is replaced is another one: its folder is watched, not the file.
    constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MODIFY;
    if (::inotify_add_watch(inotify_, one.c_str(), kEvents) < 0) {
      const int number = errno;
      ::close(inotify_);
      throw cannot_watch(one, number);
    }
  }
  last_ = content();
}

FolderWatch::~FolderWatch() { ::close(inotify_); }

void FolderWatch::drain() const {
  alignas(inotify_event) char events[4096];
  while (::read(inotify_, events, sizeof events) > 0) {
  }
}

// A digest of the files; one that is missing for a moment counts as empty.
std::string FolderWatch::content() const {
  std::string all;
  for (const std::string& file : files_) {
    const Result<std::string> text = store::read_file(folder_ / file);
    all += file + '\0' + (text.ok() ? store::sha256_hex(text.value()) : std::string()) + '\0';
  }
  return all;
}

bool FolderWatch::changed() {
  pollfd polled{inotify_, POLLIN, 0};
  // Not for ever: something may write there all the time.
  for (int i = 0; i < kMostWaits; ++i) {
    drain();
    if (::poll(&polled, 1, kQuietMs) <= 0) break;
  }
  std::string now = content();
  if (now == last_) return false;
  last_ = std::move(now);
  return true;
}

}  // namespace labrig::app
