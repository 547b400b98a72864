// The definitions of linear_layer.h: included where a backend is put together, once.
#pragma once

#include <iterator>
#include <string>

#include "runner/model/linear_layer.h"

namespace llmb::runner {
namespace detail {

inline Precision product_precision(Precision run, bool takes_fp8) {
  return is_fp8(run) && !takes_fp8 ? Precision::bf16 : run;
}

}  // namespace detail

template <typename Backend>
LinearLayer<Backend>::LinearLayer(const StageContext<Backend>& context,
                                  const LocalParameter<Backend>& parameter,
                                  std::int64_t expert_count, bool takes_fp8)
    : ops_(context.ops),
      precision_(context.precision),
      weight_(parameter),
      is_grouped_(expert_count > 0),
      rounding_(context.ops, detail::product_precision(context.precision, takes_fp8),
                static_cast<std::size_t>(std::max<std::int64_t>(expert_count, 1))) {
  const std::int64_t parts = std::max<std::int64_t>(expert_count, 1);
  weight_rows_.assign(static_cast<std::size_t>(parts), weight_.rows / parts);
}

template <typename Backend>
ConstValueView<Backend> LinearLayer<Backend>::rounded_weight(SumAxis axis,
                                                             ValueTensor<Backend>& storage) {
  return rounding_(Operand::weight, axis, weight_rows_, weight_.value(), storage);
}

template <typename Backend>
void LinearLayer<Backend>::forward(RowCounts rows_of_expert, ConstView x, View y) {
  ValueTensor<Backend> x_storage;
  ValueTensor<Backend> weight_storage;
  const ConstView input =
      rounding_(Operand::input, SumAxis::along_rows, rows_of_expert, x, x_storage);
  const ConstView weight = rounded_weight(SumAxis::along_rows, weight_storage);
  if (is_grouped_) {
    ops_.grouped_linear(rows_of_expert, input, weight, y);
  } else {
    ops_.linear(input, weight, y);
  }
  keep<Backend>(ops_, precision_, y);
}

template <typename Backend>
void LinearLayer<Backend>::backward_input(RowCounts rows_of_expert, ConstView dy, View dx) {
  ValueTensor<Backend> dy_storage;
  ValueTensor<Backend> weight_storage;
  const ConstView gradient =
      rounding_(Operand::gradient, SumAxis::along_rows, rows_of_expert, dy, dy_storage);
  const ConstView weight = rounded_weight(SumAxis::down_columns, weight_storage);
  if (is_grouped_) {
    ops_.grouped_linear_backward_input(rows_of_expert, gradient, weight, dx);
  } else {
    ops_.linear_backward_input(gradient, weight, dx);
  }
  keep<Backend>(ops_, precision_, dx);
}

template <typename Backend>
void LinearLayer<Backend>::backward_weight(RowCounts rows_of_expert, ConstView x, ConstView dy) {
  ValueTensor<Backend> x_storage;
  ValueTensor<Backend> dy_storage;
  const ConstView input =
      rounding_(Operand::input, SumAxis::down_columns, rows_of_expert, x, x_storage);
  const ConstView gradient =
      rounding_(Operand::gradient, SumAxis::down_columns, rows_of_expert, dy, dy_storage);
  if (is_grouped_) {
    ops_.grouped_linear_backward_weight(rows_of_expert, input, gradient, weight_.gradient());
  } else {
    ops_.linear_backward_weight(input, gradient, weight_.gradient());
  }
}

template <typename Backend>
void LinearLayer<Backend>::backward(RowCounts rows_of_expert, ConstView x, ConstView dy, View dx) {
  backward_input(rows_of_expert, dy, dx);
  backward_weight(rows_of_expert, x, dy);
}

template <typename Backend>
void LinearLayer<Backend>::forward(ConstView x, View y) {
  forward(std::span(&x.rows, 1), x, y);
}

template <typename Backend>
void LinearLayer<Backend>::backward(ConstView x, ConstView dy, View dx) {
  backward(std::span(&x.rows, 1), x, dy, dx);
}

template <typename Backend>
void LinearLayer<Backend>::add_histories(std::int64_t first_expert,
                                         std::vector<NamedHistory>& histories) {
  std::size_t index = 0;
  for (AmaxHistory& history : rounding_.histories()) {
    std::string matrix = weight_.parameter->parameter.name;
    const std::size_t part = index / std::size(kOperandNames);
    if (is_grouped_) {
      const std::int64_t expert = first_expert + static_cast<std::int64_t>(part);
      matrix.append("[").append(std::to_string(expert)).append("]");
    }
    histories.push_back({matrix, kOperandNames[index % std::size(kOperandNames)], &history, false});
    ++index;
  }
}

}  // namespace llmb::runner
