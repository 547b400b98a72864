// What the double's parts know of each other: the streams that stand, the device of each thread,
// and what is allocated on each device. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <typeindex>
#include <vector>

#include "runner/cuda/host_stream.h"

namespace llmb::runner::cuda {

std::shared_ptr<HostStream> make_host_stream();
// Throws std::logic_error where there is no such stream.
std::shared_ptr<HostStream> host_stream(Stream stream);
void forget_host_stream(Stream stream);
std::vector<std::shared_ptr<HostStream>> host_streams_of(int device);

// Puts work on a stream; the null stream runs it at once, on this thread.
void put_on_stream(Stream stream, std::function<void()> work);
// The same for what makes numbers: kernels, products and copies, which a stream may drop.
void compute_on_stream(Stream stream, std::function<void()> work);

// The same for a launch of a kernel of that type.
void launch_on_stream(Stream stream, std::type_index kernel, std::function<void()> work);

// Waits for all streams of a device. Throws the first error.
void finish_streams_of(int device);

// The calling thread's device. Throws std::logic_error where it has chosen none.
int host_device();
void set_host_device(int device);

// Memory of a device: false where it has not so much left.
bool take_host_memory(int device, std::size_t bytes);
void give_back_host_memory(int device, std::size_t bytes);
std::int64_t taken_host_memory(int device);

// What stands on a device, and where. A place is on the calling thread's device, or CUDA's calls
// would refuse it, or read what is another's: throws std::logic_error unless all of `bytes` from
// `data` on are one allocation of that device. `what` is for the message: "copy to". No bytes are
// anywhere.
void note_allocation(const void* data, std::size_t bytes, int device);
void forget_allocation(const void* data);
void require_on_device(const void* data, std::size_t bytes, const char* what);

// Of the host's memory, what is pinned.
void note_pinned(const void* data, std::size_t bytes);
void forget_pinned(const void* data);
bool is_pinned(const void* data, std::size_t bytes);

}  // namespace llmb::runner::cuda
