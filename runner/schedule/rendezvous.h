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
  // The pass of the stage that is done when it begins: the one before it in its direction. The
  // first one, where it only receives, begins when its own pass is the next, and no sooner: a
  // receive that waits on a device keeps multiprocessors, and CUDA may load no kernel meanwhile.
  // None: at the step's begin.
  std::optional<Task> after;
};

enum class Direction { activations, gradients };

// The messages of one direction in the order of the stage's passes. A stage executes each
// direction on a stream of its own: an exchange begins when the one before it has ended and the
// pass `after` which it comes is done, and a pass waits for the exchange that its message is in.
std::vector<Exchange> exchanges_of(const std::vector<Task>& tasks, Direction direction);

enum class MessageOrder {
  one_by_one,  // every message a call of its own, in the order of the list
  exchanges,   // as exchanges_of has them
};

// What the first pass of a chunk in each direction waits for beside its message.
enum class KernelLoading {
  before_the_step,
  // CUDA's, unless it is told otherwise (CUDA_MODULE_LOADING): the first launch of a kernel waits
  // until the device is idle, so until the exchanges have ended that the stage has begun.
  at_first_launch,
};

// Empty where every task of every stage runs; otherwise the stages that wait for ever, and for
// what. `lists[s]` is stage s's list of a pipeline of `shape`.
std::string rendezvous_problem(const PipelineShape& shape,
                               const std::vector<std::vector<Task>>& lists, MessageOrder order,
                               KernelLoading loading = KernelLoading::before_the_step);

}  // namespace llmb::runner
