// What the device does to its own speed: clocks, power, energy, temperature, why it throttles, and
// the errors it counts, as NVML tells them. A device that does not tell a value leaves it out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/cuda/vendor_library.h"

namespace llmb::runner::cuda {

struct ClockReading {
  std::optional<double> sm_clock_hz;
  std::optional<double> sm_clock_hz_max;
  std::optional<double> memory_clock_hz;
  std::optional<double> power_w;
  std::optional<double> power_limit_w;
  std::optional<double> energy_j;  // since the driver was loaded; differences count
  std::optional<double> temperature_c;
  // NVML's clocks event reasons, in words: "power cap", "thermal slowdown by hardware", …
  std::vector<std::string> throttle_reasons;
  // Since the driver was loaded.
  std::optional<std::int64_t> ecc_errors_uncorrected;
  std::optional<std::int64_t> ecc_errors_corrected;
};

// Reads one device. Not thread-safe.
class ClockReader {
 public:
  // `pci_address` of DeviceInfo. Where NVML is not there, the reader stands all the same, and
  // why_nothing() says what was missing.
  explicit ClockReader(const std::string& pci_address,
                       const LibraryPlaces& places = usual_library_places());
  ~ClockReader();
  ClockReader(const ClockReader&) = delete;
  ClockReader& operator=(const ClockReader&) = delete;

  // Takes about a millisecond; nothing of it waits for the device's streams.
  ClockReading read();
  // Xid errors of this device that the driver reported since the last call, as their numbers.
  std::vector<std::uint64_t> take_xid_errors();
  const std::string& why_nothing() const;
  // Why power and energy are left out of what is read: an address is that of a whole board, of
  // which the device may be a slice (MIG). Empty where they are not, or nothing is read at all.
  const std::string& why_no_energy() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Words for the bits of NVML's clocks event reasons. "idle" and settings of applications are no
// reasons to be slow, and left out.
std::vector<std::string> throttle_reason_words(std::uint64_t bits);

}  // namespace llmb::runner::cuda
