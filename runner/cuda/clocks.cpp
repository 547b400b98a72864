#include "runner/cuda/clocks.h"

#include <fmt/format.h>

#include "runner/cuda/device_error.h"
#include "runner/cuda/nvml.h"

namespace llmb::runner::cuda {
namespace {

template <typename Number, typename Function, typename... Arguments>
std::optional<double> ask(double unit, Function function, Arguments... arguments) {
  Number value = 0;
  if (!function || function(arguments..., &value) != 0) return std::nullopt;
  return static_cast<double>(value) * unit;
}

}  // namespace

// The functions that a driver lacks are null, and what they tell is left out.
struct ClockReader::State {
  std::string why_nothing;
  std::string why_no_energy;
  nvml::Device device = nullptr;
  nvml::EventSet events = nullptr;
  nvml::ClockInfo clock = nullptr;
  nvml::ClockInfo max_clock = nullptr;
  nvml::UnsignedOfDevice power = nullptr;
  nvml::UnsignedOfDevice power_limit = nullptr;
  nvml::LongOfDevice energy = nullptr;
  nvml::LongOfDevice throttle_reasons = nullptr;
  nvml::Temperature temperature = nullptr;
  nvml::TotalEccErrors ecc_errors = nullptr;
  nvml::EventSetWait wait_for_event = nullptr;

  void open(const std::string& pci_address, const LibraryPlaces& places) {
    const VendorLibrary library({"NVML", {"libnvidia-ml.so.1"}, "It comes with the driver."},
                                places);
    const auto init = library.function<nvml::Init>("nvmlInit_v2");
    const auto handle =
        library.function<nvml::HandleByPciBusId>("nvmlDeviceGetHandleByPciBusId_v2");
    if (const nvml::Status status = init(); status != 0) {
      why_nothing = fmt::format("nvmlInit_v2 answered {}", status);
      return;
    }
    if (const nvml::Status status = handle(pci_address.c_str(), &device); status != 0) {
      why_nothing = fmt::format("NVML knows no device {} (answer {})", pci_address, status);
      device = nullptr;
      return;
    }
    find_functions(library);
    leave_out_the_boards(library);
    listen(library);
  }

  // Where MIG is on, programs run on slices only.
  void leave_out_the_boards(const VendorLibrary& library) {
    const auto mig_mode = library.function_if_there<nvml::MigMode>("nvmlDeviceGetMigMode");
    unsigned current = 0;
    unsigned pending = 0;
    if (!mig_mode || mig_mode(device, &current, &pending) != 0) return;
    if (current != nvml::kMigEnabled) return;
    power = nullptr;
    power_limit = nullptr;
    energy = nullptr;
    why_no_energy = "the device is a slice of a board (MIG), and NVML counts those of the board";
  }

  void find_functions(const VendorLibrary& library) {
    const auto find = [&library](auto& function, const char* name) {
      function = library.function_if_there<std::remove_reference_t<decltype(function)>>(name);
    };
    find(clock, "nvmlDeviceGetClockInfo");
    find(max_clock, "nvmlDeviceGetMaxClockInfo");
    find(power, "nvmlDeviceGetPowerUsage");
    find(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    find(energy, "nvmlDeviceGetTotalEnergyConsumption");
    find(throttle_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    // Its name before driver 535.
    if (!throttle_reasons) find(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(temperature, "nvmlDeviceGetTemperature");
    find(ecc_errors, "nvmlDeviceGetTotalEccErrors");
    find(wait_for_event, "nvmlEventSetWait_v2");
  }

  void listen(const VendorLibrary& library) {
    const auto create = library.function_if_there<nvml::EventSetCreate>("nvmlEventSetCreate");
    const auto listen_to =
        library.function_if_there<nvml::RegisterEvents>("nvmlDeviceRegisterEvents");
    if (!create || !listen_to || !wait_for_event || create(&events) != 0 ||
        listen_to(device, nvml::kEventXid, events) != 0) {
      events = nullptr;
    }
  }
};

ClockReader::ClockReader(const std::string& pci_address, const LibraryPlaces& places)
    : state_(std::make_unique<State>()) {
  try {
    state_->open(pci_address, places);
  } catch (const NoDevice& error) {
    state_->why_nothing = error.what();
  }
}

ClockReader::~ClockReader() = default;

ClockReading ClockReader::read() {
  ClockReading reading;
  State& nvml_of = *state_;
  nvml::Device device = nvml_of.device;
  if (!device) return reading;
  constexpr double kMega = 1e6;
  constexpr double kMilli = 1e-3;
  reading.sm_clock_hz = ask<unsigned>(kMega, nvml_of.clock, device, nvml::kClockSm);
  reading.sm_clock_hz_max = ask<unsigned>(kMega, nvml_of.max_clock, device, nvml::kClockSm);
  reading.memory_clock_hz = ask<unsigned>(kMega, nvml_of.clock, device, nvml::kClockMemory);
  reading.power_w = ask<unsigned>(kMilli, nvml_of.power, device);
  reading.power_limit_w = ask<unsigned>(kMilli, nvml_of.power_limit, device);
  reading.energy_j = ask<unsigned long long>(kMilli, nvml_of.energy, device);
  reading.temperature_c = ask<unsigned>(1, nvml_of.temperature, device, nvml::kTemperatureOfGpu);
  unsigned long long bits = 0;
  if (nvml_of.throttle_reasons && nvml_of.throttle_reasons(device, &bits) == 0) {
    reading.throttle_reasons = throttle_reason_words(bits);
  }
  const auto ecc_errors = [&](int kind) -> std::optional<std::int64_t> {
    unsigned long long count = 0;
    if (!nvml_of.ecc_errors ||
        nvml_of.ecc_errors(device, kind, nvml::kSinceDriverLoaded, &count) != 0) {
      return std::nullopt;
    }
    return static_cast<std::int64_t>(count);
  };
  reading.ecc_errors_corrected = ecc_errors(nvml::kErrorsCorrected);
  reading.ecc_errors_uncorrected = ecc_errors(nvml::kErrorsUncorrected);
  return reading;
}

std::vector<std::uint64_t> ClockReader::take_xid_errors() {
  std::vector<std::uint64_t> numbers;
  if (!state_->events) return numbers;
  nvml::EventData event{};
  while (state_->wait_for_event(state_->events, &event, 0) == 0) {
    if ((event.type & nvml::kEventXid) != 0) numbers.push_back(event.data);
  }
  return numbers;
}

const std::string& ClockReader::why_no_energy() const {
  return state_->why_no_energy;
}

const std::string& ClockReader::why_nothing() const {
  return state_->why_nothing;
}

}  // namespace llmb::runner::cuda
