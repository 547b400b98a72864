// DeviceMeter: reads a device's clocks, power and errors beside the training, on a thread of its
// own, ten times a second at most: NVML's calls take the driver's lock, and so never come from the
// thread that trains. An error that goes on is told of when it has come twice as often.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "runner/cuda/clock_samples.h"
#include "runner/cuda/clocks.h"

namespace llmb::runner::cuda {

// Lines, with their newlines; called on the meter's thread.
using EventSink = std::function<void(const std::string&)>;

class DeviceMeter {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPeriod{100};

  // The rank is named in each line that tells of an error. The first reading is taken here.
  DeviceMeter(const std::string& pci_address, int rank, EventSink tell,
              const LibraryPlaces& places = usual_library_places(),
              std::chrono::milliseconds period = kPeriod);
  // Tells what came since the last reading.
  ~DeviceMeter();
  DeviceMeter(const DeviceMeter&) = delete;
  DeviceMeter& operator=(const DeviceMeter&) = delete;

  // Since the last call; asks nobody, and waits for a copy of a few numbers at most.
  DeviceUse take();
  // Why NVML tells nothing; empty where it does.
  const std::string& why_nothing() const { return reader_.why_nothing(); }
  // Why it tells no power and no energy; empty where it does, or tells nothing at all.
  const std::string& why_no_energy() const { return reader_.why_no_energy(); }

 private:
  void run();
  void read();

  ClockReader reader_;
  const std::string pci_address_;
  const int rank_;
  const EventSink tell_;
  const std::chrono::milliseconds period_;
  std::optional<std::int64_t> ecc_errors_at_begin_;
  std::int64_t ecc_errors_told_ = 0;
  std::map<std::uint64_t, std::int64_t> xid_counts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  ClockSamples samples_;
  bool is_ending_ = false;
  std::thread thread_;
};

// The lines, in words that llmb-report's classes of failures know, and with the rank where it looks
// for it.
std::string xid_line(int rank, const std::string& pci_address, std::uint64_t xid,
                     std::int64_t count);
std::string ecc_line(int rank, const std::string& pci_address, std::int64_t errors);

}  // namespace llmb::runner::cuda
