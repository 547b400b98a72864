// Streams and events of the double.
#include "runner/cuda/stream.h"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

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
  ++host_calls().waits;
  const auto host = host_stream(stream);
  host->finish(host->last_ticket());
}

bool is_done(Stream stream) {
  const auto host = host_stream(stream);
  host->let_run(host->last_ticket());
  return host->has_run(host->last_ticket());
}

struct Event::State {
  bool has_timing = false;
  std::shared_ptr<HostStream> stream;
  std::uint64_t ticket = 0;
  std::shared_ptr<Clock::time_point> reached;
};

Event::Event(Timing timing) : state_(new State{timing == Timing::with, nullptr, 0, nullptr}) {}

Event::~Event() {
  delete state_;
}

void Event::record(Stream stream) {
  state_->stream = host_stream(stream);
  const auto reached = std::make_shared<Clock::time_point>();
  state_->reached = reached;
  state_->ticket = state_->stream->put([reached] { *reached = Clock::now(); });
}

void Event::wait_on(Stream stream) const {
  if (!state_->stream || state_->stream->handle() == stream) return;
  put_on_stream(stream,
                [before = state_->stream, ticket = state_->ticket] { before->finish(ticket); });
}

void Event::synchronize() const {
  ++host_calls().waits;
  if (state_->stream) state_->stream->finish(state_->ticket);
}

bool Event::is_done() const {
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
