// BlockRunner: runs the threads of one block of a kernel as fibers of the calling thread, so that
// barriers and warp exchanges mean what they mean on a GPU. Lanes go in an order that a seed
// decides. It finds barriers that not all lanes reach; it knows nothing of speed, of memory order
// between blocks, or of tensor cores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runner/simt/thread_index.h"

namespace llmb::runner::simt {

inline constexpr int kWarpSize = 32;

// A kernel that breaks CUDA's rules: which kernel, block, lanes and line, and what they did.
class KernelFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Where lanes wait for each other. Sites are told apart by file and line.
struct Site {
  const char* file = "";
  int line = 0;
  bool operator==(const Site&) const = default;
};

// What a lane last did that orders memory: barriers of the block, and those of its warp.
struct Clock {
  std::int32_t lane = -1;
  std::uint32_t block_barriers = 0;
  std::uint32_t warp_barriers = 0;
};

// One per thread of the process, made when it first launches a kernel. Stacks and fibers are kept
// from launch to launch.
class BlockRunner {
 public:
  static BlockRunner& of_this_thread();
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  using Body = void (*)(const void* kernel);

  // Runs all blocks of a grid, one after the other, in a seeded order. `name` is for messages.
  // Throws KernelFault; whatever memory the kernel wrote stays as it is.
  void run(const std::string& name, Dim3 grid, int threads, std::size_t shared_bytes, Body body,
           const void* kernel);

  // What follows is called by lanes only, from inside a kernel.
  void block_barrier(Site site);
  void warp_barrier(Site site);
  // Leaves `bits` for the warp's other lanes and comes back when all 32 have done so.
  void exchange(Site site, std::uint64_t bits);
  std::uint64_t exchanged(int lane_of_warp) const;  // what that lane left
  [[noreturn]] void fault(const std::string& what) const;

  Clock clock() const;
  std::uint64_t block_serial() const { return block_serial_; }  // unique to each block that ran
  std::byte* dynamic_shared() { return dynamic_shared_.get(); }
  std::size_t dynamic_shared_bytes() const { return dynamic_shared_bytes_; }
  bool is_inside_a_kernel() const { return current_ >= 0; }

 private:
  struct Lane;

  BlockRunner();
  Lane& lane_at(int index) const;
  void run_block(int threads);
  void run_lanes_once(int threads);
  void release_block(int threads);
  void release_warp(int warp);
  bool release_waiting(int threads);
  void check_divergence(int threads) const;
  void abandon(int threads);
  void wait(int state, Site site);
  void switch_to(int lane);
  void lane_loop(int lane);
  void make_lanes(int count);
  void make_dynamic_shared(std::size_t bytes);
  void shuffle(std::vector<int>& order);
  std::string waiting_lanes(int threads, int state, Site site) const;

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<int> order_;
  int current_ = -1;
  std::string name_;
  Body body_ = nullptr;
  const void* kernel_ = nullptr;
  std::uint64_t block_serial_ = 0;
  std::uint64_t random_ = 1;
  std::uint32_t block_barriers_ = 0;
  bool is_abandoned_ = false;
  bool is_ending_ = false;
  std::unique_ptr<std::byte[]> dynamic_shared_;
  std::size_t dynamic_shared_bytes_ = 0;
  std::size_t dynamic_shared_capacity_ = 0;
};

// Which order lanes and blocks go in, for launches of the calling thread from now on.
void set_order_seed(std::uint64_t seed);
std::uint64_t order_seed();

}  // namespace llmb::runner::simt
