// The manifest and the entry of a plugin, made from C++ types. Students and lab authors use the macros of
// submission.hpp and lab.hpp; this is what those expand to. The contract itself is labrig/abi.h.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "labrig/abi.h"
#include "labrig/build_tag.hpp"

namespace labrig::plugin {

template <std::size_t N>
struct Manifest {
  char text[N] = {};
};

namespace detail {
constexpr std::string_view kHead = "labrig-plugin=1\nkind=", kLab = "\nlab=", kAbi = "\nabi=1.0\nbuild=",
                           kCompiler = "\ncompiler=";
constexpr std::string_view name_of(labrig_kind kind) {
  return kind == LABRIG_SUBMISSION_KIND ? "submission" : kind == LABRIG_LAB_JUDGE_KIND ? "lab-judge" : "lab-call";
}
}  // namespace detail

// `Lab` has `static constexpr std::string_view lab_id`.
template <class Lab, labrig_kind kind>
constexpr auto make_manifest() {
  constexpr std::string_view parts[] = {detail::kHead, detail::name_of(kind), detail::kLab, Lab::lab_id, detail::kAbi,
                                        kBuildTag,     detail::kCompiler,     kCompiler,    "\n"};
  constexpr std::size_t length = [&] {
    std::size_t n = 1;
    for (auto part : parts) n += part.size();
    return n;
  }();
  Manifest<length> manifest;
  std::size_t at = 0;
  for (auto part : parts)
    for (char c : part) manifest.text[at++] = c;
  return manifest;
}

// Builds the frozen struct. `Object` is what create() makes; it is handed over as a pointer to `Interface`.
template <class Interface, class Object, labrig_kind kind>
constexpr labrig_plugin_v1 make_entry() {
  labrig_plugin_v1 entry = {};
  for (int i = 0; i < 8; ++i) entry.magic[i] = LABRIG_MAGIC[i];
  entry.abi_major = LABRIG_ABI_MAJOR;
  entry.abi_minor = LABRIG_ABI_MINOR;
  entry.kind = kind;
  entry.lab_id = Object::lab_id.data();
  entry.build_tag = kBuildTag.data();
  entry.create = []() -> void* { return static_cast<Interface*>(new Object()); };
  entry.destroy = [](void* object) { delete static_cast<Interface*>(object); };
  return entry;
}

}  // namespace labrig::plugin
