// How long the host's calls that end every step take between ranks over loopback TCP, and the
// processor time that all ranks have of one: a barrier, and a sum of two numbers. The ranks are
// threads, each with connections of its own; where they are more than the cores, processor time is
// what counts. Prints; is no test.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <span>
#include <thread>
#include <vector>

#include "runner/parallel/descriptor_limit.h"
#include "runner/parallel/socket_communicator.h"
#include "tests/bench/processor_time.h"

namespace llmb::runner {
namespace {

constexpr int kCalls = 200;

template <typename Call>
void measure(Communicator& ranks, const char* name, const Call& call) {
  ranks.barrier("bench.begin");
  const double began_s = bench::processor_s(RUSAGE_SELF);
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  ranks.barrier("bench.end");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  if (ranks.rank() != 0) return;
  std::printf("%4d ranks, %-10s: %9.3f ms, %9.3f ms of processor time of all ranks\n", ranks.size(),
              name, took.count() * 1e3 / kCalls,
              (bench::processor_s(RUSAGE_SELF) - began_s) * 1e3 / kCalls);
}

void run_rank(int rank, int size, std::promise<int>& listening, std::shared_future<int> port) {
  RendezvousOptions options;
  options.on_listening = [&](int chosen) { listening.set_value(chosen); };
  ProcessPlace place{rank, size, rank, "127.0.0.1", 0};
  if (rank != 0) place.master_port = port.get();
  const std::unique_ptr<World> world = make_socket_world(place, options);
  const std::unique_ptr<Communicator> ranks = world->make_group_of_all("world");
  std::vector<double> numbers(2, rank);
  measure(*ranks, "barrier", [&] { ranks->barrier("bench.barrier"); });
  measure(*ranks, "all_reduce", [&] { ranks->all_reduce(numbers, ReduceOp::max, "bench.max"); });
}

void measure_ranks(int size) {
  std::promise<int> listening;
  const std::shared_future<int> port = listening.get_future().share();
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] { run_rank(rank, size, listening, port); });
  }
}

}  // namespace
}  // namespace llmb::runner

int main(int argc, char** argv) {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  std::vector<int> sizes = {2, 4, 8, 16, 64};
  if (argc > 1) sizes.clear();
  for (const char* size : arguments.subspan(1)) sizes.push_back(std::atoi(size));
  // Both ends of each connection are in this process.
  for (const int size : sizes) {
    llmb::runner::allow_sockets_of(size * size);
    llmb::runner::measure_ranks(size);
  }
}
