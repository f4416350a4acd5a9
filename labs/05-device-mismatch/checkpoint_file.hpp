// Task 2: a checkpoint's bytes. The judge writes the file and sends its bytes; beside the submission they become a file
// in memory, which is gone with the process.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "labrig/error.hpp"
#include "labrig/io.hpp"

namespace device_mismatch {

// u8 [bytes]: the safetensors file of these tensors, each said to have been saved on its device of `saved_on`.
inline labrig::Tensor checkpoint_bytes(const labrig::NamedTensors& tensors,
                                       const std::map<std::string, labrig::Device>& saved_on) {
  labrig::io::Metadata metadata;
  for (const auto& [name, device] : saved_on) metadata["device:" + name] = device.str();
  std::string folder = (std::filesystem::temp_directory_path() / "labrig-checkpoint-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr)
    throw labrig::Error("bad-file", "there is no room for a temporary file", "mkdtemp failed in " + folder,
                        "set TMPDIR to a folder that can be written to");
  const std::string path = folder + "/model.safetensors";
  labrig::io::save(path, tensors, metadata);
  std::ifstream file(path, std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  file.close();
  std::filesystem::remove_all(folder);
  return labrig::tensor(bytes);
}

class MemoryFile {
 public:
  explicit MemoryFile(const labrig::Tensor& bytes) : descriptor_(::memfd_create("model.safetensors", MFD_CLOEXEC)) {
    const auto data = bytes.data<const std::uint8_t>();
    if (descriptor_ < 0 || ::write(descriptor_, data.data(), data.size()) != static_cast<ssize_t>(data.size()))
      throw labrig::Error("bad-file", "the checkpoint could not be laid out in memory", "memfd_create or write failed",
                          "run on a Linux kernel of version 3.17 or later, with memory to spare");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace device_mismatch
