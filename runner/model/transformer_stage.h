// TransformerStage: the model, written once over a backend's Ops: the layers of one pipeline
// chunk on one rank, with the embedding before the first and the head after the last. Keeps what
// backward needs for every micro-batch in flight, and that memory for the next ones.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runner/model/head_block.h"
#include "runner/model/pipeline_stage.h"
#include "runner/model/resident_layer.h"
#include "runner/model/stage_context.h"
#include "runner/model/transformer_layer.h"

namespace llmb::runner {

struct StageOptions {
  Precision precision = Precision::fp32;
  // Of the rank's layers, over all its chunks, so many from the first keep only their input, and
  // go forward once more before they go backward.
  std::int64_t recomputed_layers = 0;
  // Weights that FP8 products take are cast once a step and kept, in both layouts: two bytes a
  // parameter, which pay where a step has several micro-batches. Not where they are sharded.
  bool keeps_fp8_weights = false;
  // Rows of logits that exist at once; 0: as head_chunk.h chooses.
  std::int64_t head_chunk_rows = 0;
  ExpertCounts expert_counts = ExpertCounts::on_device;
};

template <typename Backend>
class TransformerStage : public PipelineStage<Backend> {
 public:
  using Value = typename Backend::Value;
  using Tensor = ValueTensor<Backend>;
  using View = ValueView<Backend>;

  // Micro-batches of `micro_batch_size` whole sequences. `ops`, `store` and `groups` outlive
  // it. Throws
  // std::invalid_argument for tied embeddings, which no recipe has.
  TransformerStage(typename Backend::Ops& ops, const ModelSpec& spec, const Layout& layout,
                   int rank, int chunk, std::int64_t micro_batch_size,
                   ParameterStore<Backend>& store, RankGroups& groups,
                   const StageOptions& options = {});

  // The sequence-parallel piece: (shard rows, hidden).
  std::size_t boundary_elements() const override;
  void forward(std::int64_t micro_batch, const TokenBatch& batch, double loss_scale,
               std::span<const Value> input, std::span<Value> output) override;
  StageLoss take_losses() override;
  void backward(std::int64_t micro_batch, std::span<const Value> output_gradient,
                std::span<Value> input_gradient) override;
  void prepare_passes() override;
  void forget_passes() override {
    forward_passes_.forget();
    backward_passes_.forget();
  }
  // Delayed scaling goes on to the next step: ranks that share a matrix agree on its maxima.
  void end_step() override;
  std::vector<NamedHistory> scaling_histories() override;
  std::int64_t expert_rows_max() const override;

 private:
  struct State {
    std::int64_t number = 0;     // among all that this stage has had
    IndexArray<Backend> tokens;  // of the context rows
    std::vector<typename TransformerLayer<Backend>::State> layers;
    std::vector<Tensor> recomputed_inputs;
    Tensor head_gradient;   // (shard rows, hidden), of what the head read
    double loss_scale = 0;  // of the forward pass
  };

  // Of delayed scaling: linear layers, and their histories in the same order.
  struct ScaledLinears {
    std::vector<LinearLayer<Backend>*> linears;
    std::vector<NamedHistory> histories;
  };

  void find_scaled_linears();
  // What the host does for a step's passes, so that it does nothing within them.
  void prepare_linears();
  void run_forward(State& state, bool is_only_prepared);
  void run_backward(State& state, bool is_only_prepared);
  // The gradient that a backward pass works on.
  Tensor& gradient_of(State& state) { return head_ ? state.head_gradient : boundary_; }
  // x, of the first layer or the rows of tokens that are still to be looked up, becomes the output.
  void pass_forward(View x, State& state);
  // dx, the gradient of the output, becomes that of the input.
  void pass_backward(View dx, State& state);
  void end_scaling_step(ScaledLinears& scaled, std::initializer_list<Communicator*> sharers,
                        CallTag tag);
  State& begin(std::int64_t micro_batch);
  std::unique_ptr<State> finish(std::int64_t micro_batch);
  void pass_head(View x, State& state);
  void embed(const State& state, View x) const;
  void embed_backward(const State& state, ConstValueView<Backend> dx) const;
  void forward_layer(std::size_t index, View x, State& state);
  void backward_layer(std::size_t index, State& state, double auxiliary_scale, View dx);
  std::int64_t layer_of(std::size_t index) const {
    return first_layer_ + static_cast<std::int64_t>(index);
  }
  // Of the context rows: tokens or, with `shift` 1, the ones after them.
  void write_tokens(const TokenBatch& batch, int shift, IndexArray<Backend>& tokens);

  using ResidentLayer = runner::ResidentLayer<Backend>;

  StageContext<Backend> context_;
  ParameterStore<Backend>& store_;
  std::int64_t first_layer_ = 0;
  std::size_t recomputed_layers_ = 0;  // of this chunk
  std::optional<Weight<Backend>> embedding_;
  std::vector<TransformerLayer<Backend>> layers_;
  std::optional<HeadBlock<Backend>> head_;
  IndexArray<Backend> targets_;  // of the context rows, while the head is at work
  ScaledLinears dense_;          // of layers_
  ScaledLinears experts_;
  std::map<std::int64_t, std::unique_ptr<State>> in_flight_;  // by micro-batch
  std::vector<std::unique_ptr<State>> free_;
  Tensor boundary_;          // (shard rows, hidden): what a pass works on; between passes if it may
  std::int64_t states_ = 0;  // made so far
  typename Backend::Ops::Passes forward_passes_;
  typename Backend::Ops::Passes backward_passes_;
  // Of the forwards since take_losses; where the operations add to them.
  TotalsView<Backend> loss_sum() { return losses_.view().slice(0, 1); }
  TotalsView<Backend> auxiliary_loss() { return losses_.view().slice(1, 1); }
  Totals<Backend> losses_;  // (2, 1): StageLoss
};

}  // namespace llmb::runner
