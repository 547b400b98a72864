// Runs the task lists of all stages against each other without doing their work: finds deadlocks,
// messages that do not match, work that is missing or done twice, and measures idle time. The
// judge of every schedule, and what tells the bubble of a plan.
#pragma once

#include <string>
#include <vector>

#include "runner/schedule/task_list.h"

namespace llmb::runner {

// What one chunk's pass costs, in any unit of time; messages take `transfer_s`.
struct TaskCosts {
  double forward_s = 1;
  double backward_s = 2;
  double transfer_s = 0;
};

struct SimulationReport {
  std::string problem;  // empty: every task ran, and every message found its receiver
  std::vector<int> activations_in_flight_max;  // by stage
  int messages_in_flight_max = 0;              // sent and not yet received, on the fullest channel
  double step_time_s = 0;
  double bubble_fraction = 0;  // share of stages x step time in which a stage computed nothing
};

// `lists[s]` is stage s's list of a pipeline of `shape`.
SimulationReport simulate(const PipelineShape& shape, const std::vector<std::vector<Task>>& lists,
                          const TaskCosts& costs = {});

// Of the lists that make_task_list gives.
SimulationReport simulate(const PipelineShape& shape, const TaskCosts& costs = {});

}  // namespace llmb::runner
