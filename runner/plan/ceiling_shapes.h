// ceiling_shapes: the matrix products and the attention of one rank's layers, for one micro-batch:
// what `llmb-step-runner ceilings` measures. Experts' rows are taken as spread evenly.
#pragma once

#include "runner/operation/ceiling.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {

CeilingShapes ceiling_shapes(const RunSettings& settings);

}  // namespace llmb::runner
