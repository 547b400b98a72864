// The definitions of operand_rounding.h: included where a backend is put together, once.
#pragma once

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "runner/model/operand_rounding.h"
#include "runner/operation/fp8_format.h"

namespace llmb::runner {
namespace detail {
inline constexpr std::size_t kOperands = std::size(kOperandNames);
}  // namespace detail

template <typename Backend>
OperandRounding<Backend>::OperandRounding(typename Backend::Ops& ops, Precision precision,
                                          std::size_t parts)
    : ops_(ops),
      precision_(precision),
      histories_(precision == Precision::fp8_delayed ? detail::kOperands * parts : 0) {
  if (!Backend::kEmulatesNarrow && is_fp8(precision)) {
    throw std::invalid_argument("this backend has no FP8 products yet: --dtype bf16 trains on it");
  }
}

template <typename Backend>
void OperandRounding<Backend>::round_part(
    Operand operand, SumAxis axis, std::size_t part, ConstView from,
    ValueView<Backend> to) requires(Backend::kEmulatesNarrow) {
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
    AmaxHistory& history = histories_[part * detail::kOperands + static_cast<std::size_t>(operand)];
    history.step_max() = std::max(history.step_max(), largest);
    largest = history.scaling_max();
  }
  ops_.round_to_fp8(from, operand == Operand::gradient ? Fp8Format::e5m2 : Fp8Format::e4m3, largest,
                    to);
}

template <typename Backend>
ConstValueView<Backend> OperandRounding<Backend>::operator()(
    Operand operand, SumAxis axis, std::span<const std::int64_t> rows_of_part, ConstView whole,
    Tensor& storage) {
  if constexpr (Backend::kEmulatesNarrow) {
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
  } else {
    return whole;
  }
}

}  // namespace llmb::runner
