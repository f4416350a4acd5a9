// What the driver's management library (nvidia-smi stands on it) says: also of cards that CUDA cannot use, and of what
// every process holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace labrig::doctor {

struct CardProcess {
  std::uint64_t pid = 0;
  std::optional<std::uint64_t> bytes;  // nothing: the driver does not tell
  std::string name;                    // empty: not visible from here
};

struct NvmlCard {
  int code = 0;  // of asking for it; 15: it is lost
  std::string uuid, name;
  std::uint64_t total_bytes = 0, used_bytes = 0,
                reserved_bytes = 0;  // the last, of the driver itself, is not in `used`
  int compute_mode = 0;              // 0 shared, 2 prohibited, 3 one process alone
  bool mig = false;                  // divided into parts,
  int mig_parts = 0;                 // this many of which there are
  std::uint64_t ecc_errors = 0;      // uncorrected, since the driver was loaded
  bool lists_processes = false;      // `processes` was answered; in a container it may leave out those outside
  std::vector<CardProcess> processes;
};

struct Nvml {
  std::string problem;  // why libnvidia-ml.so.1 does not open
  int code = 0;         // of nvmlInit: 0 success, 4 no permission, 9 driver not loaded, 18 driver and library differ
  std::string driver_version;   // "580.95.05"
  std::vector<NvmlCard> cards;  // of the whole machine, in PCI order

  bool answers() const { return problem.empty() && code == 0; }
  const NvmlCard* by_uuid(const std::string& uuid) const;
};

Nvml ask_nvml();

}  // namespace labrig::doctor
