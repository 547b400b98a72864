// Graphs of the double: the captured work, run in the order in which it was captured, as one piece
// of a stream's work.
#include <utility>
#include <vector>

#include "runner/cuda/graph.h"
#include "runner/cuda/host_capture.h"
#include "runner/cuda/host_device.h"
#include "runner/cuda/host_registry.h"

namespace llmb::runner::cuda {

struct Graph::State {
  std::vector<HostCapture::Node> nodes;
};

void Graph::launch(Stream stream) const {
  if (const auto capture = HostCapture::of(stream)) {
    refuse_in_capture("launch a graph");  // CUDA would take it; nobody here nests graphs
  }
  ++host_calls().launches;
  const auto host = host_stream(stream);
  const std::uint64_t ticket = host->put([state = state_] {
    for (const HostCapture::Node& node : state->nodes) node.work();
  });
  for (const HostCapture::Node& node : state_->nodes) {
    if (node.announce) node.announce(host, ticket);
  }
}

std::int64_t Graph::node_count() const {
  return std::ssize(state_->nodes);
}

GraphCapture::GraphCapture(Stream stream) : stream_(stream) {
  host_stream(stream);  // stands
  HostCapture::begin(stream);
}

GraphCapture::~GraphCapture() {
  if (is_open_) HostCapture::drop();
}

Graph GraphCapture::end() {
  is_open_ = false;
  auto state = std::make_shared<Graph::State>(Graph::State{HostCapture::end()});
  if (host_device() == host_devices().device_without_graphs) {
    refuse_as_cuda("make a graph ready to launch", "cudaErrorMemoryAllocation", "out of memory");
  }
  return Graph(std::move(state));
}

TakesMemoryInCapture::TakesMemoryInCapture() {
  if (const auto capture = HostCapture::of_thread()) {
    before_ = capture->takes_memory ? 1 : 0;
    capture->takes_memory = true;
  }
}

TakesMemoryInCapture::~TakesMemoryInCapture() {
  if (const auto capture = HostCapture::of_thread()) capture->takes_memory = before_ != 0;
}

}  // namespace llmb::runner::cuda
