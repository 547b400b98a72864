#include "runner/cuda/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include "runner/cuda/device_error.h"
#include "runner/cuda/failure_board.h"
#include "runner/cuda/runtime_status.h"
#include "runner/cuda/vendor_functions.h"

namespace llmb::runner::cuda {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};
// Calls of a non-blocking communicator come back at once.
constexpr std::chrono::seconds kUseEndsWithin{5};

bool is_captured(Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
         status != cudaStreamCaptureStatusNone;
}

}  // namespace

WatchedCommunicator::WatchedCommunicator(ncclComm_t comm, std::string group, int device,
                                         std::chrono::milliseconds patience,
                                         std::function<std::string()> who_is_gone)
    : comm_(comm),
      group_(std::move(group)),
      device_(device),
      patience_(patience),
      who_is_gone_(std::move(who_is_gone)) {}

WatchedCommunicator::~WatchedCommunicator() {
  for (const Call& call : calls_) {
    cudaEventDestroy(call.begun);
    cudaEventDestroy(call.ended);
  }
  for (cudaEvent_t event : spare_events_) cudaEventDestroy(event);
}

cudaEvent_t WatchedCommunicator::take_event() {
  if (spare_events_.empty()) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "make an event");
    return event;
  }
  cudaEvent_t event = spare_events_.back();
  spare_events_.pop_back();
  return event;
}

void WatchedCommunicator::begin_call(Stream stream, const std::string& what) {
  if (is_captured(stream)) return watch_launches(shared_from_this());
  const std::lock_guard lock(mutex_);
  Call& call = open_[stream];
  call = {what, take_event(), take_event(), {}};
  check(cudaEventRecord(call.begun, stream), "record an event");
}

void WatchedCommunicator::end_call(Stream stream) {
  if (is_captured(stream)) return;
  const std::lock_guard lock(mutex_);
  const auto call = open_.find(stream);
  if (call == open_.end()) return;
  check(cudaEventRecord(call->second.ended, stream), "record an event");
  calls_.push_back(std::move(call->second));
  open_.erase(call);
}

void WatchedCommunicator::begin_launch(Stream stream) {
  begin_call(stream, "a graph that has calls in " + group());
}

std::string WatchedCommunicator::group() const {
  const std::lock_guard lock(mutex_);
  return group_;
}

void WatchedCommunicator::set_group(const std::string& group) {
  const std::lock_guard lock(mutex_);
  group_ = group;
}

void WatchedCommunicator::throw_if_ended() const {
  if (is_ended_) throw CommunicatorFailed(group_, failure_);
}

WatchedCommunicator::Use WatchedCommunicator::use() {
  Use held(using_);
  const std::lock_guard lock(mutex_);
  throw_if_ended();
  return held;
}

ncclComm_t* WatchedCommunicator::begin_split() {
  const std::lock_guard lock(mutex_);
  if (split_) throw std::logic_error("An earlier split of " + group_ + " has not ended.");
  return &split_.emplace(nullptr);
}

ncclComm_t WatchedCommunicator::end_split() {
  const std::lock_guard lock(mutex_);
  throw_if_ended();
  const ncclComm_t made = split_.value();
  split_.reset();
  return made;
}

ncclResult_t WatchedCommunicator::state() const {
  const std::lock_guard lock(mutex_);
  throw_if_ended();
  ncclResult_t state = ncclSuccess;
  check(nccl().ncclCommGetAsyncError(comm_, &state), "look at " + group_);
  return state;
}

std::string WatchedCommunicator::look() {
  const std::lock_guard lock(mutex_);
  if (is_ended_) return "";
  if (std::string gone = who_is_gone_ ? who_is_gone_() : ""; !gone.empty()) return gone;
  cudaSetDevice(device_);
  ncclResult_t state = ncclSuccess;
  nccl().ncclCommGetAsyncError(comm_, &state);
  if (state != ncclSuccess && state != ncclInProgress) {
    // A call that is under way meets it too, and knows what was tried: it comes first.
    if (!open_.empty() && !std::exchange(has_seen_error_, true)) return "";
    return fmt::format("NCCL: {}", nccl().ncclGetErrorString(state));
  }
  while (!calls_.empty() && cudaEventQuery(calls_.front().ended) == cudaSuccess) {
    spare_events_.push_back(calls_.front().begun);
    spare_events_.push_back(calls_.front().ended);
    calls_.pop_front();
  }
  if (calls_.empty() || cudaEventQuery(calls_.front().begun) != cudaSuccess) return "";
  Call& call = calls_.front();
  const auto now = std::chrono::steady_clock::now();
  if (call.running_since == std::chrono::steady_clock::time_point{}) call.running_since = now;
  const auto waited = now - call.running_since;
  if (waited < patience_) return "";
  return fmt::format("waited {:.1f} s for {}", std::chrono::duration<double>(waited).count(),
                     call.what);
}

