#include "runner/cuda/host_staging.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace llmb::runner::cuda {
namespace {

constexpr std::size_t kAlignment = 256;

}  // namespace

void HostStaging::forget_oldest() {
  Copy& oldest = copies_.front();
  if (!oldest.copied->is_done()) oldest.copied->synchronize();
  events_.push_back(std::move(oldest.copied));
  copies_.pop_front();
}

std::size_t HostStaging::make_room(std::size_t bytes) {
  if (bytes > ring_.bytes()) {
    while (!copies_.empty()) forget_oldest();
    ring_ = PinnedMemory(std::max(bytes, 2 * ring_.bytes()));
    next_ = 0;
  }
  const std::size_t begin = next_ + bytes > ring_.bytes() ? 0 : next_;
  const auto is_there = [&](const Copy& copy) {
    return copy.begin < begin + bytes && begin < copy.end;
  };
  while (std::any_of(copies_.begin(), copies_.end(), is_there)) forget_oldest();
  return begin;
}

void HostStaging::write(const void* host, void* to, std::size_t bytes, Stream stream) {
  if (bytes == 0) return;
  const std::size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  Copy copy;
  copy.begin = make_room(size);
  copy.end = copy.begin + size;
  if (events_.empty()) {
    copy.copied = std::make_unique<Event>();
  } else {
    copy.copied = std::move(events_.back());
    events_.pop_back();
  }
  std::memcpy(ring_.data() + copy.begin, host, bytes);
  copy_async(to, ring_.data() + copy.begin, bytes, CopyDirection::to_device, stream);
  copy.copied->record(stream);
  next_ = copy.end;
  copies_.push_back(std::move(copy));
}

}  // namespace llmb::runner::cuda
