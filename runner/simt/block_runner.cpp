#include "runner/simt/block_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstring>
#include <exception>
#include <numeric>
#include <utility>

#include "runner/simt/thread_index.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace llmb::runner::simt {
namespace {

constexpr std::size_t kStackBytes = 65536;
constexpr int kThreadsMax = 1024;
constexpr std::size_t kSharedBytesMax = 232448;  // of a block, on sm_90 and sm_100
// Shared memory begins as nobody wrote it: as bytes that make NaNs of floats.
constexpr int kPoison = 0xff;

enum State : int { ready, at_block_barrier, at_warp_barrier, at_exchange, ended };

const char* const kStateNames[] = {"running", "at __syncthreads", "at __syncwarp",
                                   "at a warp exchange", "ended"};

thread_local std::uint64_t seed_of_thread = 1;

// Thrown through a lane whose block has failed, to give its stack back.
struct Abandoned {};

// Tells AddressSanitizer which stack runs.
struct StackNote {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  void* fake = nullptr;

  void leave_for([[maybe_unused]] const StackNote& next) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fake, next.bottom, next.bytes);
#endif
  }
  void arrive([[maybe_unused]] StackNote* from) {
#if defined(__SANITIZE_ADDRESS__)
    const void* bottom_before = nullptr;
    std::size_t bytes_before = 0;
    __sanitizer_finish_switch_fiber(fake, &bottom_before, &bytes_before);
    if (from) *from = {bottom_before, bytes_before, from->fake};
#endif
  }
};

thread_local StackNote scheduler_note;

// A stack with a guard page, whose bounds are kept.
struct NotedStack {
  StackNote* note;
  boost::context::protected_fixedsize_stack stack{kStackBytes};

  boost::context::stack_context allocate() {
    boost::context::stack_context context = stack.allocate();
    note->bytes = context.size;
    note->bottom = static_cast<char*>(context.sp) - context.size;
    return context;
  }
  // A fiber ends in frames that never return, which would stay forbidden to whoever gets the pages
  // next: the thread-local memory of a new thread, say.
  void deallocate(boost::context::stack_context& context) noexcept {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(static_cast<char*>(context.sp) - context.size, context.size);
#endif
    stack.deallocate(context);
  }
};

std::string text_of(Site site) {
  return fmt::format("{}:{}", site.file, site.line);
}

}  // namespace

void set_order_seed(std::uint64_t seed) {
  seed_of_thread = seed;
}

std::uint64_t order_seed() {
  return seed_of_thread;
}

struct BlockRunner::Lane {
  boost::context::fiber fiber;      // suspended lane, seen from the scheduler
  boost::context::fiber scheduler;  // and the other way round
  StackNote note;
  int state = ended;
  Site site;
  std::uint32_t warp_barriers = 0;
  // An exchange writes one of two places in turn: nobody can be two exchanges ahead of a reader.
  std::uint64_t exchanged[2] = {0, 0};
  int exchange_turn = 0;
  std::exception_ptr error;
};

BlockRunner::BlockRunner() = default;

BlockRunner::Lane& BlockRunner::lane_at(int index) const {
  return *lanes_[static_cast<std::size_t>(index)];
}

BlockRunner& BlockRunner::of_this_thread() {
  static thread_local BlockRunner runner;
  return runner;
}

BlockRunner::~BlockRunner() {
  is_ending_ = true;
  for (int i = 0; i < static_cast<int>(lanes_.size()); ++i) switch_to(i);
}

void BlockRunner::lane_loop(int index) {
  Lane& lane = lane_at(index);
  while (!is_ending_) {
    try {
      body_(kernel_);
    } catch (const Abandoned&) {
    } catch (...) {
      lane.error = std::current_exception();
    }
    lane.state = ended;
    lane.note.leave_for(scheduler_note);
    lane.scheduler = std::move(lane.scheduler).resume();
    lane.note.arrive(&scheduler_note);
  }
}

