// Streams and events by CUDA's runtime.
#include <cuda_runtime_api.h>

#include <stdexcept>

#include "runner/cuda/failure_board.h"
#include "runner/cuda/runtime_status.h"
#include "runner/cuda/stream.h"

namespace llmb::runner::cuda {

OwnedStream::OwnedStream(StreamPriority priority) {
  int lowest = 0;
  int highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "ask for the streams' priorities");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                     priority == StreamPriority::high ? highest : lowest),
        "make a stream");
}

OwnedStream::~OwnedStream() {
  cudaStreamDestroy(stream_);
}

void synchronize(Stream stream) {
  const cudaError_t status = cudaStreamSynchronize(stream);
  throw_posted_failure();
  check(status, "wait for a stream");
}

struct Event::State {
  bool has_timing = false;
  bool is_recorded = false;
  cudaEvent_t event = nullptr;
};

Event::Event(Timing timing) : state_(new State{timing == Timing::with, false, nullptr}) {
  const unsigned flags = timing == Timing::with ? cudaEventDefault : cudaEventDisableTiming;
  try {
    check(cudaEventCreateWithFlags(&state_->event, flags), "make an event");
  } catch (...) {
    delete state_;
    throw;
  }
}

Event::~Event() {
  cudaEventDestroy(state_->event);
  delete state_;
}

void Event::record(Stream stream) {
  check(cudaEventRecord(state_->event, stream), "record an event");
  state_->is_recorded = true;
}

void Event::wait_on(Stream stream) const {
  if (!state_->is_recorded) return;
  check(cudaStreamWaitEvent(stream, state_->event, 0), "let a stream wait for an event");
}

void Event::synchronize() const {
  if (!state_->is_recorded) return;
  const cudaError_t status = cudaEventSynchronize(state_->event);
  throw_posted_failure();
  check(status, "wait for an event");
}

bool Event::is_done() const {
  if (!state_->is_recorded) return true;
  const cudaError_t status = cudaEventQuery(state_->event);
  if (status == cudaErrorNotReady) return false;
  throw_posted_failure();
  check(status, "look at an event");
  return true;
}

double Event::seconds_between(const Event& first, const Event& last) {
  const bool both_timed = first.state_->has_timing && last.state_->has_timing;
  if (!both_timed || !first.state_->is_recorded || !last.state_->is_recorded || !first.is_done() ||
      !last.is_done()) {
    throw std::logic_error("Times are taken between events with timing that have been reached.");
  }
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, first.state_->event, last.state_->event),
        "take the time between two events");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace llmb::runner::cuda
