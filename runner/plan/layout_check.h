// check_layout: can a model and a batch be divided as a layout says? It changes nothing and needs
// no ranks.
#pragma once

#include <string>
#include <vector>

#include "runner/model/spec.h"
#include "runner/parallel/layout.h"

namespace llmb::runner {

// Empty where they can; otherwise every contradiction, each a sentence that says what would fit.
std::vector<std::string> check_layout(const ModelSpec& spec, const ParallelSizes& sizes,
                                      const BatchSizes& batch);

}  // namespace llmb::runner
