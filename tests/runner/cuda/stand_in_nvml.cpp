// A library with NVML's binary interface and known answers: as a driver that knows one device
// without an energy counter, at 0000:1b:00.0, one that MIG cuts into slices, at 0000:2b:00.0, and
// those of the CUDA double, which take 700 W each and count an uncorrectable ECC error with every
// reading; and that has two Xid errors to tell. As NVML itself, it is asked by several threads.
#include <atomic>
#include <chrono>
#include <cstring>

#include "runner/cuda/nvml.h"

namespace nvml = llmb::runner::cuda::nvml;

namespace {
int device_place;
int counting_place;
int sliced_place;
std::atomic<int> xid_errors_told = 0;
std::atomic<unsigned long long> ecc_errors = 0;
const auto begin = std::chrono::steady_clock::now();

bool counts(nvml::Device device) {
  return device == reinterpret_cast<nvml::Device>(&counting_place);
}
bool is_sliced(nvml::Device device) {
  return device == reinterpret_cast<nvml::Device>(&sliced_place);
}
constexpr nvml::Status kNotSupported = 3;
constexpr nvml::Status kNotFound = 6;
constexpr nvml::Status kTimeout = 10;
}  // namespace

// NOLINTBEGIN(readability-identifier-naming): NVML's names
extern "C" {
nvml::Status nvmlInit_v2() {
  return 0;
}
nvml::Status nvmlDeviceGetHandleByPciBusId_v2(const char* address, nvml::Device* device) {
  const bool is_double = std::strncmp(address, "0000:0", 6) == 0;
  const bool has_slices = std::strcmp(address, "0000:2b:00.0") == 0;
  if (!is_double && !has_slices && std::strcmp(address, "0000:1b:00.0") != 0) return kNotFound;
  int* const place = is_double ? &counting_place : has_slices ? &sliced_place : &device_place;
  *device = reinterpret_cast<nvml::Device>(place);
  return 0;
}
nvml::Status nvmlDeviceGetMigMode(nvml::Device device, unsigned* current, unsigned* pending) {
  if (counts(device)) return kNotSupported;
  *current = *pending = is_sliced(device) ? nvml::kMigEnabled : 0;
  return 0;
}
nvml::Status nvmlDeviceGetClockInfo(nvml::Device, int clock, unsigned* mhz) {
  *mhz = clock == nvml::kClockSm ? 1755 : 2619;
  return 0;
}
nvml::Status nvmlDeviceGetMaxClockInfo(nvml::Device, int, unsigned* mhz) {
  *mhz = 1980;
  return 0;
}
nvml::Status nvmlDeviceGetPowerUsage(nvml::Device, unsigned* milliwatts) {
  *milliwatts = 698500;
  return 0;
}
nvml::Status nvmlDeviceGetEnforcedPowerLimit(nvml::Device, unsigned* milliwatts) {
  *milliwatts = 700000;
  return 0;
}
nvml::Status nvmlDeviceGetTotalEnergyConsumption(nvml::Device device, unsigned long long* mj) {
  if (!counts(device) && !is_sliced(device)) return kNotSupported;
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  *mj = static_cast<unsigned long long>(time.count() * 700e3);
  return 0;
}
nvml::Status nvmlDeviceGetCurrentClocksThrottleReasons(nvml::Device, unsigned long long* reasons) {
  *reasons = 0x01 | 0x04 | 0x40;
  return 0;
}
nvml::Status nvmlDeviceGetTotalEccErrors(nvml::Device device, int errors, int,
                                         unsigned long long* count) {
  *count = errors == nvml::kErrorsCorrected ? 5 : (counts(device) ? ecc_errors++ : 0);
  return 0;
}
nvml::Status nvmlEventSetCreate(nvml::EventSet* set) {
  *set = reinterpret_cast<nvml::EventSet>(&device_place);
  return 0;
}
nvml::Status nvmlDeviceRegisterEvents(nvml::Device, unsigned long long types, nvml::EventSet) {
  return types == nvml::kEventXid ? 0 : kNotSupported;
}
nvml::Status nvmlEventSetWait_v2(nvml::EventSet, nvml::EventData* event, unsigned) {
  constexpr int kXidErrors = 2;
  const int told = xid_errors_told.fetch_add(1);
  if (told >= kXidErrors) {
    xid_errors_told = kXidErrors;
    return kTimeout;
  }
  event->type = nvml::kEventXid;
  event->data = told == 0 ? 79 : 94;
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
