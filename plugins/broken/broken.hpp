// What the broken plugins share: an answer to the lab `scale` that would be right, and a way to spoil one thing in its
// manifest or its entry. Each file of this folder fails at one rung of the loading ladder; expected/<name>.txt is what
// a user then reads. See docs/errors/loading.md.
#pragma once

#include "interface.hpp"

namespace broken {

class Scale : public scale::Submission {
 public:
  labrig::Tensor scale(const labrig::Tensor& x, double factor, labrig::Device device) override {
    return labrig::mul(x.to(device), factor).cpu();
  }
};

// An entry with something changed: `change` gets a right one.
template <class Type, class Change>
constexpr labrig_plugin_v1 entry_with(Change change) {
  labrig_plugin_v1 entry = labrig::plugin::make_entry<scale::Submission, Type, LABRIG_SUBMISSION_KIND>();
  change(entry);
  return entry;
}

}  // namespace broken

#define BROKEN_MANIFEST(Interface)                                                         \
  __attribute__((section(LABRIG_MANIFEST_SECTION), used)) static constexpr auto manifest = \
      ::labrig::plugin::make_manifest<Interface, LABRIG_SUBMISSION_KIND>();
#define BROKEN_MANIFEST_TEXT(text) \
  __attribute__((section(LABRIG_MANIFEST_SECTION), used)) static constexpr char manifest[] = text;
#define BROKEN_ENTRY(Type, change)                                                               \
  extern "C" __attribute__((visibility("default"), used)) const labrig_plugin_v1 labrig_plugin = \
      ::broken::entry_with<Type>(change);
