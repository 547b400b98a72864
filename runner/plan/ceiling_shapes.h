// ceiling_shapes: the matrix products and the attention of one rank's layers, for one micro-batch:
// what `llmb-step-runner ceilings` measures. Experts' rows are taken as spread evenly.
#pragma once

#include <vector>

#include "runner/operation/ceiling.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {

CeilingShapes ceiling_shapes(const RunSettings& settings);

// The linear layers whose products have the same shape in every step, on any rank: those of the
// ceilings but for the experts, whose rows differ; the head's last chunk; the router.
std::vector<LinearShape> fixed_linear_shapes(const RunSettings& settings);

// The linear layers of a layer's experts, where all of them are on a rank and both ways to multiply
// them are open: none where they are shared out over ranks, or multiplied in MXFP8 or fp32.
std::vector<LinearShape> lone_expert_shapes(const RunSettings& settings);

}  // namespace llmb::runner
