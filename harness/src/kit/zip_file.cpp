// The one file that includes minizip.
#include "kit/zip_file.hpp"

#include <minizip/zip.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "labrig/error.hpp"
#include "store/digest.hpp"

namespace labrig::kit {
namespace fs = std::filesystem;

namespace {

// 1 January 1980, the first day a zip can name.
constexpr uLong kDosDate = (1u << 21) | (1u << 16);
// "made by Unix": readers then find the file's mode in the upper half of its attributes.
constexpr uLong kMadeByUnix = 3u << 8;

[[noreturn]] void fail(const fs::path& zip) {
  throw Error("cannot-write", "cannot write " + zip.string(), "the archive could not be completed",
              "check that the folder exists, that you may write there and that the disk has room");
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(folder));
  std::ranges::sort(files, {}, [](const fs::path& file) { return file.generic_string(); });
  return files;
}

void add_file(zipFile zip, const fs::path& folder, const fs::path& name, const fs::path& zip_path) {
  const std::string content = store::read_file(folder / name).value();
  struct stat status{};
  if (::stat((folder / name).c_str(), &status) != 0) fail(zip_path);
  zip_fileinfo info{};
  info.dosDate = kDosDate;
  info.external_fa = static_cast<uLong>(status.st_mode) << 16;
  if (zipOpenNewFileInZip4(zip, name.generic_string().c_str(), &info, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED,
                           Z_BEST_COMPRESSION, 0, -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nullptr, 0,
                           kMadeByUnix, 0) != ZIP_OK ||
      zipWriteInFileInZip(zip, content.data(), static_cast<unsigned>(content.size())) != ZIP_OK ||
      zipCloseFileInZip(zip) != ZIP_OK)
    fail(zip_path);
}

}  // namespace

void write_zip(const fs::path& folder, const fs::path& zip) {
  const fs::path temporary = zip.string() + "." + store::random_token() + ".tmp";
  std::error_code ignored;
  if (zip.has_parent_path()) fs::create_directories(zip.parent_path(), ignored);
  zipFile archive = zipOpen64(temporary.c_str(), APPEND_STATUS_CREATE);
  if (archive == nullptr) fail(zip);
  try {
    for (const fs::path& name : files_below(folder)) add_file(archive, folder, name, zip);
  } catch (...) {
    zipClose(archive, nullptr);
    fs::remove(temporary, ignored);
    throw;
  }
  std::error_code failed;
  if (zipClose(archive, nullptr) == ZIP_OK) fs::rename(temporary, zip, failed);
  if (fs::remove(temporary, ignored) || failed) fail(zip);
}

}  // namespace labrig::kit
