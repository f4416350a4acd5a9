#include "doctor/folders.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace labrig::doctor {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kEnough = std::uint64_t{256} << 20, kLeast = std::uint64_t{32} << 20, kFewFiles = 100;
constexpr std::int64_t kSkew = 60;

void try_to_write(FolderFacts& facts) {
  std::error_code problem;
  fs::create_directories(facts.folder, problem);
  if (problem) {
    facts.problem = problem.message();
    return;
  }
  std::string name = (facts.folder / "labrig-doctor-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) {
    facts.problem = std::strerror(errno);
    return;
  }
  constexpr char kText[] = "written by labrig doctor\n";
  if (::write(file, kText, sizeof kText - 1) != static_cast<ssize_t>(sizeof kText - 1))
    facts.problem = std::strerror(errno);
  struct stat written{};
  if (::fstat(file, &written) == 0) facts.clock_ahead_s = written.st_mtime - std::time(nullptr);
  ::close(file);
  ::unlink(name.c_str());
}

std::string how_to_set(const std::string& variable) {
  return fmt::format("`export {}=FOLDER` with a folder that has both", variable);
}

}  // namespace

FolderFacts folder_facts(const fs::path& folder) {
  FolderFacts facts;
  facts.folder = folder;
  try_to_write(facts);
  struct statvfs room{};
  if (::statvfs(folder.c_str(), &room) == 0) {
    facts.free_bytes = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize;
    facts.free_files = room.f_files == 0 ? ~std::uint64_t{0} : room.f_favail;
    facts.no_programs = (room.f_flag & ST_NOEXEC) != 0;
  }
  return facts;
}

Check folder_check(const std::string& id, const FolderFacts& facts, const std::string& variable, bool runs_programs) {
  const std::string folder = facts.folder.string();
  const Facts told = {{"folder", folder},
                      {"writable", facts.problem.empty()},
                      {"free_mib", facts.free_bytes >> 20},
                      {"noexec", facts.no_programs}};
  if (!facts.problem.empty())
    return failed(
        id,
        {fmt::format("nothing can be written in {}", folder), facts.problem,
         fmt::format("`ls -ld {}` shows whose it is; make it yours, or `export {}=FOLDER`", folder, variable)},
        told);
  if (runs_programs && facts.no_programs)
    return failed(id,
                  {fmt::format("what is built in {} may not be run", folder), "its file system is mounted `noexec`",
                   fmt::format("`export {}=FOLDER` with a folder of another file system", variable)},
                  told);
  if (facts.free_bytes < kEnough || facts.free_files < kFewFiles) {
    const Advice advice = {
        fmt::format("{} MiB free in {}", facts.free_bytes >> 20, folder),
        facts.free_files < kFewFiles ? "its file system can hold no more files" : "builds and reports want 256 MiB",
        fmt::format("`df -h {0}` and `du -sh {0}` show what takes the room; or {1}", folder, how_to_set(variable))};
    return facts.free_bytes < kLeast || facts.free_files < kFewFiles ? failed(id, advice, told)
                                                                     : warned(id, advice, told);
  }
  return passed(id, fmt::format("{}, {} MiB free", folder, facts.free_bytes >> 20), told);
}

Check clock_check(const ClockFacts& facts) {
  const std::string now = fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(facts.now));
  const Facts told = {{"now", now},
                      {"behind_build_s", facts.built > facts.now ? facts.built - facts.now : 0},
                      {"folder_ahead_s", facts.folder_ahead_s}};
  const char* fix = "set the clock: `sudo timedatectl set-ntp true`; `timedatectl` shows whether it is in step";
  if (facts.built > facts.now + kSkew)
    return warned("clock",
                  {"the clock says " + now + ", which is before this labrig was built",
                   "reports carry that time, and builds take new files for old ones", fix},
                  told);
  if (std::llabs(facts.folder_ahead_s) > kSkew)
    return warned("clock",
                  {fmt::format("the cache's file system is {} s {} this machine's clock",
                               std::llabs(facts.folder_ahead_s), facts.folder_ahead_s > 0 ? "ahead of" : "behind"),
                   "a server that keeps another time makes builds take new files for old ones", fix},
                  told);
  return passed("clock", now, told);
}

}  // namespace labrig::doctor
