#include "runner/cuda/host_capture.h"

#include <algorithm>
#include <utility>

#include "runner/cuda/device_error.h"

namespace llmb::runner::cuda {
namespace {

thread_local std::shared_ptr<HostCapture> capture_of_thread;

constexpr const char* kUnsupported = "cudaErrorStreamCaptureUnsupported";
constexpr const char* kUnsupportedWords = "operation not permitted when stream is capturing";

}  // namespace

void refuse_as_cuda(const std::string& tried, const std::string& code, const std::string& words) {
  if (capture_of_thread) capture_of_thread->invalidate();
  throw DeviceError(tried, code, words, "");
}

void refuse_in_capture(const std::string& tried) {
  if (capture_of_thread) refuse_as_cuda(tried, kUnsupported, kUnsupportedWords);
}

void refuse_memory_in_capture(const std::string& tried) {
  if (capture_of_thread && !capture_of_thread->takes_memory) refuse_in_capture(tried);
}

void HostCapture::begin(Stream origin) {
  if (capture_of_thread) {
    refuse_as_cuda("capture a graph", "cudaErrorIllegalState",
                   "the thread captures another graph already");
  }
  capture_of_thread.reset(new HostCapture(origin));
}

std::shared_ptr<HostCapture> HostCapture::of_thread() {
  return capture_of_thread;
}

std::shared_ptr<HostCapture> HostCapture::of(Stream stream) {
  const bool is_in_it = capture_of_thread && capture_of_thread->before_.contains(stream);
  return is_in_it ? capture_of_thread : nullptr;
}

void HostCapture::drop() {
  capture_of_thread.reset();
}

std::vector<HostCapture::Node> HostCapture::end() {
  const std::shared_ptr<HostCapture> capture = std::exchange(capture_of_thread, nullptr);
  const std::string tried = "end the capture of a graph";
  if (!capture->is_valid_) {
    refuse_as_cuda(tried, "cudaErrorStreamCaptureInvalidated",
                   "operation failed due to a previous error during capture");
  }
  const Before& joined = capture->before_[capture->origin_];
  for (const auto& [stream, before] : capture->before_) {
    const auto own = before.find(stream);
    if (own == before.end()) continue;  // nothing was put on it
    const auto known = joined.find(stream);
    if (known != joined.end() && known->second == own->second) continue;
    refuse_as_cuda(tried, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work");
  }
  return std::move(capture->nodes_);
}

void HostCapture::put(Stream stream, Node node) {
  nodes_.push_back(std::move(node));
  ++before_[stream][stream];
}

void HostCapture::join(const Before& before, Stream stream) {
  Before& known = before_[stream];
  for (const auto& [other, count] : before) known[other] = std::max(known[other], count);
}

}  // namespace llmb::runner::cuda
