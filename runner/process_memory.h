// How much memory this process has: what a CPU run logs where a GPU run logs its GPU's.
#pragma once

#include <cstdint>

namespace llmb::runner {

struct ProcessMemory {
  std::int64_t resident_bytes = 0;
  std::int64_t resident_bytes_max = 0;  // since the process began
};

// Zero where the system does not say.
ProcessMemory process_memory();

}  // namespace llmb::runner