void BlockRunner::make_lanes(int count) {
  while (static_cast<int>(lanes_.size()) < count) {
    const int index = static_cast<int>(lanes_.size());
    lanes_.push_back(std::make_unique<Lane>());
    Lane& lane = *lanes_.back();
    lane.fiber = boost::context::fiber(std::allocator_arg, NotedStack{&lane.note},
                                       [this, index](boost::context::fiber&& scheduler) {
                                         Lane& self = lane_at(index);
                                         self.note.arrive(&scheduler_note);
                                         self.scheduler = std::move(scheduler);
                                         lane_loop(index);
#if defined(__SANITIZE_ADDRESS__)
                                         __sanitizer_start_switch_fiber(
                                             nullptr, scheduler_note.bottom, scheduler_note.bytes);
#endif
                                         return std::move(self.scheduler);
                                       });
  }
}

void BlockRunner::switch_to(int index) {
  Lane& lane = lane_at(index);
  current_ = index;
  threadIdx = {static_cast<unsigned>(index), 0, 0};
  scheduler_note.leave_for(lane.note);
  lane.fiber = std::move(lane.fiber).resume();
  scheduler_note.arrive(nullptr);
  current_ = -1;
}

void BlockRunner::wait(int state, Site site) {
  Lane& lane = lane_at(current_);
  lane.state = state;
  lane.site = site;
  lane.note.leave_for(scheduler_note);
  lane.scheduler = std::move(lane.scheduler).resume();
  lane.note.arrive(&scheduler_note);
  if (is_abandoned_) throw Abandoned{};
}

void BlockRunner::block_barrier(Site site) {
  wait(at_block_barrier, site);
}

void BlockRunner::warp_barrier(Site site) {
  wait(at_warp_barrier, site);
}

void BlockRunner::exchange(Site site, std::uint64_t bits) {
  Lane& lane = lane_at(current_);
  lane.exchange_turn ^= 1;
  lane.exchanged[lane.exchange_turn] = bits;
  wait(at_exchange, site);
}

std::uint64_t BlockRunner::exchanged(int lane_of_warp) const {
  const int turn = lane_at(current_).exchange_turn;
  const int first = current_ / kWarpSize * kWarpSize;
  return lane_at(first + lane_of_warp).exchanged[turn];
}

Clock BlockRunner::clock() const {
  return {current_, block_barriers_, lane_at(current_).warp_barriers};
}

void BlockRunner::fault(const std::string& what) const {
  throw KernelFault(
      fmt::format("{}, block ({}, {}, {}): {}", name_, blockIdx.x, blockIdx.y, blockIdx.z, what));
}

void BlockRunner::shuffle(std::vector<int>& order) {
  for (std::size_t i = order.size(); i > 1; --i) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    std::swap(order[i - 1], order[random_ % i]);
  }
}

void BlockRunner::run_lanes_once(int threads) {
  order_.resize(static_cast<std::size_t>(threads));
  std::iota(order_.begin(), order_.end(), 0);
  shuffle(order_);
  for (const int index : order_) {
    if (lane_at(index).state != ready) continue;
    switch_to(index);
    if (const auto error = std::exchange(lane_at(index).error, nullptr)) {
      std::rethrow_exception(error);
    }
  }
}

void BlockRunner::release_warp(int warp) {
  Lane& first = lane_at(warp * kWarpSize);
  if (first.state != at_warp_barrier && first.state != at_exchange) return;
  for (int i = 0; i < kWarpSize; ++i) {
    const Lane& lane = lane_at(warp * kWarpSize + i);
    if (lane.state != first.state || lane.site != first.site) return;
  }
  const bool orders_memory = first.state == at_warp_barrier;
  for (int i = 0; i < kWarpSize; ++i) {
    Lane& lane = lane_at(warp * kWarpSize + i);
    lane.warp_barriers += orders_memory ? 1 : 0;
    lane.state = ready;
  }
}

void BlockRunner::release_block(int threads) {
  const Lane& first = *lanes_[0];
  for (int i = 0; i < threads; ++i) {
    const Lane& lane = lane_at(i);
    if (lane.state != at_block_barrier || lane.site != first.site) return;
  }
  ++block_barriers_;
  for (int i = 0; i < threads; ++i) lane_at(i).state = ready;
}

// False where every lane has ended.
bool BlockRunner::release_waiting(int threads) {
  const auto in_state = [&](int state) {
    return std::count_if(lanes_.begin(), lanes_.begin() + threads,
                         [&](const auto& lane) { return lane->state == state; });
  };
  if (in_state(ended) == threads) return false;
  for (int warp = 0; warp < threads / kWarpSize; ++warp) release_warp(warp);
  release_block(threads);
  if (in_state(ready) == 0) check_divergence(threads);
  return true;
}

