#include "runner/cuda/device_profile.h"

#include <exception>
#include <utility>

#include "runner/cuda/profiler.h"

namespace llmb::runner::cuda {
namespace {

// Operations that the device may be behind before those it has done are counted.
constexpr std::size_t kUnderWayMax = 4096;

}  // namespace

void DeviceProfile::begin(Stream stream) {
  synchronize(stream);
  table_.clear();
  is_taken_ = true;
  start_profiler();
}

cpu::OpTable DeviceProfile::end(Stream stream) {
  synchronize(stream);
  stop_profiler();
  is_taken_ = false;
  while (!under_way_.empty()) count_front();
  spare_.clear();
  return std::exchange(table_, {});
}

std::unique_ptr<Event> DeviceProfile::take_event() {
  if (spare_.empty()) return std::make_unique<Event>(Event::Timing::with);
  std::unique_ptr<Event> event = std::move(spare_.back());
  spare_.pop_back();
  return event;
}

void DeviceProfile::keep(Place place) {
  under_way_.push_back(std::move(place));
  if (under_way_.size() < kUnderWayMax) return;
  while (!under_way_.empty() && under_way_.front().last->is_done()) count_front();
}

void DeviceProfile::add_work(const cpu::OpWork& work) {
  if (!is_inside_) return;
  work_.flops += work.flops;
  work_.bytes += work.bytes;
}

void DeviceProfile::count_front() {
  Place& place = under_way_.front();
  const auto found = table_.try_emplace(place.name).first;
  ++found->second.calls;
  found->second.time_s += Event::seconds_between(*place.first, *place.last);
  found->second.work.flops += place.work.flops;
  found->second.work.bytes += place.work.bytes;
  found->second.is_beside = place.is_beside;
  spare_.push_back(std::move(place.first));
  spare_.push_back(std::move(place.last));
  under_way_.pop_front();
}

OpRange::OpRange(DeviceProfile& profile, const char* name, Stream stream)
    : profile_(profile), name_(name), stream_(stream) {
  push_range(name);
  if (!profile.is_taken_ || profile.is_inside_) return;
  profile.is_inside_ = true;
  profile.work_ = {};
  first_ = profile.take_event();
  first_->record(stream);
}

OpRange::~OpRange() {
  pop_range();
  if (!first_) return;
  profile_.is_inside_ = false;
  try {
    std::unique_ptr<Event> last = profile_.take_event();
    last->record(stream_);
    profile_.keep({name_, std::move(first_), std::move(last), profile_.work_});
  } catch (const std::exception&) {
    // The device has failed: whoever waits for the stream next tells of it.
  }
}

BesideRange::BesideRange(DeviceProfile& profile, const char* name, const cpu::OpWork& work,
                         Stream stream)
    : profile_(profile), name_(name), work_(work), stream_(stream) {
  push_range(name);
  if (!profile.is_taken_) return;
  first_ = profile.take_event();
  first_->record(stream);
}

BesideRange::~BesideRange() {
  pop_range();
  if (!first_) return;
  try {
    std::unique_ptr<Event> last = profile_.take_event();
    last->record(stream_);
    profile_.keep({name_, std::move(first_), std::move(last), work_, true});
  } catch (const std::exception&) {
    // The stream has failed: whoever waits for it next tells of it.
  }
}

}  // namespace llmb::runner::cuda
