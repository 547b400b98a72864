// Whether a schedule runs where a send waits for its receiver, as NCCL's do, instead of leaving its
// message in a buffer. It measures no times; simulator.h does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/schedule/task_list.h"

namespace llmb::runner {

// Messages of one direction (activations or gradients) that a stage posts together and that end
// together: what one pass leaves behind, and what the next pass of that direction waits for.
struct Exchange {
  std::optional<Task> send;
  std::optional<Task> receive;
};

enum class Direction { activations, gradients };

// The messages of one direction in the order of the stage's passes. A stage executes each
// direction on a stream of its own: an exchange begins when the one before it has ended and the
// pass that it sends from is done, and a pass waits for the exchange that its message is in.
std::vector<Exchange> exchanges_of(const std::vector<Task>& tasks, Direction direction);

enum class MessageOrder {
  one_by_one,  // every message a call of its own, in the order of the list
  exchanges,   // as exchanges_of has them
};

// Empty where every task of every stage runs; otherwise the stages that wait for ever, and for
// what. `lists[s]` is stage s's list of a pipeline of `shape`.
std::string rendezvous_problem(const PipelineShape& shape,
                               const std::vector<std::vector<Task>>& lists, MessageOrder order);

}  // namespace llmb::runner