std::string BlockRunner::waiting_lanes(int threads, int state, Site site) const {
  std::string text;
  int count = 0;
  for (int i = 0; i < threads; ++i) {
    const Lane& lane = lane_at(i);
    if (lane.state != state || (state != ended && lane.site != site)) continue;
    if (++count <= 4) text += fmt::format("{}{}", text.empty() ? "" : ", ", i);
  }
  const std::string more = count > 4 ? ", …" : "";
  return fmt::format("{}{}{}{})", count, count == 1 ? " lane (" : " lanes (", text, more);
}

// Nobody can go on: says who waits where.
void BlockRunner::check_divergence(int threads) const {
  std::string text = "divergent barrier: ";
  std::vector<std::pair<int, Site>> told;
  for (int i = 0; i < threads; ++i) {
    const Lane& lane = lane_at(i);
    const std::pair<int, Site> place{lane.state, lane.state == ended ? Site{} : lane.site};
    if (std::find(told.begin(), told.end(), place) != told.end()) continue;
    told.push_back(place);
    text += (told.size() > 1 ? "; " : "") + waiting_lanes(threads, lane.state, lane.site) + " " +
            kStateNames[lane.state];
    if (lane.state != ended) text += " in " + text_of(lane.site);
  }
  fault(text);
}

// Unwinds every lane that is still inside the kernel.
void BlockRunner::abandon(int threads) {
  is_abandoned_ = true;
  for (int i = 0; i < threads; ++i) {
    Lane& lane = lane_at(i);
    // One that never began would begin now.
    const bool is_inside = lane.state != ended && lane.site.line != 0;
    if (is_inside) switch_to(i);
    lane.state = ended;
    lane.error = nullptr;
  }
  is_abandoned_ = false;
}

void BlockRunner::run_block(int threads) {
  ++block_serial_;
  block_barriers_ = 0;
  if (dynamic_shared_bytes_ > 0) {
    std::memset(dynamic_shared_.get(), kPoison, dynamic_shared_bytes_);
  }
  for (int i = 0; i < threads; ++i) {
    Lane& lane = lane_at(i);
    lane.state = ready;
    lane.site = {};
    lane.warp_barriers = 0;
    lane.exchange_turn = 0;
  }
  try {
    do run_lanes_once(threads);
    while (release_waiting(threads));
  } catch (...) {
    const auto error = std::current_exception();
    abandon(threads);
    std::rethrow_exception(error);
  }
}

void BlockRunner::make_dynamic_shared(std::size_t bytes) {
  dynamic_shared_bytes_ = bytes;
  if (bytes <= dynamic_shared_capacity_) return;
  dynamic_shared_ = std::make_unique<std::byte[]>(bytes);
  dynamic_shared_capacity_ = bytes;
}

void BlockRunner::run(const std::string& name, Dim3 grid, int threads, std::size_t shared_bytes,
                      Body body, const void* kernel) {
  if (is_inside_a_kernel()) fault("a kernel launches another one");
  name_ = name;
  gridDim = grid;
  blockDim = {static_cast<unsigned>(threads), 1, 1};
  blockIdx = {0, 0, 0};
  if (threads <= 0 || threads > kThreadsMax || threads % kWarpSize != 0) {
    fault(fmt::format("{} threads a block: needs whole warps, 1024 threads at most", threads));
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535) {
    fault("a grid that CUDA refuses: an axis is 0, or y or z above 65535");
  }
  if (shared_bytes > kSharedBytesMax) {
    fault(fmt::format("{} bytes of shared memory: 232448 at most", shared_bytes));
  }
  make_lanes(threads);
  make_dynamic_shared(shared_bytes);
  body_ = body;
  kernel_ = kernel;
  random_ = (seed_of_thread + 1) * 0x9e3779b97f4a7c15ULL;
  std::vector<int> blocks(std::size_t{grid.x} * grid.y * grid.z);
  std::iota(blocks.begin(), blocks.end(), 0);
  shuffle(blocks);
  for (const int block : blocks) {
    const auto index = static_cast<unsigned>(block);
    blockIdx = {index % grid.x, index / grid.x % grid.y, index / grid.x / grid.y};
    run_block(threads);
  }
}

}  // namespace llmb::runner::simt
