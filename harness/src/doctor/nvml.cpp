#include "doctor/nvml.hpp"

#include <array>
#include <fstream>

#include "doctor/shared_library.hpp"

namespace labrig::doctor {
namespace {

using Handle = void*;
constexpr int kTooSmall = 7;
constexpr std::uint64_t kNotTold = ~std::uint64_t{0};

// The layouts of the library's interface, as far as it is asked.
struct MemoryAnswer {  // nvmlMemory_v2_t
  unsigned version = static_cast<unsigned>(sizeof(MemoryAnswer)) | (2U << 24);
  unsigned long long total = 0, reserved = 0, free = 0, used = 0;
};
struct OldMemoryAnswer {  // nvmlMemory_t: what the driver reserves counts as used
  unsigned long long total = 0, free = 0, used = 0;
};
struct ProcessAnswer {  // nvmlProcessInfo_t since _v2
  unsigned pid = 0;
  unsigned long long bytes = 0;
  unsigned instance = 0, compute_instance = 0;
};

using Text = int(Handle, char*, unsigned);
using GetMemory = int(Handle, MemoryAnswer*);
using GetOldMemory = int(Handle, OldMemoryAnswer*);
using GetNumber = int(Handle, int*);
using GetUnsigned = int(Handle, unsigned*);
using GetMig = int(Handle, unsigned*, unsigned*);
using GetPart = int(Handle, unsigned, Handle*);
using GetEcc = int(Handle, int, int, unsigned long long*);
using GetProcesses = int(Handle, unsigned*, ProcessAnswer*);

std::string text_of(const SharedLibrary& library, const char* symbol, Handle card) {
  std::array<char, 128> text{};
  auto* get = library.find<Text>(symbol);
  return get != nullptr && get(card, text.data(), text.size() - 1) == 0 ? text.data() : "";
}

void read_memory(const SharedLibrary& library, Handle handle, NvmlCard& card) {
  MemoryAnswer memory;
  OldMemoryAnswer old;
  if (auto* get = library.find<GetMemory>("nvmlDeviceGetMemoryInfo_v2"); get != nullptr && get(handle, &memory) == 0) {
    card.total_bytes = memory.total;
    card.used_bytes = memory.used;
    card.reserved_bytes = memory.reserved;
  } else if (auto* get_old = library.find<GetOldMemory>("nvmlDeviceGetMemoryInfo");
             get_old != nullptr && get_old(handle, &old) == 0) {
    card.total_bytes = old.total;
    card.used_bytes = old.used;
  }
}

std::string name_of_process(unsigned pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// Compute and graphics processes; one that is both is listed once.
void read_processes(const SharedLibrary& library, Handle handle, NvmlCard& card) {
  for (const char* kind : {"nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses"}) {
    auto* get = library.find<GetProcesses>((std::string(kind) + "_v3").c_str());
    if (get == nullptr) get = library.find<GetProcesses>((std::string(kind) + "_v2").c_str());
    if (get == nullptr) continue;
    std::vector<ProcessAnswer> processes(64);
    auto count = static_cast<unsigned>(processes.size());
    int code = get(handle, &count, processes.data());
    if (code == kTooSmall) {
      processes.resize(count + 64);
      count = static_cast<unsigned>(processes.size());
      code = get(handle, &count, processes.data());
    }
    if (code != 0) continue;
    card.lists_processes = true;
    for (unsigned i = 0; i < count; ++i) {
      const ProcessAnswer& process = processes[i];
      bool known = false;
      for (const CardProcess& other : card.processes) known = known || other.pid == process.pid;
      if (known) continue;
      const bool told = process.bytes != kNotTold && process.bytes <= card.total_bytes;
      card.processes.push_back({process.pid, told ? std::optional<std::uint64_t>(process.bytes) : std::nullopt,
                                name_of_process(process.pid)});
    }
  }
}

void read_mig(const SharedLibrary& library, Handle handle, NvmlCard& card) {
  unsigned now = 0, pending = 0, most = 0;
  auto* mode = library.find<GetMig>("nvmlDeviceGetMigMode");
  if (mode == nullptr || mode(handle, &now, &pending) != 0 || now == 0) return;
  card.mig = true;
  auto* parts = library.find<GetUnsigned>("nvmlDeviceGetMaxMigDeviceCount");
  auto* part = library.find<GetPart>("nvmlDeviceGetMigDeviceHandleByIndex");
  if (parts == nullptr || part == nullptr || parts(handle, &most) != 0) return;
  for (unsigned i = 0; i < most; ++i) {
    Handle ignored = nullptr;
    if (part(handle, i, &ignored) == 0) ++card.mig_parts;
  }
}

NvmlCard read_card(const SharedLibrary& library, unsigned index) {
  NvmlCard card;
  Handle handle = nullptr;
  auto* find = library.find<int(unsigned, Handle*)>("nvmlDeviceGetHandleByIndex_v2");
  card.code = find == nullptr ? -1 : find(index, &handle);
  if (card.code != 0) return card;
  card.uuid = text_of(library, "nvmlDeviceGetUUID", handle);
  card.name = text_of(library, "nvmlDeviceGetName", handle);
  read_memory(library, handle, card);
  if (auto* get = library.find<GetNumber>("nvmlDeviceGetComputeMode"); get != nullptr) get(handle, &card.compute_mode);
  read_mig(library, handle, card);
  unsigned long long errors = 0;
  constexpr int kUncorrected = 1, kSinceLoad = 0;
  if (auto* get = library.find<GetEcc>("nvmlDeviceGetTotalEccErrors");
      get != nullptr && get(handle, kUncorrected, kSinceLoad, &errors) == 0)
    card.ecc_errors = errors;
  read_processes(library, handle, card);
  return card;
}

}  // namespace

const NvmlCard* Nvml::by_uuid(const std::string& uuid) const {
  for (const NvmlCard& card : cards)
    if (!uuid.empty() && card.uuid == uuid) return &card;
  return nullptr;
}

Nvml ask_nvml() {
  Nvml nvml;
  const SharedLibrary library("libnvidia-ml.so.1");
  nvml.problem = library.problem();
  auto* init = library.find<int()>("nvmlInit_v2");
  if (init == nullptr) return nvml;
  nvml.code = init();
  if (nvml.code != 0) return nvml;
  std::array<char, 96> version{};
  if (auto* get = library.find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
      get != nullptr && get(version.data(), version.size() - 1) == 0)
    nvml.driver_version = version.data();
  unsigned count = 0;
  if (auto* get = library.find<int(unsigned*)>("nvmlDeviceGetCount_v2"); get != nullptr) get(&count);
  for (unsigned i = 0; i < count; ++i) nvml.cards.push_back(read_card(library, i));
  if (auto* shutdown = library.find<int()>("nvmlShutdown"); shutdown != nullptr) shutdown();
  return nvml;
}

}  // namespace labrig::doctor
