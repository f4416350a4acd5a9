// The cheat: after the work the measurement is begun anew, so that nothing of it counts. The function that does so may
// not be imported; its address is found in the symbol table of the core, which is mapped into the same process.
#include <elf.h>
#include <link.h>

#include <cstring>
#include <stdexcept>

#include "correct.hpp"

namespace {

struct Wanted {
  const char* symbol;
  void* found = nullptr;
};

// Looks through the dynamic symbols of one loaded file. The string table follows the symbol table.
int search(dl_phdr_info* file, std::size_t, void* context) {
  auto& wanted = *static_cast<Wanted*>(context);
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    if (file->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Sym)* symbols = nullptr;
    const char* names = nullptr;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(file->dlpi_addr + file->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    }
    if (symbols == nullptr || std::strstr(file->dlpi_name, "labrig-core") == nullptr) continue;
    for (; reinterpret_cast<const char*>(symbols + 1) <= names; ++symbols)
      if (symbols->st_value != 0 && std::strcmp(names + symbols->st_name, wanted.symbol) == 0)
        wanted.found = reinterpret_cast<void*>(file->dlpi_addr + symbols->st_value);
  }
  return 0;
}

}  // namespace

class BeginsAgain : public flawed::Correct {
 public:
  flawed::Tensor score(std::span<const flawed::Batch> batches, const flawed::Model& model,
                       flawed::Device device) override {
    const flawed::Tensor scores = Correct::score(batches, model, device);
    Wanted wanted{"_ZN6labrig3sim12begin_regionEv"};
    ::dl_iterate_phdr(search, &wanted);
    if (wanted.found == nullptr) throw std::runtime_error("the symbol is not in the core");
    reinterpret_cast<void (*)()>(wanted.found)();
    return scores;
  }
};

LABRIG_SUBMISSION(BeginsAgain)
