// DeviceProfile: which operations a rank's stream spent its time in, while a profile is taken, by
// the device's own clock: what cpu/op_profile.h is for the CPU. An OpRange stands in each operation
// for as long as it is put on the stream; outer profilers see it as a range of that name.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "runner/cpu/op_profile.h"
#include "runner/cuda/stream.h"

namespace llmb::runner::cuda {

class DeviceProfile {
 public:
  // Forgets what was before; waits for the stream, as end() does.
  void begin(Stream stream);
  cpu::OpTable end(Stream stream);

  // Of the operation that is being put on the stream; nothing where it is not counted.
  void add_work(const cpu::OpWork& work);
  bool is_counting() const { return is_inside_; }

 private:
  friend class OpRange;
  friend class BesideRange;
  struct Place {
    const char* name;
    std::unique_ptr<Event> first;
    std::unique_ptr<Event> last;
    cpu::OpWork work;
    bool is_beside = false;
  };

  std::unique_ptr<Event> take_event();
  void keep(Place place);
  void count_front();

  bool is_taken_ = false;
  bool is_inside_ = false;  // an operation: one that it calls is part of it
  cpu::OpWork work_;        // its own
  std::deque<Place> under_way_;
  std::vector<std::unique_ptr<Event>> spare_;
  cpu::OpTable table_;
};

// `name` and `profile` outlive it.
class OpRange {
 public:
  OpRange(DeviceProfile& profile, const char* name, Stream stream);
  ~OpRange();
  OpRange(const OpRange&) = delete;
  OpRange& operator=(const OpRange&) = delete;

 private:
  DeviceProfile& profile_;
  const char* name_;
  Stream stream_;
  std::unique_ptr<Event> first_;  // where it is counted
};

// What is put on a stream beside the profile's own, as long as the range stands: messages, which
// have run before whatever the profile's stream is waited for. The time has the wait for the others
// in it.
class BesideRange {
 public:
  BesideRange(DeviceProfile& profile, const char* name, const cpu::OpWork& work, Stream stream);
  ~BesideRange();
  BesideRange(const BesideRange&) = delete;
  BesideRange& operator=(const BesideRange&) = delete;

 private:
  DeviceProfile& profile_;
  const char* name_;
  cpu::OpWork work_;
  Stream stream_;
  std::unique_ptr<Event> first_;  // where it is counted
};

}  // namespace llmb::runner::cuda
