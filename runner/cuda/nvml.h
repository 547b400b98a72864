// The part of NVML that clocks.cpp calls. NVML comes with the driver, its header with some toolkits
// only; its binary interface does not change within a function's version.
// Source: NVML API Reference Guide.
#pragma once

#include <cstdint>

namespace llmb::runner::cuda::nvml {

using Device = struct DeviceHandle*;
using EventSet = struct EventSetHandle*;
using Status = int;  // 0: it worked

constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kTemperatureOfGpu = 0;
constexpr int kErrorsCorrected = 0;
constexpr int kErrorsUncorrected = 1;
constexpr int kSinceDriverLoaded = 0;
constexpr unsigned kMigEnabled = 1;
constexpr unsigned long long kEventXid = 0x8;

struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;  // of an Xid event: its number
  unsigned gpu_instance;
  unsigned compute_instance;
};

// As the library exports them, behind its own names.
using Init = Status (*)();
using HandleByPciBusId = Status (*)(const char* pci_bus_id, Device* device);
using ClockInfo = Status (*)(Device device, int clock, unsigned* mhz);
using UnsignedOfDevice = Status (*)(Device device, unsigned* value);
using LongOfDevice = Status (*)(Device device, unsigned long long* value);
using MigMode = Status (*)(Device device, unsigned* current, unsigned* pending);
using Temperature = Status (*)(Device device, int sensor, unsigned* celsius);
using TotalEccErrors = Status (*)(Device device, int errors, int counter,
                                  unsigned long long* count);
using EventSetCreate = Status (*)(EventSet* set);
using RegisterEvents = Status (*)(Device device, unsigned long long types, EventSet set);
using EventSetWait = Status (*)(EventSet set, EventData* data, unsigned timeout_ms);

}  // namespace llmb::runner::cuda::nvml
