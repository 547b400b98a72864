#include "runner/cuda/host_registry.h"

#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "runner/cuda/host_capture.h"
#include "runner/simt/grid_runner.h"

namespace llmb::runner::cuda {
namespace {

struct Allocation {
  std::size_t bytes = 0;
  int device = 0;
};
struct Registry {
  std::mutex mutex;
  HostDeviceOptions options;
  std::map<Stream, std::shared_ptr<HostStream>> streams;
  std::map<int, std::int64_t> taken_bytes;
  std::map<std::uintptr_t, Allocation> allocations;
  std::map<std::uintptr_t, std::size_t> pinned;      // pieces of the host's memory, and their bytes
  std::set<std::pair<int, std::type_index>> loaded;  // kernels, by device
};

Registry& registry() {
  static Registry everything;
  return everything;
}

thread_local int device_of_thread = -1;

bool is_to_be_loaded(int device, std::type_index kernel) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.options.loads_at_first_launch && all.loaded.emplace(device, kernel).second;
}

}  // namespace

void set_host_devices(const HostDeviceOptions& options) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (!all.streams.empty()) {
    throw std::logic_error("The double's devices change while streams of them stand.");
  }
  all.options = options;
  all.loaded.clear();
}

HostDeviceOptions host_devices() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.options;
}

std::shared_ptr<HostStream> make_host_stream() {
  simt::set_stream_executor(launch_on_stream);
  Registry& all = registry();
  const int device = host_device();
  auto stream = std::make_shared<HostStream>(device, host_devices().timing);
  const std::lock_guard lock(all.mutex);
  all.streams[stream->handle()] = stream;
  return stream;
}

std::shared_ptr<HostStream> host_stream(Stream stream) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.streams.find(stream);
  if (found == all.streams.end()) {
    throw std::logic_error("Something is put on a stream that is none, or none any more.");
  }
  return found->second;
}

void forget_host_stream(Stream stream) {
  std::shared_ptr<HostStream> last;  // ends outside the lock
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.streams.find(stream);
  if (found == all.streams.end()) return;
  last = std::move(found->second);
  all.streams.erase(found);
}

std::vector<std::shared_ptr<HostStream>> host_streams_of(int device) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<std::shared_ptr<HostStream>> streams;
  for (const auto& [handle, stream] : all.streams) {
    if (stream->device() == device) streams.push_back(stream);
  }
  return streams;
}

int host_device() {
  if (device_of_thread < 0) throw std::logic_error("This thread has not chosen a device.");
  return device_of_thread;
}

void set_host_device(int device) {
  device_of_thread = device;
}

bool take_host_memory(int device, std::size_t bytes) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const std::int64_t after = all.taken_bytes[device] + static_cast<std::int64_t>(bytes);
  if (after > all.options.memory_bytes) return false;
  all.taken_bytes[device] = after;
  return true;
}

void give_back_host_memory(int device, std::size_t bytes) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.taken_bytes[device] -= static_cast<std::int64_t>(bytes);
}

std::int64_t taken_host_memory(int device) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.taken_bytes[device];
}

void note_allocation(const void* data, std::size_t bytes, int device) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.allocations[reinterpret_cast<std::uintptr_t>(data)] = {bytes, device};
}

void forget_allocation(const void* data) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.allocations.erase(reinterpret_cast<std::uintptr_t>(data));
}

void require_on_device(const void* data, std::size_t bytes, const char* what) {
  if (bytes == 0) return;
  const auto place = reinterpret_cast<std::uintptr_t>(data);
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  auto next = all.allocations.upper_bound(place);
  if (next != all.allocations.begin()) {
    const auto& [begin, allocation] = *std::prev(next);
    const bool is_inside = place + bytes <= begin + allocation.bytes;
    if (is_inside && allocation.device == device_of_thread) return;
  }
  throw std::logic_error(std::string("A ") + what + ": its " + std::to_string(bytes) +
                         " bytes are not one piece of memory of the thread's device.");
}

void note_pinned(const void* data, std::size_t bytes) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.pinned[reinterpret_cast<std::uintptr_t>(data)] = bytes;
}

void forget_pinned(const void* data) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.pinned.erase(reinterpret_cast<std::uintptr_t>(data));
}

bool is_pinned(const void* data, std::size_t bytes) {
  const auto place = reinterpret_cast<std::uintptr_t>(data);
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto next = all.pinned.upper_bound(place);
  if (next == all.pinned.begin()) return false;
  const auto& [begin, size] = *std::prev(next);
  return place + bytes <= begin + size;
}

void put_on_stream(Stream stream, std::function<void()> work) {
  if (stream == nullptr) return work();
  if (const auto capture = HostCapture::of(stream)) {
    return capture->put(stream, {std::move(work), nullptr});
  }
  host_stream(stream)->put(std::move(work));
}

void compute_on_stream(Stream stream, std::function<void()> work) {
  if (!HostCapture::of(stream)) ++host_calls().launches;
  const bool drops_it = stream != nullptr && host_stream(stream)->drops_work();
  if (!drops_it) put_on_stream(stream, std::move(work));
}

void launch_on_stream(Stream stream, std::type_index kernel, std::function<void()> work) {
  if (stream != nullptr && is_to_be_loaded(host_stream(stream)->device(), kernel)) {
    finish_streams_of(host_stream(stream)->device());
  }
  compute_on_stream(stream, std::move(work));
}

void finish_streams_of(int device) {
  std::exception_ptr first;
  for (const auto& stream : host_streams_of(device)) {
    try {
      stream->finish(stream->last_ticket());
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace llmb::runner::cuda
