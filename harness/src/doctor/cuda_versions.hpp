// May a program that was built with one version of CUDA run on this driver?
#pragma once

#include <string>

#include "doctor/check.hpp"

namespace labrig::doctor {

struct CudaVersions {
  int driver = 0;           // that the driver library supports, 13000 for 13.0; 0: not known
  int runtime = 0;          // that labrig was built with or has loaded; 0: labrig has no cuda part
  std::string module;       // version of the kernel's driver, "580.95.05"; empty: not known
  std::string driver_file;  // where libcuda lies
};

// The check `cuda-versions`. Its fact `relation`: newer-driver, same, same-major, older-driver, forward-compatible,
// mismatch (the driver's library is not the kernel's), unknown.
Check compare(const CudaVersions& versions);

std::string cuda_version_text(int version);  // "13.0"
// "580.95.05" of /proc/driver/nvidia/version; empty when there is none.
std::string module_version(const std::string& proc_text);

}  // namespace labrig::doctor
