// Named values (tensors, numbers, texts) as a JSON description and one run of bytes, for the channel. Reading checks
// everything: the bytes may come from a submission's process.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "labrig/error.hpp"
#include "labrig/lab.hpp"

namespace labrig::channel {

struct EncodedValues {
  nlohmann::json json;  // a list
  std::string bytes;
};

// Tensors must lie on the host; they are written row-major.
EncodedValues encode_values(const lab::Values& values);
// Error `damaged-values` says what does not fit.
Result<lab::Values> decode_values(const nlohmann::json& json, std::string_view bytes);

}  // namespace labrig::channel
