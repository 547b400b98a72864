// Graphs by CUDA's runtime.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runner/cuda/graph.h"
#include "runner/cuda/launch_watch.h"
#include "runner/cuda/runtime_status.h"

namespace llmb::runner::cuda {
namespace {

using Watches = std::vector<std::shared_ptr<LaunchWatch>>;
thread_local Watches watches_of_capture;

}  // namespace

void watch_launches(const std::shared_ptr<LaunchWatch>& watch) {
  Watches& all = watches_of_capture;
  if (std::find(all.begin(), all.end(), watch) == all.end()) all.push_back(watch);
}

struct Graph::State {
  cudaGraphExec_t executable = nullptr;
  std::size_t nodes = 0;
  Watches watches;

  State() = default;
  // One that is under way ends before CUDA frees it.
  ~State() { cudaGraphExecDestroy(executable); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

void Graph::launch(Stream stream) const {
  for (const auto& watch : state_->watches) watch->begin_launch(stream);
  check(cudaGraphLaunch(state_->executable, stream), "launch a graph");
  for (const auto& watch : state_->watches) watch->end_launch(stream);
}

std::int64_t Graph::node_count() const {
  return static_cast<std::int64_t>(state_->nodes);
}

GraphCapture::GraphCapture(Stream stream) : stream_(stream) {
  watches_of_capture.clear();
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture a graph");
}

GraphCapture::~GraphCapture() {
  if (!is_open_) return;
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream_, &graph);
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();  // what broke the capture is on its way already
}

Graph GraphCapture::end() {
  is_open_ = false;
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(stream_, &captured), "end the capture of a graph");
  const std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, cudaError_t (*)(cudaGraph_t)> graph(
      captured, &cudaGraphDestroy);
  auto state = std::make_shared<Graph::State>();
  state->watches = std::exchange(watches_of_capture, {});
  check(cudaGraphGetNodes(captured, nullptr, &state->nodes), "count a graph's nodes");
  check(cudaGraphInstantiate(&state->executable, captured, 0), "make a graph ready to launch");
  return Graph(std::move(state));
}

TakesMemoryInCapture::TakesMemoryInCapture() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  check(cudaThreadExchangeStreamCaptureMode(&mode), "take memory within a capture");
  before_ = static_cast<int>(mode);
}

TakesMemoryInCapture::~TakesMemoryInCapture() {
  auto mode = static_cast<cudaStreamCaptureMode>(before_);
  cudaThreadExchangeStreamCaptureMode(&mode);
}

}  // namespace llmb::runner::cuda
