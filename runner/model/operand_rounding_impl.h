// The definitions of operand_rounding.h: included where a backend is put together, once.
#pragma once

#include <algorithm>
#include <utility>

#include "runner/model/operand_rounding.h"
#include "runner/operation/fp8_format.h"

namespace llmb::runner {

template <typename Backend>
OperandRounding<Backend>::OperandRounding(typename Backend::Ops& ops, Precision precision,
                                          std::size_t parts)
    : ops_(ops),
      precision_(precision),
      histories_(precision == Precision::fp8_delayed ? kOperandCount * parts : 0),
      step_maxima_(histories_.size()) {}

template <typename Backend>
void OperandRounding<Backend>::round_part(Operand operand, SumAxis axis, std::size_t part,
                                          ConstView from, ValueView<Backend> to) {
  if (precision_ == Precision::mxfp8) {
    return axis == SumAxis::along_rows ? ops_.round_to_mxfp8_along_rows(from, to)
                                       : ops_.round_to_mxfp8_down_columns(from, to);
  }
  if (precision_ == Precision::bf16) {
    ops_.copy(from, to);
    return ops_.round_to_bf16(to);
  }
  double largest = ops_.absolute_max(from);
  if (precision_ == Precision::fp8_delayed) {
    const std::size_t index = operand_index(part, operand);
    step_maxima_[index] = std::max(step_maxima_[index], largest);
    largest = histories_[index].scaling_max();
  }
  ops_.round_to_fp8(from, operand == Operand::gradient ? Fp8Format::e5m2 : Fp8Format::e4m3, largest,
                    to);
}

template <typename Backend>
ConstValueView<Backend> OperandRounding<Backend>::operator()(
    Operand operand, SumAxis axis, std::span<const std::int64_t> rows_of_part, ConstView whole,
    Tensor& storage) {
  if (precision_ == Precision::fp32) return whole;
  if (precision_ == Precision::bf16 && operand == Operand::weight) return whole;
  storage.resize(ops_, whole.rows, whole.cols);
  std::int64_t first = 0;
  for (std::size_t part = 0; part < rows_of_part.size(); ++part) {
    const std::int64_t rows = rows_of_part[part];
    round_part(operand, axis, part, whole.slice(first, rows), storage.view().slice(first, rows));
    first += rows;
  }
  return storage;
}

template <typename Backend>
void OperandRounding<Backend>::take_maxima(std::span<typename Backend::Statistic> to) {
  for (std::size_t i = 0; i < histories_.size(); ++i) {
    to[i] = static_cast<typename Backend::Statistic>(std::exchange(step_maxima_[i], 0));
  }
}

}  // namespace llmb::runner
