// Rules of shapes that several files need: the two halves of `view`, apart because `reshape` copies where `view`
// refuses, and what may be written where.
#pragma once

#include <optional>

#include "labrig/layout.hpp"

namespace labrig {

// `sizes` with its -1 replaced, for a tensor of `numel` elements. Throws `invalid-shape` when the counts differ.
Dims infer_sizes(const Dims& sizes, std::int64_t numel);

// The layout that shows the same elements with `sizes` (of equal product); nothing when no strides can.
LABRIG_API std::optional<Layout> try_view(const Layout& layout, const Dims& sizes);

// For writing: throws `shape-mismatch` unless values of shape `from` can be repeated to fill the shape `to`.
void check_fills(const Dims& to, const Dims& from);

}  // namespace labrig
