#include "runner/model/operand_rounding.h"

#include <algorithm>
#include <iterator>

#include "runner/cpu/ops.h"

namespace llmb::runner {
namespace {
constexpr std::size_t kOperands = std::size(kOperandNames);
}  // namespace

template <typename Ops>
OperandRounding<Ops>::OperandRounding(Precision precision, std::size_t parts)
    : precision_(precision),
      histories_(precision == Precision::fp8_delayed ? kOperands * parts : 0) {}

template <typename Ops>
void OperandRounding<Ops>::round_part(Operand operand, SumAxis axis, std::size_t part,
                                      ConstView from, typename Ops::View to) {
  using Quantize = typename Ops::Quantize;
  if (precision_ == Precision::mxfp8) {
    return axis == SumAxis::along_rows ? Quantize::to_mxfp8_along_rows(from, to)
                                       : Quantize::to_mxfp8_down_columns(from, to);
  }
  if (precision_ == Precision::bf16) {
    Ops::Elementwise::copy(from, to);
    return Quantize::to_bf16(to);
  }
  const auto format = operand == Operand::gradient ? Ops::Fp8Format::e5m2 : Ops::Fp8Format::e4m3;
  double largest = Quantize::absolute_max(from);
  if (precision_ == Precision::fp8_delayed) {
    AmaxHistory& history = histories_[part * kOperands + static_cast<std::size_t>(operand)];
    history.step_max() = std::max(history.step_max(), largest);
    largest = history.scaling_max();
  }
  Quantize::to_fp8(from, format, Quantize::fp8_scale(largest, format), to);
}

template <typename Ops>
typename Ops::ConstView OperandRounding<Ops>::operator()(Operand operand, SumAxis axis,
                                                         std::span<const std::int64_t> rows_of_part,
                                                         ConstView whole, Tensor& storage) {
  if (precision_ == Precision::fp32) return whole;
  if (precision_ == Precision::bf16 && operand == Operand::weight) return whole;
  storage.resize(whole.rows, whole.cols);
  std::int64_t first = 0;
  for (std::size_t part = 0; part < rows_of_part.size(); ++part) {
    const std::int64_t rows = rows_of_part[part];
    round_part(operand, axis, part, whole.slice(first, rows), storage.view().slice(first, rows));
    first += rows;
  }
  return storage;
}

template class OperandRounding<cpu::Ops<float>>;
template class OperandRounding<cpu::Ops<double>>;

}  // namespace llmb::runner
