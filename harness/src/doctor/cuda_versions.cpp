#include "doctor/cuda_versions.hpp"

#include <fmt/format.h>

#include <sstream>

namespace labrig::doctor {
namespace {

// "580.95.05" of ".../libcuda.so.580.95.05"; a link that was not followed, "libcuda.so.1", says nothing.
std::string library_version(const std::string& file) {
  const std::size_t at = file.find("libcuda.so.");
  const std::string version = at == std::string::npos ? "" : file.substr(at + 11);
  return version.find('.') == std::string::npos ? "" : version;
}

bool is_compat(const CudaVersions& versions) { return versions.driver_file.find("/compat") != std::string::npos; }

bool differs_from_the_kernel(const CudaVersions& versions) {
  const std::string library = library_version(versions.driver_file);
  return !is_compat(versions) && !library.empty() && !versions.module.empty() && library != versions.module;
}

std::string relation_of(const CudaVersions& versions) {
  if (versions.driver == 0 || versions.runtime == 0) return "unknown";
  if (differs_from_the_kernel(versions)) return "mismatch";
  if (versions.driver < versions.runtime)
    return versions.driver / 1000 == versions.runtime / 1000 ? "same-major" : "older-driver";
  if (is_compat(versions)) return "forward-compatible";
  return versions.driver == versions.runtime ? "same" : "newer-driver";
}

Advice too_old(const CudaVersions& versions) {
  const std::string driver = cuda_version_text(versions.driver), runtime = cuda_version_text(versions.runtime);
  return {
      fmt::format("the driver is too old: it supports CUDA {}, labrig was built with {}", driver, runtime),
      "a driver runs programs of its own major version of CUDA and of older ones, not of newer ones",
      fmt::format("update the driver (`nvidia-smi` shows it); on a server's card `apt-get install cuda-compat-{}-{}` "
                  "serves too; or build labrig with CUDA {}",
                  versions.runtime / 1000, versions.runtime % 1000 / 10, driver)};
}

Advice mismatch(const CudaVersions& versions) {
  return {fmt::format("the driver's library is of version {}, the kernel's part of {}",
                      library_version(versions.driver_file), versions.module),
          "the driver was updated and the old one is still loaded, or a container brings another driver's library",
          "restart the machine: `sudo reboot`; in a container leave libcuda.so out of the image"};
}

}  // namespace

std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string module_version(const std::string& proc_text) {
  std::istringstream words(proc_text.substr(0, proc_text.find('\n')));
  for (std::string word; words >> word;)
    if (word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos) return word;
  return "";
}

Check compare(const CudaVersions& versions) {
  const std::string id = "cuda-versions", relation = relation_of(versions);
  const auto told = [](int version) { return version == 0 ? Facts() : Facts(cuda_version_text(version)); };
  const Facts facts = {{"relation", relation},
                       {"driver_supports", told(versions.driver)},
                       {"runtime", told(versions.runtime)},
                       {"kernel_module", versions.module.empty() ? Facts() : Facts(versions.module)}};
  const std::string pair = fmt::format("driver for CUDA {}, runtime {}", cuda_version_text(versions.driver),
                                       cuda_version_text(versions.runtime));
  if (relation == "unknown")
    return skipped(
        id, versions.runtime == 0 ? "this labrig has no CUDA runtime to compare with" : "no driver to compare with",
        facts);
  if (relation == "mismatch") return warned(id, mismatch(versions), facts);
  if (relation == "older-driver") return warned(id, too_old(versions), facts);
  if (relation == "same-major") return passed(id, pair + ": fits within a major version", facts);
  if (relation == "forward-compatible") return passed(id, pair + ", by the compatibility package", facts);
  return passed(id, pair, facts);
}

}  // namespace labrig::doctor
