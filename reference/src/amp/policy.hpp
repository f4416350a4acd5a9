// The rule behind amp::policy(), as autocast.cpp applies it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "labrig/amp.hpp"

namespace labrig::amp {

// Autocast leaves everything else alone.
constexpr bool is_eligible(Dtype dtype) { return is_floating_point(dtype) && dtype != Dtype::f64; }

// The type that the eligible inputs of `op` (their types: `inputs`) are cast to in a region of low precision type
// `low`; none when they stay as they are. Throws `banned-under-autocast`, and `dtype-mismatch` for a 16-bit type that
// is not the region's where inputs are to be widened.
std::optional<Dtype> cast_type(std::string_view op, Policy policy, Dtype low, std::span<const Dtype> inputs);

}  // namespace labrig::amp
