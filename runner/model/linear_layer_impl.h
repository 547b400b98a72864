// The definitions of linear_layer.h: included where a backend is put together, once.
#pragma once

#include <algorithm>
#include <string>

#include "runner/model/linear_layer.h"

namespace llmb::runner {
namespace detail {

inline Precision product_precision(Precision run, bool takes_fp8) {
  return is_fp8(run) && !takes_fp8 ? Precision::bf16 : run;
}

}  // namespace detail

template <typename Backend>
auto LinearLayer<Backend>::make_narrowing(const StageContext<Backend>& context, std::size_t parts,
                                          bool takes_fp8) -> Narrowing {
  const Precision precision = detail::product_precision(context.precision, takes_fp8);
  if constexpr (Backend::kEmulatesNarrow) {
    return {context.ops, precision, parts};
  } else {
    if (!is_fp8(precision)) return std::nullopt;
    return Fp8Scaling<Backend>(context.ops, precision, parts);
  }
}

template <typename Backend>
LinearLayer<Backend>::LinearLayer(const StageContext<Backend>& context,
                                  const LocalParameter<Backend>& parameter,
                                  std::int64_t expert_count, bool takes_fp8)
    : ops_(context.ops),
      precision_(context.precision),
      weight_(parameter),
      is_grouped_(expert_count > 0),
      keeps_fp8_weights_(context.keeps_fp8_weights),
      narrowing_(make_narrowing(
          context, static_cast<std::size_t>(std::max<std::int64_t>(expert_count, 1)), takes_fp8)) {
  const std::int64_t parts = std::max<std::int64_t>(expert_count, 1);
  weight_rows_.assign(static_cast<std::size_t>(parts), weight_.rows / parts);
}

template <typename Backend>
std::span<AmaxHistory> LinearLayer<Backend>::histories() {
  if constexpr (Backend::kEmulatesNarrow) {
    return narrowing_.histories();
  } else {
    return narrowing_ ? narrowing_->histories() : std::span<AmaxHistory>();
  }
}

template <typename Backend>
void LinearLayer<Backend>::take_maxima(std::span<typename Backend::Statistic> to) {
  if constexpr (Backend::kEmulatesNarrow) {
    narrowing_.take_maxima(to);
  } else {
    if (narrowing_) narrowing_->take_maxima(to);
  }
}

template <typename Backend>
template <typename Product>
void LinearLayer<Backend>::for_parts(RowCounts rows, const Product& product) const {
  std::int64_t first = 0;
  for (std::size_t part = 0; part < rows.size(); ++part) {
    product(part, first, rows[part]);
    first += rows[part];
  }
}

template <typename Backend>
template <typename Scaling>
void LinearLayer<Backend>::forward_fp8(Scaling& scaling, RowCounts rows_of_expert, ConstView x,
                                       View y) {
  const std::int64_t out = weight_rows_.front();
  for_parts(rows_of_expert, [&](std::size_t part, std::int64_t first, std::int64_t count) {
    const auto values = weight_.value().slice(static_cast<std::int64_t>(part) * out, out);
    // A delayed scale's weight counts in its history, whether or not a row came to its expert.
    if (count == 0 && scaling.histories().empty()) return;
    typename Scaling::Weight own;
    const auto& weight =
        scaling.weight(part, values, fp8_weight_version(), Fp8WeightUse::forward, own);
    ops_.fp8_linear({x.slice(first, count), scaling.of(part, Operand::input)}, weight,
                    y.slice(first, count));
  });
}

template <typename Backend>
template <typename Scaling>
void LinearLayer<Backend>::backward_fp8(Scaling& scaling, RowCounts rows_of_expert, ConstView x,
                                        ConstView dy, View dx) {
  const std::int64_t out = weight_rows_.front();
  for_parts(rows_of_expert, [&](std::size_t part, std::int64_t first, std::int64_t count) {
    if (count == 0) return;
    const std::int64_t first_weight = static_cast<std::int64_t>(part) * out;
    const auto gradient =
        ops_.cast_fp8_gradient({dy.slice(first, count), scaling.of(part, Operand::gradient)});
    {
      typename Scaling::Weight own;
      const auto& weight = scaling.weight(part, weight_.value().slice(first_weight, out),
                                          fp8_weight_version(), Fp8WeightUse::backward, own);
      ops_.fp8_linear_backward_input(gradient, weight, dx.slice(first, count));
    }
    ops_.fp8_linear_backward_weight({x.slice(first, count), scaling.of(part, Operand::input)},
                                    gradient, weight_.gradient().slice(first_weight, out));
  });
}

// All experts' weights are cast, whether or not a row came to each.
template <typename Backend>
template <typename Scaling, typename Index>
void LinearLayer<Backend>::forward_fp8_experts(Scaling& scaling, std::span<const Index> rows,
                                               ConstView x, View y) {
  typename Scaling::Weight own;
  const auto& weights =
      scaling.weights(weight_.value(), fp8_weight_version(), Fp8WeightUse::forward, own);
  ops_.fp8_linear(rows, {x, scaling.of_all(Operand::input)}, weights, y);
}

template <typename Backend>
template <typename Scaling, typename Index>
void LinearLayer<Backend>::backward_fp8_experts(Scaling& scaling, std::span<const Index> rows,
                                                ConstView x, ConstView dy, View dx) {
  const auto gradient = ops_.cast_fp8_gradient(rows, {dy, scaling.of_all(Operand::gradient)});
  {
    typename Scaling::Weight own;
    const auto& weights =
        scaling.weights(weight_.value(), fp8_weight_version(), Fp8WeightUse::backward, own);
    ops_.fp8_linear_backward_input(rows, gradient, weights, dx);
  }
  ops_.fp8_linear_backward_weight(rows, {x, scaling.of_all(Operand::input)}, gradient,
                                  weight_.gradient());
}

template <typename Backend>
void LinearLayer<Backend>::forward(RowCounts rows_of_expert, ConstView x, View y) {
  ConstView input = x;
  ConstView weight = weight_.value();
  ValueTensor<Backend> x_storage;
  ValueTensor<Backend> weight_storage;
  if constexpr (Backend::kEmulatesNarrow) {
    input = narrowing_(Operand::input, SumAxis::along_rows, rows_of_expert, x, x_storage);
    weight = narrowing_(Operand::weight, SumAxis::along_rows, weight_rows_, weight, weight_storage);
  } else if (narrowing_) {
    return forward_fp8(*narrowing_, rows_of_expert, x, y);
  }
  if (is_grouped_) {
    ops_.grouped_linear(rows_of_expert, input, weight, y);
  } else {
    ops_.linear(input, weight, y);
  }
  keep<Backend>(ops_, precision_, y);
}

template <typename Backend>
void LinearLayer<Backend>::backward_input(RowCounts rows_of_expert, ConstView dy, View dx) {
  ConstView gradient = dy;
  ConstView weight = weight_.value();
  ValueTensor<Backend> dy_storage;
  ValueTensor<Backend> weight_storage;
  if constexpr (Backend::kEmulatesNarrow) {
    gradient = narrowing_(Operand::gradient, SumAxis::along_rows, rows_of_expert, dy, dy_storage);
    weight =
        narrowing_(Operand::weight, SumAxis::down_columns, weight_rows_, weight, weight_storage);
  }
  if (is_grouped_) {
    ops_.grouped_linear_backward_input(rows_of_expert, gradient, weight, dx);
  } else {
    ops_.linear_backward_input(gradient, weight, dx);
  }
  keep<Backend>(ops_, precision_, dx);
}

template <typename Backend>
void LinearLayer<Backend>::backward_weight(RowCounts rows_of_expert, ConstView x, ConstView dy) {
  ConstView input = x;
  ConstView gradient = dy;
  ValueTensor<Backend> x_storage;
  ValueTensor<Backend> dy_storage;
  if constexpr (Backend::kEmulatesNarrow) {
    input = narrowing_(Operand::input, SumAxis::down_columns, rows_of_expert, x, x_storage);
    gradient = narrowing_(Operand::gradient, SumAxis::down_columns, rows_of_expert, dy, dy_storage);
  }
  if (is_grouped_) {
    ops_.grouped_linear_backward_weight(rows_of_expert, input, gradient, weight_.gradient());
  } else {
    ops_.linear_backward_weight(input, gradient, weight_.gradient());
  }
}

template <typename Backend>
void LinearLayer<Backend>::backward(RowCounts rows_of_expert, ConstView x, ConstView dy, View dx) {
  if constexpr (!Backend::kEmulatesNarrow) {
    if (narrowing_) return backward_fp8(*narrowing_, rows_of_expert, x, dy, dx);
  }
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
void LinearLayer<Backend>::prepare() {
  if constexpr (!Backend::kEmulatesNarrow) {
    if (narrowing_) narrowing_->prepare(weight_.value(), fp8_weight_version(), is_grouped_);
  }
}

template <typename Backend>
void LinearLayer<Backend>::add_histories(std::int64_t first_expert,
                                         std::vector<NamedHistory>& histories) {
  std::size_t index = 0;
  for (AmaxHistory& history : this->histories()) {
    std::string matrix = weight_.parameter->parameter.name;
    const std::size_t part = index / kOperandCount;
    if (is_grouped_) {
      const std::int64_t expert = first_expert + static_cast<std::int64_t>(part);
      matrix.append("[").append(std::to_string(expert)).append("]");
    }
    histories.push_back({matrix, kOperandNames[index % kOperandCount], &history, false});
    ++index;
  }
}

}  // namespace llmb::runner
