#include "loader/elf_file.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "labrig/abi.h"

namespace labrig::loader {

namespace {

constexpr std::uintmax_t kLargestFile = std::uintmax_t{256} << 20;

// A descriptor and libelf's view of it, closed together.
class OpenElf {
 public:
  explicit OpenElf(const std::filesystem::path& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    if (descriptor_ >= 0) elf_ = elf_begin(descriptor_, ELF_C_READ, nullptr);
  }
  ~OpenElf() {
    if (elf_) elf_end(elf_);
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;
  Elf* get() const { return elf_; }

 private:
  int descriptor_;
  Elf* elf_ = nullptr;
};

Error not_a_plugin(std::string why) {
  return Error("plugin-file", "this file is not a shared library", std::move(why),
               "give the .labrig.so that the build made, or the folder with your sources");
}

std::string architecture_name(int machine) {
  if (machine == EM_X86_64) return "x86_64";
  if (machine == EM_AARCH64) return "aarch64";
  if (machine == EM_386) return "i386";
  if (machine == EM_ARM) return "arm";
  return "machine " + std::to_string(machine);
}

std::string bytes_of(Elf_Scn* section) {
  std::string bytes;
  for (Elf_Data* data = nullptr; (data = elf_getdata(section, data));)
    if (data->d_buf) bytes.append(static_cast<const char*>(data->d_buf), data->d_size);
  return bytes;
}

void read_symbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, ElfFile& file) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (!data || header.sh_entsize == 0) return;
  const int count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, i, &symbol)) return;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (!name || !*name) continue;
    const bool visible =
        GELF_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT && GELF_ST_BIND(symbol.st_info) != STB_LOCAL;
    if (symbol.st_shndx == SHN_UNDEF)
      file.imported.emplace_back(name);
    else if (visible && symbol.st_shndx != SHN_ABS)
      file.exported.emplace_back(name);
  }
}

// Addresses that the dynamic segment gives: what the loader goes by.
struct DynamicTable {
  std::uint64_t symbols = 0, strings = 0;
};

DynamicTable read_dynamic(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, ElfFile& file) {
  DynamicTable table;
  Elf_Data* data = elf_getdata(section, nullptr);
  if (!data || header.sh_entsize == 0) return table;
  const int count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Dyn entry;
    if (!gelf_getdyn(data, i, &entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) {
      if (const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val)) file.needed.emplace_back(name);
    }
    if (entry.d_tag == DT_SYMTAB) table.symbols = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRTAB) table.strings = entry.d_un.d_ptr;
    if (entry.d_tag == DT_INIT_ARRAYSZ) file.constructors = entry.d_un.d_val / (file.bits == 64 ? 8 : 4);
  }
  return table;
}

// Where the loader looks for the dynamic table.
std::uint64_t dynamic_segment_offset(Elf* elf) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return 0;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) && header.p_type == PT_DYNAMIC) return header.p_offset;
  }
  return 0;
}

// Reads all sections; says whether they agree with what the loader will use.
bool read_sections(Elf* elf, ElfFile& file) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return false;
  DynamicTable dynamic;
  std::uint64_t symbols = 0, strings = 0, dynamic_offset = 0;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header)) return false;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (header.sh_type == SHT_DYNSYM) {
      symbols = header.sh_addr;
      GElf_Shdr linked;
      Elf_Scn* text = elf_getscn(elf, header.sh_link);
      if (text && gelf_getshdr(text, &linked)) strings = linked.sh_addr;
      read_symbols(elf, section, header, file);
    } else if (header.sh_type == SHT_DYNAMIC) {
      dynamic_offset = header.sh_offset;
      dynamic = read_dynamic(elf, section, header, file);
    } else if (name && std::string_view(name) == LABRIG_MANIFEST_SECTION && header.sh_type == SHT_PROGBITS) {
      file.manifest = bytes_of(section);
    }
  }
  return dynamic_offset == dynamic_segment_offset(elf) && symbols == dynamic.symbols && strings == dynamic.strings;
}

}  // namespace

Result<ElfFile> read_elf(const std::filesystem::path& path) {
  std::error_code unreadable;
  ElfFile file;
  file.file_bytes = std::filesystem::file_size(path, unreadable);
  if (unreadable) return not_a_plugin("it cannot be read: " + unreadable.message());
  if (file.file_bytes > kLargestFile) return not_a_plugin("it is larger than 256 MiB");
  const OpenElf open(path);
  Elf* elf = open.get();
  if (!elf) return not_a_plugin("it cannot be opened, perhaps for want of permission");
  GElf_Ehdr header;
  if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
    return not_a_plugin(file.file_bytes == 0 ? "it is empty" : "it does not begin like an ELF file");
  file.bits = gelf_getclass(elf) == ELFCLASS64 ? 64 : 32;
  file.architecture = architecture_name(header.e_machine);
  file.shared = header.e_type == ET_DYN;
  if (!file.shared)
    return not_a_plugin(header.e_type == ET_REL ? "it is an object file that has not been linked" : "it is a program");
  if (!read_sections(elf, file))
    return not_a_plugin("its section headers are damaged, or do not fit its dynamic segment");
  return file;
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && name ? std::string(name.get()) : symbol;
}

}  // namespace labrig::loader
