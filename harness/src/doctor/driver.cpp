#include "doctor/driver.hpp"

#include <fmt/format.h>
#include <link.h>

#include <array>
#include <filesystem>
#include <functional>

#include "doctor/shared_library.hpp"

namespace labrig::doctor {
namespace {

// CUDA's driver interface, as far as it is asked; these have not changed since CUDA 11.
using Init = int(unsigned);
using GetVersion = int(int*);
using GetCount = int(int*);
using GetName = int(char*, int, int);
using GetTotal = int(std::size_t*, int);
using GetAttribute = int(int*, int, int);
using GetUuid = int(unsigned char*, int);
constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76;

std::string uuid_text(const std::array<unsigned char, 16>& bytes) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

DriverCard card_at(const SharedLibrary& library, int ordinal) {
  DriverCard card;
  std::array<char, 256> name{};
  if (auto* get = library.find<GetName>("cuDeviceGetName");
      get != nullptr && get(name.data(), name.size() - 1, ordinal) == 0)
    card.name = name.data();
  std::size_t total = 0;
  if (auto* get = library.find<GetTotal>("cuDeviceTotalMem_v2"); get != nullptr && get(&total, ordinal) == 0)
    card.total_bytes = total;
  if (auto* get = library.find<GetAttribute>("cuDeviceGetAttribute"); get != nullptr) {
    int major = 0, minor = 0;
    get(&major, kMajor, ordinal);
    get(&minor, kMinor, ordinal);
    get(&card.multiprocessors, kMultiprocessors, ordinal);
    card.capability = 10 * major + minor;
  }
  std::array<unsigned char, 16> uuid{};
  if (auto* get = library.find<GetUuid>("cuDeviceGetUuid"); get != nullptr && get(uuid.data(), ordinal) == 0)
    card.uuid = uuid_text(uuid);
  return card;
}

std::string file_of(const SharedLibrary& library) {
  Dl_info info{};
  auto* symbol = library.find<Init>("cuInit");
  if (symbol == nullptr || ::dladdr(reinterpret_cast<void*>(symbol), &info) == 0) return "";
  std::error_code ignored;
  const auto real = std::filesystem::canonical(info.dli_fname, ignored);
  return ignored ? info.dli_fname : real.string();
}

}  // namespace

Driver ask_driver() {
  Driver driver;
  const SharedLibrary library("libcuda.so.1");
  driver.problem = library.problem();
  driver.file = file_of(library);
  if (auto* get = library.find<GetVersion>("cuDriverGetVersion"); get != nullptr) get(&driver.version);
  auto* init = library.find<Init>("cuInit");
  if (init == nullptr) return driver;
  driver.code = init(0);
  int count = 0;
  auto* get_count = library.find<GetCount>("cuDeviceGetCount");
  if (driver.code == 0 && get_count != nullptr) driver.code = get_count(&count);
  for (int i = 0; driver.code == 0 && i < count; ++i) driver.cards.push_back(card_at(library, i));
  return driver;
}

int loaded_runtime_version() {
  std::string file;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        const std::string name = info->dlpi_name;
        if (name.find("/libcudart.so") != std::string::npos) *static_cast<std::string*>(into) = name;
        return 0;
      },
      &file);
  int version = 0;
  if (file.empty()) return 0;
  const SharedLibrary library(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (auto* get = library.find<GetVersion>("cudaRuntimeGetVersion"); get != nullptr) get(&version);
  return version;
}

}  // namespace labrig::doctor
