// Checks of settings that optimizers share, with PyTorch's texts.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "labrig/error.hpp"
#include "labrig/optim.hpp"
#include "tensor/python_number.hpp"

namespace labrig::optim {

// Each entry: the setting, and what PyTorch calls it. NaN is refused as well.
inline void check_not_negative(const Settings& settings,
                               std::initializer_list<std::pair<const char*, const char*>> names) {
  for (const auto& [key, called] : names) {
    if (settings.at(key) >= 0) continue;
    throw Error("bad-optimizer", std::string("Invalid ") + called + ": " + python_number(settings.at(key)),
                std::string("'") + key + "' must be a number of 0 or more", "correct its value");
  }
}

}  // namespace labrig::optim
