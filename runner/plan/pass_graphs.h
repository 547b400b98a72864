// Whether a run's passes can be CUDA graphs, how many there are then, and what is said of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/plan/run_settings.h"

namespace llmb::runner {

// Asked for, and possible.
bool has_graphs(const RunSettings& settings);

// The most micro-batches of each of a stage's chunks that are under way at a time: what they keep
// stays in its place where passes are graphs, with a graph for each of the two passes.
std::vector<std::int64_t> states_of_chunks(const RunSettings& settings, int stage);

// What a driver keeps on the device for an operation of a graph. None documents it: this is room
// for the arguments of a kernel (32 KiB at most since CUDA 12.1) and as much again, and a run tells
// what it came to.
inline constexpr std::int64_t kGraphOperationBytes = 64 << 10;
// Operations of the two passes of one micro-batch through these layers, on the high side.
std::int64_t graph_operations(const RunSettings& settings, const LayerRange& layers,
                              bool has_embedding, bool has_head);

// A line: what is a graph, or why nothing is; of a run that was not asked for them, nothing.
std::string graphs_text(const RunSettings& settings);

}  // namespace llmb::runner
