// PipelineStage: one chunk of the model's layers on one rank, as the trainer drives it. Tensor,
// sequence, context and expert parallelism happen inside, over the rank's own communicators;
// pipeline and data parallelism are the trainer's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runner/data/synthetic_tokens.h"
#include "runner/model/amax_history.h"

namespace llmb::runner {

// Sums over a step's micro-batches.
struct StageLoss {
  // Over the tokens of this rank's context slice; the same on every rank of the tensor group.
  double loss_sum = 0;
  // The router's load-balancing loss of this chunk's layers, coefficient included, as the mean
  // over a micro-batch's tokens: this rank's part of it, those of the tensor and context groups
  // add up.
  double auxiliary_loss = 0;
};

// One object per (rank, chunk); used by one thread. Spans are of the backend's memory. Gradients
// are added to the rank's ParameterStore, those of the head as a micro-batch goes forward, all
// others as it goes back; they are those of
//   loss_scale * (sum of token losses + auxiliary loss * tokens of the micro-batch),
// of this rank's tokens only: the trainer sums them over the tensor group where a parameter is
// whole on each of its ranks, and over the data groups.
template <typename Backend>
class PipelineStage {
 public:
  using Value = typename Backend::Value;

  virtual ~PipelineStage() = default;

  // Elements of the activation that one micro-batch passes to the next chunk on this rank.
  virtual std::size_t boundary_elements() const = 0;

  // Keeps what backward of the same micro-batch needs, loss_scale too; several may be in flight.
  // `input` is empty on the model's first chunk, `output` on its last, where the loss is taken.
  // `batch` holds whole sequences; the stage takes its own slices of them.
  virtual void forward(std::int64_t micro_batch, const TokenBatch& batch, double loss_scale,
                       std::span<const Value> input, std::span<Value> output) = 0;

  // Gives back what forward kept. `output_gradient` is empty on the last chunk, `input_gradient`
  // on the first.
  virtual void backward(std::int64_t micro_batch, std::span<const Value> output_gradient,
                        std::span<Value> input_gradient) = 0;

  // Between steps, where a backend repeats passes (Ops::Passes): prepares those of all that the
  // steps so far have kept; and drops what was prepared.
  virtual void prepare_passes() {}
  virtual void forget_passes() {}

  // Of the forwards since it was last called. Read once a step, because a backend whose passes
  // run ahead of the host must wait for them here.
  virtual StageLoss take_losses() = 0;

  // The most rows of a micro-batch that a layer's experts on this rank got so far; 0 without
  // experts.
  virtual std::int64_t expert_rows_max() const { return 0; }

  // After a step's last backward. All ranks end a step together.
  virtual void end_step() {}

  // What delayed scaling remembers between steps, so that a checkpoint can keep it.
  virtual std::vector<NamedHistory> scaling_histories() { return {}; }
};

}  // namespace llmb::runner
