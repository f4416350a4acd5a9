// Messages that are not PyTorch's "CUDA out of memory. Tried to allocate": of the host's memory, of libraries on the
// card, of other frameworks, and of a driver that gives no numbers. They are recognised, so that nobody tunes PyTorch's
// cache for them.
#pragma once

#include <optional>
#include <string_view>

#include "labrig/triage.hpp"

namespace labrig::triage {

std::optional<Diagnosis> read_foreign(std::string_view text);

}  // namespace labrig::triage
