// Graph: work of a stream that was captured instead of run, and is then launched in one call, as
// often as is wanted: the same kernels, products, copies and collectives, with the same operands at
// the same places. What the host did meanwhile is no part of it. Thin over CUDA's calls.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "runner/kernels/stream.h"

namespace llmb::runner::cuda {

using kernels::Stream;

// May go while a launch of it is under way; before the communicators that it has calls of.
class Graph {
 public:
  Graph() = default;  // none: not to be launched
  // Puts it on the stream, in whose order all of it runs.
  void launch(Stream stream) const;
  // Kernels, products, copies and what else is an operation of the device.
  std::int64_t node_count() const;

 private:
  friend class GraphCapture;
  struct State;
  explicit Graph(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// From its making to end(), what this thread puts on the stream is captured, and so is what it puts
// on streams that wait for an event of it; these are waited for by the first one before the end.
// Waits and questions of this thread about streams and events, memory that it takes or gives back,
// and copies from or to memory of the host that is not pinned are refused with a DeviceError, after
// which the capture is of no use. Other threads go on. One a thread.
class GraphCapture {
 public:
  explicit GraphCapture(Stream stream);
  // Without end(): what was captured is dropped.
  ~GraphCapture();
  GraphCapture(const GraphCapture&) = delete;
  GraphCapture& operator=(const GraphCapture&) = delete;

  // Throws DeviceError where something was refused meanwhile, or a stream was not waited for.
  Graph end();

 private:
  Stream stream_;
  bool is_open_ = true;
};

// As long as one stands, the thread takes memory within its capture: for what lasts longer than
// that.
class TakesMemoryInCapture {
 public:
  TakesMemoryInCapture();
  ~TakesMemoryInCapture();
  TakesMemoryInCapture(const TakesMemoryInCapture&) = delete;
  TakesMemoryInCapture& operator=(const TakesMemoryInCapture&) = delete;

 private:
  int before_ = 0;  // how strict the thread's captures were
};

}  // namespace llmb::runner::cuda
