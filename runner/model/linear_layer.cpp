#include "runner/model/linear_layer.h"

#include <iterator>
#include <string>

#include "runner/cpu/ops.h"

namespace llmb::runner {
namespace {

Precision product_precision(Precision run, bool takes_fp8) {
  return is_fp8(run) && !takes_fp8 ? Precision::bf16 : run;
}

}  // namespace

template <typename Ops>
LinearLayer<Ops>::LinearLayer(const StageContext& context, const LocalParameter<Element>& parameter,
                              std::int64_t expert_count, bool takes_fp8)
    : precision_(context.precision),
      weight_(parameter),
      is_grouped_(expert_count > 0),
      rounding_(product_precision(context.precision, takes_fp8),
                static_cast<std::size_t>(std::max<std::int64_t>(expert_count, 1))) {
  const std::int64_t parts = std::max<std::int64_t>(expert_count, 1);
  weight_rows_.assign(static_cast<std::size_t>(parts), weight_.rows / parts);
}

template <typename Ops>
typename Ops::ConstView LinearLayer<Ops>::rounded_weight(SumAxis axis,
                                                         typename Ops::Tensor& storage) {
  return rounding_(Operand::weight, axis, weight_rows_, weight_.template value_as<ConstView>(),
                   storage);
}

template <typename Ops>
void LinearLayer<Ops>::forward(RowCounts rows_of_expert, ConstView x, View y) {
  typename Ops::Tensor x_storage;
  typename Ops::Tensor weight_storage;
  const ConstView input =
      rounding_(Operand::input, SumAxis::along_rows, rows_of_expert, x, x_storage);
  const ConstView weight = rounded_weight(SumAxis::along_rows, weight_storage);
  if (is_grouped_) {
    Ops::GroupedLinear::forward(rows_of_expert, input, weight, y);
  } else {
    Ops::Linear::forward(input, weight, y);
  }
  keep<Ops>(precision_, y);
}

template <typename Ops>
void LinearLayer<Ops>::backward_input(RowCounts rows_of_expert, ConstView dy, View dx) {
  typename Ops::Tensor dy_storage;
  typename Ops::Tensor weight_storage;
  const ConstView gradient =
      rounding_(Operand::gradient, SumAxis::along_rows, rows_of_expert, dy, dy_storage);
  const ConstView weight = rounded_weight(SumAxis::down_columns, weight_storage);
  if (is_grouped_) {
    Ops::GroupedLinear::backward_input(rows_of_expert, gradient, weight, dx);
  } else {
    Ops::Linear::backward_input(gradient, weight, dx);
  }
  keep<Ops>(precision_, dx);
}

template <typename Ops>
void LinearLayer<Ops>::backward_weight(RowCounts rows_of_expert, ConstView x, ConstView dy) {
  typename Ops::Tensor x_storage;
  typename Ops::Tensor dy_storage;
  const ConstView input =
      rounding_(Operand::input, SumAxis::down_columns, rows_of_expert, x, x_storage);
  const ConstView gradient =
      rounding_(Operand::gradient, SumAxis::down_columns, rows_of_expert, dy, dy_storage);
  const View dweight = weight_.template gradient_as<View>();
  if (is_grouped_) {
    Ops::GroupedLinear::backward_weight(rows_of_expert, input, gradient, dweight);
  } else {
    Ops::Linear::backward_weight(input, gradient, dweight);
  }
}

template <typename Ops>
void LinearLayer<Ops>::backward(RowCounts rows_of_expert, ConstView x, ConstView dy, View dx) {
  backward_input(rows_of_expert, dy, dx);
  backward_weight(rows_of_expert, x, dy);
}

template <typename Ops>
void LinearLayer<Ops>::forward(ConstView x, View y) {
  forward(std::span(&x.rows, 1), x, y);
}

template <typename Ops>
void LinearLayer<Ops>::backward(ConstView x, ConstView dy, View dx) {
  backward(std::span(&x.rows, 1), x, dy, dx);
}

template <typename Ops>
void LinearLayer<Ops>::add_histories(std::int64_t first_expert,
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

template class LinearLayer<cpu::Ops<float>>;
template class LinearLayer<cpu::Ops<double>>;

}  // namespace llmb::runner
