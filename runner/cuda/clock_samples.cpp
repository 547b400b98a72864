#include "runner/cuda/clock_samples.h"

#include <algorithm>
#include <utility>

namespace llmb::runner::cuda {
namespace {

// A reader that hangs is believed for so long.
constexpr double kCarriedOnSecondsMax = 1;

}  // namespace

void ClockSamples::Mean::add(std::optional<double> value) {
  if (!value) return;
  newest = value;
  sum += *value;
  ++count;
}

std::optional<double> ClockSamples::Mean::take() {
  const std::optional<double> mean = count > 0 ? std::optional(sum / count) : newest;
  sum = 0;
  count = 0;
  return mean;
}

void ClockSamples::add(const ClockReading& reading, double at_s) {
  if (reading.energy_j) {
    counter_j_ = reading.energy_j;
  } else if (reading.power_w) {
    const double before_w = power_w_.value_or(*reading.power_w);
    const double since_s = counter_j_ ? at_s - read_at_s_ : 0;
    counter_j_ = counter_j_.value_or(0) + since_s * (before_w + *reading.power_w) / 2;
  }
  power_w_ = reading.power_w;
  read_at_s_ = at_s;
  if (!taken_j_ && counter_j_) {
    taken_j_ = counter_j_;
    taken_at_s_ = at_s;
  }
  sm_clock_.add(reading.sm_clock_hz);
  memory_clock_.add(reading.memory_clock_hz);
  if (reading.temperature_c) {
    const bool is_first = is_temperature_old_ || !temperature_c_;
    temperature_c_ =
        is_first ? *reading.temperature_c : std::max(*temperature_c_, *reading.temperature_c);
    is_temperature_old_ = false;
  }
  for (const std::string& reason : reading.throttle_reasons) {
    if (std::find(reasons_.begin(), reasons_.end(), reason) == reasons_.end()) {
      reasons_.push_back(reason);
    }
  }
}

std::optional<double> ClockSamples::energy_at(double at_s) {
  if (!counter_j_) return std::nullopt;
  const double since_s = std::clamp(at_s - read_at_s_, 0.0, kCarriedOnSecondsMax);
  return std::max(*counter_j_ + since_s * power_w_.value_or(0), taken_j_.value_or(0));
}

DeviceUse ClockSamples::take(double at_s) {
  DeviceUse use;
  if (const std::optional<double> energy = energy_at(at_s); energy && at_s > taken_at_s_) {
    use.energy_j = *energy - *taken_j_;
    use.power_w = *use.energy_j / (at_s - taken_at_s_);
    taken_j_ = energy;
    taken_at_s_ = at_s;
  }
  use.sm_clock_hz = sm_clock_.take();
  use.memory_clock_hz = memory_clock_.take();
  use.temperature_c = temperature_c_;
  is_temperature_old_ = true;
  use.throttle_reasons = std::exchange(reasons_, {});
  return use;
}

}  // namespace llmb::runner::cuda
