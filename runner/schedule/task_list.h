// The pipeline schedule as an explicit list of tasks: what one stage does in one step, in order.
// One chunk a stage gives one-forward-one-backward (1F1B), several give Megatron's interleaved
// schedule. The list is data: the trainer executes it, the simulator proves it, tests print it.
#pragma once

#include <string>
#include <vector>

namespace llmb::runner {

enum class TaskKind {
  receive_activation,
  forward,
  send_activation,
  receive_gradient,
  backward,
  send_gradient
};
const char* task_kind_name(TaskKind kind);

struct Task {
  TaskKind kind = TaskKind::forward;
  int micro_batch = 0;
  int chunk = 0;  // of this stage
  int peer = -1;  // stage at the other end of a message; -1 for forward and backward

  std::string str() const;  // "forward 3.1", "send_activation 3.1 -> 2"
  bool operator==(const Task&) const = default;
};

struct PipelineShape {
  int stages = 1;  // pp
  int chunks = 1;  // vp: model chunks of a stage; chunk c of stage s is part c * stages + s
  int micro_batches = 1;
};

// Every forward and backward of the stage once, each with the messages it needs. Sends are
// buffered; messages of one kind between two stages are received in the order they are sent.
// Throws std::invalid_argument for sizes below 1.
std::vector<Task> make_task_list(const PipelineShape& shape, int stage);

// The most forwards whose backward is still to come, over the whole list: how many micro-batches'
// activations (of one chunk each) the stage must hold.
int activations_in_flight(const std::vector<Task>& tasks);

// What activations_in_flight must not exceed: the stage's distance from the last one, doubled and
// with the chunks' share when interleaved.
int activation_bound(const PipelineShape& shape, int stage);

// The share of a step that an average stage idles, where messages cost nothing and all chunks
// cost the same: (pp - 1) / (vp m + pp - 1).
double ideal_bubble_fraction(const PipelineShape& shape);

}  // namespace llmb::runner
