// TransformerStage: the model, written once over a backend's Ops: the layers of one pipeline
// chunk on one rank, with the embedding before the first and the head after the last. Keeps what
// backward needs for every micro-batch in flight, and that memory for the next ones.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runner/model/head_block.h"
#include "runner/model/stage_context.h"
#include "runner/model/transformer_layer.h"
#include "runner/trainer/pipeline_stage.h"

namespace llmb::runner {

template <typename Ops>
class TransformerStage : public PipelineStage<typename Ops::Element> {
 public:
  using Element = typename Ops::Element;
  using Tensor = typename Ops::Tensor;
  using View = typename Ops::View;

  // Micro-batches of `micro_batch_size` whole sequences. `store` and `groups` outlive it. Throws
  // std::invalid_argument for tied embeddings, which no recipe has.
  TransformerStage(const ModelSpec& spec, const Layout& layout, int rank, int chunk,
                   std::int64_t micro_batch_size, const ParameterStore<Element>& store,
                   RankGroups& groups);

  // The sequence-parallel piece: (shard rows, hidden).
  std::size_t boundary_elements() const override;
  StageLoss forward(std::int64_t micro_batch, const TokenBatch& batch,
                    std::span<const Element> input, std::span<Element> output) override;
  void backward(std::int64_t micro_batch, double loss_scale,
                std::span<const Element> output_gradient,
                std::span<Element> input_gradient) override;

 private:
  struct State {
    std::vector<std::int64_t> tokens;  // of the context rows
    std::vector<typename TransformerLayer<Ops>::State> layers;
    typename HeadBlock<Ops>::State head;
  };

  State& begin(std::int64_t micro_batch);
  std::unique_ptr<State> finish(std::int64_t micro_batch);
  void embed(const State& state, View x) const;
  void embed_backward(const State& state, typename Ops::ConstView dx) const;
  // Of the context rows: tokens or, with `shift` 1, the ones after them.
  std::vector<std::int64_t> context_tokens(const TokenBatch& batch, int shift) const;

  StageContext context_;
  std::optional<Weight<Element>> embedding_;
  std::vector<TransformerLayer<Ops>> layers_;
  std::optional<HeadBlock<Ops>> head_;
  std::map<std::int64_t, std::unique_ptr<State>> in_flight_;  // by micro-batch
  std::vector<std::unique_ptr<State>> free_;
};

}  // namespace llmb::runner
