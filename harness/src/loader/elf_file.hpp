// A shared library read as a file: sections, symbols, what it needs. Nothing of it is executed or mapped for execution,
// so this is safe on a file that a stranger sent. The one user of libelf. Read next: inspection.hpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "labrig/error.hpp"

namespace labrig::loader {

// What the loader would see. Names of symbols are as the linker knows them (mangled, without versions).
struct ElfFile {
  int bits = 0;                         // 32 or 64
  std::string architecture;             // "x86_64", "aarch64", or "machine 40"
  bool shared = false;                  // an ET_DYN file: a shared library (or a position-independent program)
  std::vector<std::string> needed;      // libraries that are loaded with it
  std::vector<std::string> exported;    // symbols that it gives to others
  std::vector<std::string> imported;    // symbols that it takes from others
  std::size_t constructors = 0;         // functions that run while it is loaded, the compiler's own one included
  std::optional<std::string> manifest;  // the bytes of the section .labrig.manifest
  std::uintmax_t file_bytes = 0;
};

// Why it is not one: Error `plugin-file`. The symbol table must be the one that the loader will use: a file whose
// section headers tell another story than its dynamic segment is refused.
Result<ElfFile> read_elf(const std::filesystem::path& path);

// "labrig::add(labrig::Tensor const&, double)"; the name itself when it is not a C++ name.
std::string demangled(const std::string& symbol);

}  // namespace labrig::loader
