// LinearLayer: one weight matrix and its three products, in the run's precision: y = x W^T, the
// gradient of x, and that of W. Or a matrix for every expert, whose rows are sorted by expert.
#pragma once

#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "runner/model/fp8_scaling.h"
#include "runner/model/operand_rounding.h"
#include "runner/model/stage_context.h"

namespace llmb::runner {

template <typename Backend>
class LinearLayer {
 public:
  using ConstView = ConstValueView<Backend>;
  using View = ValueView<Backend>;
  using RowCounts = std::span<const std::int64_t>;

  // `parameter` outlives it. `expert_count` 0: one matrix for all rows. FP8 rounds down to bf16
  // where the layer is not one that the recipes put into FP8.
  LinearLayer(const StageContext<Backend>& context, const LocalParameter<Backend>& parameter,
              std::int64_t expert_count = 0, bool takes_fp8 = true);

  std::int64_t rows() const { return weight_.rows; }  // of the matrix, or of all of them
  std::int64_t cols() const { return weight_.cols; }

  // x (n, in) -> y (n, out)
  void forward(ConstView x, View y);
  // dy (n, out) -> dx (n, in), overwritten; the weight's gradient is added to.
  void backward(ConstView x, ConstView dy, View dx);
  // The same with rows_of_expert[e] rows for expert e.
  void forward(RowCounts rows_of_expert, ConstView x, View y);
  void backward(RowCounts rows_of_expert, ConstView x, ConstView dy, View dx);
  // The same with counts in the backend's memory, where that is not the host's; not in blocks of
  // FP8.
  template <typename Index>
  requires(!std::is_same_v<Index, std::int64_t>) void forward(std::span<const Index> rows_of_expert,
                                                              ConstView x, View y) {
    if constexpr (!Backend::kEmulatesNarrow) {
      if (narrowing_) return forward_fp8_experts(*narrowing_, rows_of_expert, x, y);
    }
    ops_.grouped_linear(rows_of_expert, x, weight_.value(), y);
  }
  template <typename Index>
  requires(!std::is_same_v<Index, std::int64_t>) void backward(
      std::span<const Index> rows_of_expert, ConstView x, ConstView dy, View dx) {
    if constexpr (!Backend::kEmulatesNarrow) {
      if (narrowing_) return backward_fp8_experts(*narrowing_, rows_of_expert, x, dy, dx);
    }
    ops_.grouped_linear_backward_input(rows_of_expert, dy, weight_.value(), dx);
    ops_.grouped_linear_backward_weight(rows_of_expert, x, dy, weight_.gradient());
  }

  // Before a pass of one matrix, or of experts whose counts are in the backend's memory: what is
  // made once a step, if it is not there yet, scales that the host writes and FP8 copies of the
  // weight that are kept.
  void prepare();

  // Adds those of delayed scaling, if it is that. Experts count from `first_expert`.
  void add_histories(std::int64_t first_expert, std::vector<NamedHistory>& histories);
  // The largest elements of the step, in the order of the histories; the next step begins.
  void take_maxima(std::span<typename Backend::Statistic> to);
  std::size_t history_count() { return histories().size(); }

 private:
  // How narrow operands come to be: rounded copies, or products of narrow elements (if the layer
  // has any).
  using Narrowing = std::conditional_t<Backend::kEmulatesNarrow, OperandRounding<Backend>,
                                       std::optional<Fp8Scaling<Backend>>>;

  static Narrowing make_narrowing(const StageContext<Backend>& context, std::size_t parts,
                                  bool takes_fp8);
  void backward_input(RowCounts rows_of_expert, ConstView dy, View dx);
  void backward_weight(RowCounts rows_of_expert, ConstView x, ConstView dy);
  // Calls `product` with every part's index, first row and number of rows.
  template <typename Product>
  void for_parts(RowCounts rows, const Product& product) const;
  // Templates, so that they are made only for a backend that has products of FP8 elements.
  template <typename Scaling>
  void forward_fp8(Scaling& scaling, RowCounts rows_of_expert, ConstView x, View y);
  template <typename Scaling>
  void backward_fp8(Scaling& scaling, RowCounts rows_of_expert, ConstView x, ConstView dy, View dx);
  template <typename Scaling, typename Index>
  void forward_fp8_experts(Scaling& scaling, std::span<const Index> rows, ConstView x, View y);
  template <typename Scaling, typename Index>
  void backward_fp8_experts(Scaling& scaling, std::span<const Index> rows, ConstView x,
                            ConstView dy, View dx);
  std::span<AmaxHistory> histories();
  // Of the copies that are kept; 0: none is.
  std::int64_t fp8_weight_version() const {
    return keeps_fp8_weights_ ? weight_.parameter->weight_version : 0;
  }

  typename Backend::Ops& ops_;
  Precision precision_;
  Weight<Backend> weight_;
  std::vector<std::int64_t> weight_rows_;  // of every expert's matrix
  bool is_grouped_;
  bool keeps_fp8_weights_;
  Narrowing narrowing_;
};

// What memory would keep of a result: in a narrow precision, BF16. Where values are of narrow
// elements it is in memory already.
template <typename Backend>
void keep(typename Backend::Ops& ops, Precision precision, ValueView<Backend> result) {
  if constexpr (Backend::kEmulatesNarrow) {
    if (precision != Precision::fp32) ops.round_to_bf16(result);
  }
}

}  // namespace llmb::runner
