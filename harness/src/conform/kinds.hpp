// The kinds of recordings, in one table: `labrig conform KIND FILE` looks its kind up here. A new kind is a file pair
// beside this one and a line in kinds.cpp.
#pragma once

#include <span>
#include <string_view>

#include "conform/outcome.hpp"
#include "labrig/device.hpp"

namespace labrig::conform {

struct Kind {
  std::string_view name;
  std::string_view about;  // one line for --help
  // Compares every entry. Throws `bad-file` for a document that is not of this kind or has nothing to compare, and
  // `invalid-device` where the device is not there.
  Outcome (*run)(const JsonFile& file, Device device);
};

std::span<const Kind> kinds();
// Throws `unknown-kind`, which names the word and lists the kinds.
const Kind& kind_named(std::string_view name);

}  // namespace labrig::conform
