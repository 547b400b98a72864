#include <utility>

#include "runner/cuda/clocks.h"

namespace llmb::runner::cuda {

// Source: NVML's nvmlClocksEventReason* constants.
std::vector<std::string> throttle_reason_words(std::uint64_t bits) {
  static constexpr std::pair<std::uint64_t, const char*> kWords[] = {
      {0x04, "power cap by software"},           {0x08, "slowdown by hardware"},
      {0x10, "kept in step with other devices"}, {0x20, "thermal slowdown by software"},
      {0x40, "thermal slowdown by hardware"},    {0x80, "power brake by hardware"},
  };
  std::vector<std::string> reasons;
  for (const auto& [bit, words] : kWords) {
    if ((bits & bit) != 0) reasons.emplace_back(words);
  }
  return reasons;
}

}  // namespace llmb::runner::cuda
