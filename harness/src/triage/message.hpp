// Out-of-memory messages of every PyTorch generation, read from a pasted text: with and without brackets, wrapped, cut,
// boxed, misspelt. A size is taken for what the words beside it say; line breaks and blanks do not count, so a break in
// the middle of a word does no harm.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "triage/shortage.hpp"

namespace labrig::triage {

// Without what logs and terminals put around lines: colours, time stamps, "[rank0]:", quotation marks, frames.
std::string without_decoration(std::string_view text);
// Lower case, without blanks and line breaks except between two digits.
std::string compact(std::string_view text);

// The messages of a text in their order, equal ones once. Empty where no size of a request or of a card could be read.
std::vector<Shortage> read_messages(std::string_view text);

}  // namespace labrig::triage
