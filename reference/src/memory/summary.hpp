// The statistics as a person or a program reads them: PyTorch's table, and the nested form.
#pragma once

#include <string>

#include "labrig/export.hpp"
#include "memory/statistics.hpp"

namespace labrig {

// torch.cuda.memory_summary(), to the byte.
LABRIG_API std::string summary_of(const AllocatorStatistics& statistics, int device_index, bool abbreviated);
// JSON: {"allocated_bytes": {"all": {"current": …}}}.
LABRIG_API std::string nested_json(const AllocatorStatistics& statistics);

}  // namespace labrig
