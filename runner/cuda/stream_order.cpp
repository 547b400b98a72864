#include "runner/cuda/stream.h"

namespace llmb::runner::cuda {

void order_streams(Stream before, Stream after) {
  if (before == after) return;
  Event reached;
  reached.record(before);
  reached.wait_on(after);
}

}  // namespace llmb::runner::cuda
