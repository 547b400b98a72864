#include "runner/cpu/memory_meter.h"

namespace llmb::runner::cpu {

MemoryMeter& memory_meter() {
  thread_local MemoryMeter meter;
  return meter;
}

}  // namespace llmb::runner::cpu
