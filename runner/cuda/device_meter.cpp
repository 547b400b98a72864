#include "runner/cuda/device_meter.h"

#include <fmt/format.h>

#include <utility>

namespace llmb::runner::cuda {
namespace {

double seconds_of(DeviceMeter::Clock::time_point at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

}  // namespace

std::string xid_line(int rank, const std::string& pci_address, std::uint64_t xid,
                     std::int64_t count) {
  return fmt::format(
      "[rank{}]: llmb-step-runner: the driver told of an error of its GPU: NVRM: Xid (PCI:{}): {} "
      "({} since the run began); dmesg of this node has its words\n",
      rank, pci_address, xid, count);
}

std::string ecc_line(int rank, const std::string& pci_address, std::int64_t errors) {
  return fmt::format(
      "[rank{}]: llmb-step-runner: uncorrectable ECC error of its GPU {} ({} since the run began): "
      "its numbers are not to be trusted; nvidia-smi -q -d ECC tells more\n",
      rank, pci_address, errors);
}

DeviceMeter::DeviceMeter(const std::string& pci_address, int rank, EventSink tell,
                         const LibraryPlaces& places, std::chrono::milliseconds period)
    : reader_(pci_address, places),
      pci_address_(pci_address),
      rank_(rank),
      tell_(std::move(tell)),
      period_(period) {
  if (!reader_.why_nothing().empty()) return;
  read();
  thread_ = std::thread([this] { run(); });
}

DeviceMeter::~DeviceMeter() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  if (!thread_.joinable()) return;
  thread_.join();
  read();
}

DeviceUse DeviceMeter::take() {
  const std::lock_guard lock(mutex_);
  return samples_.take(seconds_of(Clock::now()));
}

void DeviceMeter::run() {
  std::unique_lock lock(mutex_);
  // A wait after each reading: one that takes long is not made up for.
  while (!changed_.wait_for(lock, period_, [this] { return is_ending_; })) {
    lock.unlock();
    read();
    lock.lock();
  }
}

void DeviceMeter::read() {
  const ClockReading reading = reader_.read();
  const double at_s = seconds_of(Clock::now());
  for (const std::uint64_t xid : reader_.take_xid_errors()) {
    const std::int64_t count = ++xid_counts_[xid];
    if ((count & (count - 1)) == 0) tell_(xid_line(rank_, pci_address_, xid, count));
  }
  if (const auto errors = reading.ecc_errors_uncorrected) {
    // Those of earlier runs count since the driver was loaded, and are not this run's.
    if (!ecc_errors_at_begin_) ecc_errors_at_begin_ = errors;
    const std::int64_t since = *errors - *ecc_errors_at_begin_;
    if (since > 0 && since >= 2 * ecc_errors_told_) {
      tell_(ecc_line(rank_, pci_address_, since));
      ecc_errors_told_ = since;
    }
  }
  const std::lock_guard lock(mutex_);
  samples_.add(reading, at_s);
}

}  // namespace llmb::runner::cuda
