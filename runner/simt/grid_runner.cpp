#include "runner/simt/grid_runner.h"

#include <utility>

namespace llmb::runner::simt {
namespace {
thread_local StreamExecutor executor_of_thread;
}

void set_stream_executor(StreamExecutor executor) {
  executor_of_thread = std::move(executor);
}

const StreamExecutor& stream_executor() {
  return executor_of_thread;
}

}  // namespace llmb::runner::simt
