// What tests tell the double: how many devices it has, how much memory, and when streams run what
// was put on them. Only programs that link the double have this.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace llmb::runner::cuda {

enum class HostTiming : std::uint8_t {
  // A stream runs its work as soon as it can, on a thread of its own.
  soon,
  // A stream runs nothing before somebody waits for it: the host, another stream's event, or a
  // member of a collective call. So what should have waited for it, and does not, reads memory
  // that was not written yet, each time.
  late,
  // A stream drops kernels, products and copies; events and collective calls take place. What is
  // read on the host is zero, and numbers mean nothing: to see what is allocated, and when, at
  // sizes that would take hours to compute.
  never,
};

struct HostDeviceOptions {
  int device_count = 8;
  std::int64_t memory_bytes = std::int64_t{16} << 30;  // of each
  HostTiming timing = HostTiming::soon;
  // What each algorithm of a matrix product is said to take, whatever the shape, the library's
  // suggestion first; 0: refused. None: there is one, and its time is measured.
  std::vector<double> product_times_s{};
  // What attention asks for beside what the own kernels need, as a library would.
  std::int64_t attention_workspace_bytes = 0;
  int driver_version = 12040;
  int compute_capability = 100;
  int device_without_graphs = -1;  // makes none of what was captured
  // The first launch of each kernel waits until all streams of its device have run, as CUDA's does
  // where it loads code at its first use: who has left an exchange there waits for its partner.
  bool loads_at_first_launch = false;
};

// For devices chosen and streams made from now on; there are none of either at this moment.
void set_host_devices(const HostDeviceOptions& options);
HostDeviceOptions host_devices();

// By which algorithms ("cpu 1") the products of each plan_key ran, on any device, since they were
// forgotten. One product that all ranks compute alike has one.
using HostProducts = std::map<std::string, std::set<std::string>>;
HostProducts host_products();
void forget_host_products();

// What the calling thread did that keeps a program from its device, since it began: waits for
// streams and events, and memory that it took or gave back, which waits for the whole device. And
// how often it gave a stream something to run: a kernel, product, copy, collective or graph.
struct HostCalls {
  std::int64_t waits = 0;
  std::int64_t allocations = 0;  // of device memory
  std::int64_t releases = 0;
  std::int64_t pinned = 0;  // pieces of the host's memory
  std::int64_t launches = 0;
};
HostCalls& host_calls();

// What the calling thread told the profiler (profiler.h).
struct HostProfiler {
  bool is_started = false;
  std::int64_t starts = 0;
  std::int64_t ranges = 0;  // begun while it was started
  std::int64_t open_ranges = 0;
};
HostProfiler host_profiler();

}  // namespace llmb::runner::cuda
