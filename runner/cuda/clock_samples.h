// ClockSamples: what NVML was read to say, added up for the step that it fell into. Pure: whoever
// reads says when. Energy is the driver's counter, carried on by the power that was read last, so
// that a step may end between two readings; where there is no counter, power over time.
#pragma once

#include <optional>

#include "runner/cuda/clocks.h"
#include "runner/operation/device_use.h"

namespace llmb::runner::cuda {

class ClockSamples {
 public:
  // Seconds of one clock that goes forward only.
  void add(const ClockReading& reading, double at_s);
  // Since the last call, or since the first reading. Where none fell between, clocks and
  // temperature are those that were read last.
  DeviceUse take(double at_s);

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
    std::optional<double> newest;

    void add(std::optional<double> value);
    std::optional<double> take();
  };

  // Of the counter, where one was told; never less than was told before.
  std::optional<double> energy_at(double at_s);

  std::optional<double> counter_j_;  // at the newest reading
  std::optional<double> power_w_;
  double read_at_s_ = 0;
  std::optional<double> taken_j_;
  double taken_at_s_ = 0;
  Mean sm_clock_, memory_clock_;
  std::optional<double> temperature_c_;
  bool is_temperature_old_ = false;
  std::vector<std::string> reasons_;
};

}  // namespace llmb::runner::cuda
