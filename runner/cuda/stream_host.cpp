// Streams and events of the double.
#include "runner/cuda/stream.h"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include "runner/cuda/host_capture.h"
#include "runner/cuda/host_registry.h"

namespace llmb::runner::cuda {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

OwnedStream::OwnedStream(StreamPriority) : stream_(make_host_stream()->handle()) {}

OwnedStream::~OwnedStream() {
  forget_host_stream(stream_);
}

void synchronize(Stream stream) {
  refuse_in_capture("wait for a stream");
  ++host_calls().waits;
  const auto host = host_stream(stream);
  host->finish(host->last_ticket());
}

// Of a stream's work, or of what was captured.
struct Event::State {
  explicit State(bool timed) : has_timing(timed) {}
  bool has_timing;
  std::shared_ptr<HostStream> stream;
  std::uint64_t ticket = 0;
  std::shared_ptr<Clock::time_point> reached;
  std::shared_ptr<HostCapture> capture;
  HostCapture::Before captured_before;
};

namespace {

// The host asks for an event.
template <typename State>
void require_recorded_outside(const State& state, const char* tried) {
  refuse_in_capture(tried);
  if (!state.capture) return;
  refuse_as_cuda(tried, "cudaErrorCapturedEvent",
                 "operation not permitted on an event last recorded in a capturing stream");
}

}  // namespace

Event::Event(Timing timing) : state_(new State(timing == Timing::with)) {}

Event::~Event() {
  delete state_;
}

void Event::record(Stream stream) {
  state_->capture = HostCapture::of(stream);
  if (state_->capture) {
    state_->captured_before = state_->capture->before_next(stream);
    return;
  }
  state_->stream = host_stream(stream);
  const auto reached = std::make_shared<Clock::time_point>();
  state_->reached = reached;
  state_->ticket = state_->stream->put([reached] { *reached = Clock::now(); });
}

void Event::wait_on(Stream stream) const {
  if (state_->capture) {
    if (state_->capture != HostCapture::of_thread()) {
      refuse_as_cuda("let a stream wait for an event", "cudaErrorCapturedEvent",
                     "operation not permitted on an event last recorded in a capturing stream");
    }
    return state_->capture->join(state_->captured_before, stream);
  }
  if (!state_->stream || state_->stream->handle() == stream) return;
  if (HostCapture::of(stream)) {
    refuse_as_cuda("let a stream wait for an event", "cudaErrorStreamCaptureIsolation",
                   "dependency created on uncaptured work in another stream");
  }
  put_on_stream(stream,
                [before = state_->stream, ticket = state_->ticket] { before->finish(ticket); });
}

void Event::synchronize() const {
  require_recorded_outside(*state_, "wait for an event");
  ++host_calls().waits;
  if (state_->stream) state_->stream->finish(state_->ticket);
}

bool Event::is_done() const {
  require_recorded_outside(*state_, "look at an event");
  if (!state_->stream) return true;
  state_->stream->let_run(state_->ticket);
  return state_->stream->has_run(state_->ticket);
}

double Event::seconds_between(const Event& first, const Event& last) {
  const bool both_timed = first.state_->has_timing && last.state_->has_timing;
  if (!both_timed || !first.is_done() || !last.is_done() || !first.state_->reached ||
      !last.state_->reached) {
    throw std::logic_error("Times are taken between events with timing that have been reached.");
  }
  return std::chrono::duration<double>(*last.state_->reached - *first.state_->reached).count();
}

}  // namespace llmb::runner::cuda
