#include "runner/process_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace llmb::runner {

ProcessMemory process_memory() {
  ProcessMemory memory;
  std::ifstream pages("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  if (pages >> size >> resident) memory.resident_bytes = resident * sysconf(_SC_PAGESIZE);
  rusage usage{};
  constexpr std::int64_t kKibi = 1024;
  if (getrusage(RUSAGE_SELF, &usage) == 0) memory.resident_bytes_max = usage.ru_maxrss * kKibi;
  // The kernel counts both lazily, and not at the same moments.
  memory.resident_bytes_max = std::max(memory.resident_bytes_max, memory.resident_bytes);
  return memory;
}

}  // namespace llmb::runner
