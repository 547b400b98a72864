// DeviceUse: what a device did while a step ran, as its driver tells: a value that it does not tell
// is not there. Of the CPU nothing is told.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace llmb::runner {

struct DeviceUse {
  std::optional<double> energy_j;
  std::optional<double> power_w;      // the mean
  std::optional<double> sm_clock_hz;  // the mean of what was read
  std::optional<double> memory_clock_hz;
  std::optional<double> temperature_c;  // the highest
  // Why it was slower than its clock allows, in words; each once.
  std::vector<std::string> throttle_reasons;
};

}  // namespace llmb::runner
