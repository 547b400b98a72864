// Streams and events of the calling thread's device. What is put on one stream runs in order; two
// streams know nothing of each other but through events. Nothing here waits on the host unless its
// name says so. Never the null stream: it would run beside all others.
#pragma once

#include "runner/kernels/stream.h"

namespace llmb::runner::cuda {

using kernels::Stream;

enum class StreamPriority { normal, high };

// Owns a stream. Destruction lets what was put on it run to its end.
class OwnedStream {
 public:
  explicit OwnedStream(StreamPriority priority = StreamPriority::normal);
  ~OwnedStream();
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;

  Stream get() const { return stream_; }
  // NOLINTNEXTLINE(google-explicit-constructor): passed wherever a stream is taken
  operator Stream() const { return stream_; }

 private:
  Stream stream_ = nullptr;
};

// Waits until everything that is on the stream now has run. Throws DeviceError for whatever went
// wrong there, and KernelFault over the shim.
void synchronize(Stream stream);

// A place in a stream's order, to wait for from other streams or the host, and to take times
// between.
class Event {
 public:
  enum class Timing { without, with };

  explicit Event(Timing timing = Timing::without);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // The event is now what is on the stream at this moment; an earlier place is forgotten.
  void record(Stream stream);
  // What is put on `stream` from now on runs after the recorded place. Never recorded: no wait.
  void wait_on(Stream stream) const;
  // The host waits.
  void synchronize() const;
  bool is_done() const;

  // Seconds of the device between two recorded places; both events have timing, and both have been
  // reached (synchronize).
  static double seconds_between(const Event& first, const Event& last);

 private:
  struct State;
  State* state_ = nullptr;
};

// `after` waits for what is on `before` now.
void order_streams(Stream before, Stream after);

}  // namespace llmb::runner::cuda
