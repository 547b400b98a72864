// Graphs: the contract, on the double and on a device alike.
#include "runner/cuda/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"
#include "runner/kernels/elementwise.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner::cuda {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class DeviceGraph : public testing::OnDevice {};

struct FilledFloats {
  DeviceMemory memory;
  std::int64_t count;

  FilledFloats(std::int64_t size, float value, Stream stream)
      : memory(static_cast<std::size_t>(size) * sizeof(float)), count(size) {
    kernels::fill<float>(value, matrix(), stream);
    synchronize(stream);
  }
  kernels::Matrix<float> matrix() const {
    return {reinterpret_cast<float*>(memory.data()), 1, count};
  }
  std::vector<float> values(Stream stream) const {
    std::vector<float> host(static_cast<std::size_t>(count));
    copy_async(host.data(), memory.data(), memory.bytes(), CopyDirection::to_host, stream);
    synchronize(stream);
    return host;
  }
};

// y += x
void add(const FilledFloats& x, const FilledFloats& y, Stream stream) {
  kernels::scaled_copy<float, float>({.x = x.matrix(), .y = y.matrix(), .addend = y.matrix()},
                                     stream);
}

TEST_F(DeviceGraph, RunsAsOftenAsItIsLaunched) {
  const OwnedStream stream;
  const FilledFloats x(1000, 2, stream);
  const FilledFloats y(1000, 1, stream);
  GraphCapture capture(stream);
  add(x, y, stream);
  add(y, x, stream);
  const Graph graph = capture.end();
  EXPECT_EQ(graph.node_count(), 2);
  EXPECT_THAT(y.values(stream), Each(1)) << "nothing runs while it is captured";
  graph.launch(stream);
  graph.launch(stream);
  EXPECT_THAT(y.values(stream), Each(1 + 2 + 5));
  EXPECT_THAT(x.values(stream), Each(2 + 3 + 8));
}

TEST_F(DeviceGraph, RunsInTheOrderOfItsStream) {
  const OwnedStream stream;
  const FilledFloats x(1000, 2, stream);
  const FilledFloats y(1000, 1, stream);
  GraphCapture capture(stream);
  add(x, y, stream);
  const Graph graph = capture.end();
  kernels::fill<float>(10, x.matrix(), stream);
  graph.launch(stream);
  kernels::fill<float>(100, x.matrix(), stream);
  graph.launch(stream);
  EXPECT_THAT(y.values(stream), Each(111));
}

TEST_F(DeviceGraph, MayGoWhileItRuns) {
  const OwnedStream stream;
  const FilledFloats x(100000, 2, stream);
  const FilledFloats y(100000, 1, stream);
  {
    GraphCapture capture(stream);
    for (int i = 0; i < 20; ++i) add(x, y, stream);
    capture.end().launch(stream);
  }
  EXPECT_THAT(y.values(stream), Each(41));
}

// An event of the capture brings another stream in, and its own event ends that.
TEST_F(DeviceGraph, HasWorkOfStreamsThatWaitForIt) {
  const OwnedStream stream;
  const OwnedStream beside;
  const FilledFloats x(1000, 2, stream);
  const FilledFloats y(1000, 1, stream);
  GraphCapture capture(stream);
  add(x, y, stream);
  order_streams(stream, beside);
  add(y, x, beside);
  order_streams(beside, stream);
  add(x, y, stream);
  const Graph graph = capture.end();
  EXPECT_EQ(graph.node_count(), 3);
  graph.launch(stream);
  EXPECT_THAT(y.values(stream), Each(8));
}

TEST_F(DeviceGraph, IsRefusedWithAStreamThatNobodyWaitedFor) {
  const OwnedStream stream;
  const OwnedStream beside;
  const FilledFloats x(10, 2, stream);
  GraphCapture capture(stream);
  order_streams(stream, beside);
  add(x, x, beside);
  EXPECT_THAT([&] { capture.end(); },
              ::testing::ThrowsMessage<DeviceError>(HasSubstr("cudaErrorStreamCaptureUnjoined")));
}

TEST_F(DeviceGraph, TakesMemoryWhereThatIsSaid) {
  const OwnedStream stream;
  DeviceMemory memory;
  GraphCapture capture(stream);
  {
    const TakesMemoryInCapture allowed;
    memory = DeviceMemory(10 * sizeof(float));
  }
  fill_async(memory.data(), 0, memory.bytes(), stream);
  capture.end().launch(stream);
  synchronize(stream);
}

void expect_refused(const char* what, const std::function<void(Stream)>& call) {
  SCOPED_TRACE(what);
  const OwnedStream stream;
  const FilledFloats x(10, 2, stream);
  {
    GraphCapture capture(stream);
    add(x, x, stream);
    EXPECT_THROW(call(stream), DeviceError);
    EXPECT_THROW(capture.end(), DeviceError) << "of no use any more";
  }
  EXPECT_THAT(x.values(stream), Each(2)) << "nothing has run, and the stream is well";
}

TEST_F(DeviceGraph, RefusesWhatTheHostWouldWaitFor) {
  expect_refused("wait for the stream", [](Stream stream) { synchronize(stream); });
  expect_refused("look at an event of it", [](Stream stream) {
    Event event;
    event.record(stream);
    event.is_done();
  });
  expect_refused("wait for an event of it", [](Stream stream) {
    Event event;
    event.record(stream);
    event.synchronize();
  });
  expect_refused("memory", [](Stream /*stream*/) { const DeviceMemory memory(100); });
}

TEST_F(DeviceGraph, RefusesToWaitForWhatIsNoPartOfIt) {
  const OwnedStream other;
  Event outside;
  outside.record(other);
  expect_refused("an event", [&](Stream stream) { outside.wait_on(stream); });
}

TEST_F(DeviceGraph, LeavesTheStreamAsItWasWithoutAnEnd) {
  const OwnedStream stream;
  const FilledFloats x(10, 2, stream);
  {
    GraphCapture capture(stream);
    add(x, x, stream);
  }
  EXPECT_THAT(x.values(stream), Each(2));
}

}  // namespace
}  // namespace llmb::runner::cuda
