// collective_shapes: the collectives over device memory that a step of a model has on one rank,
// with the sizes of their messages: what is measured of them, and a profile is held against.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/parallel/communicator.h"
#include "runner/parallel/layout.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {

struct CollectiveShape {
  GroupKind group = GroupKind::tensor;
  CollectiveKind kind = CollectiveKind::all_gather;
  ElementType type = ElementType::bfloat16;
  std::int64_t count = 0;  // elements of the larger of the call's two buffers
};

// Of groups with several members, and of calls whose time depends on their size: rows, keys and
// values, experts' rows spread evenly, gradients and weights. `stage`: of the pipeline.
std::vector<CollectiveShape> collective_shapes(const RunSettings& settings, int stage);

}  // namespace llmb::runner