bool WatchedCommunicator::mark_ended(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (is_ended_) return false;
  is_ended_ = true;
  failure_ = reason;
  const std::string gone = who_is_gone_ ? who_is_gone_() : "";
  const bool is_said = gone.empty() || reason.find(gone) != std::string::npos;
  if (!is_said) failure_ += "; " + gone;
  post_failure(group_, failure_);
  return true;
}

void WatchedCommunicator::abort() {
  // Who does not come back from NCCL is ended by the abort.
  const Use last(using_, kUseEndsWithin);
  cudaSetDevice(device_);
  nccl().ncclCommAbort(comm_);
  // Nobody writes there any more.
  if (const ncclComm_t part = split_.value_or(nullptr)) nccl().ncclCommAbort(part);
}

bool WatchedCommunicator::has_open_split() const {
  const std::lock_guard lock(mutex_);
  return split_.has_value();
}

void WatchedCommunicator::destroy() {
  {
    const std::lock_guard lock(mutex_);
    if (is_ended_) return;
    is_ended_ = true;
    failure_ = "closed by its owner";
  }
  nccl().ncclCommDestroy(comm_);
}

Watchdog& Watchdog::of_this_process() {
  static Watchdog one;
  return one;
}

Watchdog::Watchdog() : thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::watch(const std::shared_ptr<WatchedCommunicator>& communicator) {
  const std::lock_guard lock(mutex_);
  if (communicators_.empty()) clear_failure();
  communicators_.push_back(communicator);
}

void Watchdog::close(const std::shared_ptr<WatchedCommunicator>& communicator,
                     const std::string& failure) {
  if (!failure.empty()) {
    end_all(communicator->group(), failure);
  } else if (communicator->has_open_split()) {
    end_all(communicator->group(), "a split of it has not ended");
  } else {
    communicator->destroy();
  }
  const std::lock_guard lock(mutex_);
  std::erase(communicators_, communicator);
}

void Watchdog::end_all(const std::string& group, const std::string& reason) {
  Communicators standing;
  {
    const std::lock_guard lock(mutex_);
    standing = communicators_;
  }
  // What is posted is the failure of the group that it happened in.
  std::stable_partition(standing.begin(), standing.end(),
                        [&](const auto& one) { return one->group() == group; });
  const std::string of_another = fmt::format("{}: {}", group, reason);
  std::atomic<std::size_t> left = standing.size();
  // From here on: a call of CUDA's that hangs keeps a communicator from being marked, too.
  const std::jthread countdown([&, resort = last_resort()](const std::stop_token& over) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    never.wait_for(lock, over, resort.after, [] { return false; });
    if (over.stop_requested()) return;
    const std::chrono::duration<double> waited = resort.after;
    resort.act(fmt::format("NCCL has not ended {} of {} communicators within {:.1f} s, for {}",
                           left.load(), standing.size(), waited.count(), of_another));
  });
  Communicators ended;
  for (const auto& one : standing) {
    if (one->mark_ended(one->group() == group ? reason : of_another)) {
      ended.push_back(one);
    } else {
      --left;
    }
  }
  std::vector<std::jthread> aborts;
  for (const auto& one : ended) {
    aborts.emplace_back([&left, one] {
      one->abort();
      --left;
    });
  }
}

Watchdog::LastResort Watchdog::last_resort() {
  const std::lock_guard lock(mutex_);
  return last_resort_;
}

void Watchdog::end_process(const std::string& what) {
  fmt::print(stderr, "llmb-step-runner: {}; this process ends without\n", what);
  std::_Exit(kExitStuck);
}

void Watchdog::set_last_resort(LastResort last_resort) {
  const std::lock_guard lock(mutex_);
  last_resort_ = std::move(last_resort);
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLookEvery, [this] { return is_ending_; })) {
    const Communicators standing = communicators_;
    lock.unlock();
    for (const auto& communicator : standing) {
      const std::string trouble = communicator->look();
      if (!trouble.empty()) end_all(communicator->group(), trouble);
    }
    lock.lock();
  }
}

}  // namespace llmb::runner::cuda
