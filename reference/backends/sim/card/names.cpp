// NameTable: numbers may arrive in any order, but only once.
#include "card/names.hpp"

namespace labrig::sim {

bool NameTable::define(std::uint32_t name, const char (&text)[kNameBytes]) {
  if (name == 0 || name >= kMaxNames || known(name)) return false;
  if (name >= texts_.size()) {
    texts_.resize(name + 1);
    defined_.resize(name + 1);
  }
  std::string clean;
  for (const char c : text) {
    if (c == '\0') break;
    const auto byte = static_cast<unsigned char>(c);
    clean += byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  texts_[name] = std::move(clean);
  defined_[name] = true;
  return true;
}

}  // namespace labrig::sim
