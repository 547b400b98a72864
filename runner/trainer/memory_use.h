// MemoryUse: what one rank holds, counted where it is allocated; beside it stands what the plan
// said. Bytes, but for rows.
#pragma once

#include <cstdint>

namespace llmb::runner {

struct MemoryUse {
  std::int64_t parameters = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;
  std::int64_t activations_max = 0;  // tensors that wait for their backward pass
  std::int64_t tensors_max = 0;      // those, and what a pass needs while it runs
  std::int64_t expert_rows_max = 0;  // of a micro-batch, that came to this rank's experts
};

}  // namespace llmb::runner
