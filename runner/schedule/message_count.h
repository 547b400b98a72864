// How many messages of its neighbours and for them a stage has at a time, by the way that
// trainer/pipeline_messages.h has them: what memory they need.
#pragma once

#include <cstddef>
#include <vector>

#include "runner/schedule/task_list.h"

namespace llmb::runner {

// The most exchanges of one direction that a stage has begun and not ended. An older one has been
// taken: its receiver did passes that later ones here needed.
std::size_t exchanges_in_flight_max(const PipelineShape& shape);

// The most messages while a pass is at work: what it reads and writes, what is sent until its
// exchange is ended, which a pass does that waits for one of this direction, and what is received.
// `tasks` is a stage's list of a pipeline of `shape`.
int messages_at_once_max(const PipelineShape& shape, const std::vector<Task>& tasks);

}  // namespace llmb::runner
