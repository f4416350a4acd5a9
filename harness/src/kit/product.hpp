// The program as a folder that can be moved to another machine: programs, libraries, headers, profiles and data, with
// the shape of the tree that it was copied from, and without labs and plugins. lib also holds the shared libraries that
// a plain system lacks. A C++ compiler is not part of it.
#pragma once

#include <filesystem>

namespace labrig::kit {

struct ProductOptions {
  bool cuda = false;  // also the cuda backend, where it was built
};

// `root` is where this labrig lies: a build folder, a bundle, a prefix. `folder` must not exist. Throws Error
// `incomplete-product`, `cannot-write`.
void copy_product(const std::filesystem::path& root, const std::filesystem::path& folder,
                  const ProductOptions& options = {});

// Takes symbols out that no loader needs; without the program `strip` files stay as they are.
void strip_binaries(const std::filesystem::path& folder);

}  // namespace labrig::kit
