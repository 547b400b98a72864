// OperandRounding: what the matrix products of one linear layer see of their operands on a backend
// that emulates narrow numbers: the numbers themselves, or what the precision leaves of them. Keeps
// the largest elements of earlier steps where the precision scales by those.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runner/model/amax_history.h"
#include "runner/model/backend_types.h"
#include "runner/model/operand.h"
#include "runner/model/precision.h"

namespace llmb::runner {

// How an operand's elements are added up by the product: along its rows, or down its columns.
enum class SumAxis : std::uint8_t { along_rows, down_columns };

template <typename Backend>
class OperandRounding {
 public:
  using ConstView = ConstValueView<Backend>;
  using Tensor = ValueTensor<Backend>;

  // A layer of several parts (experts) scales each part by itself.
  OperandRounding(typename Backend::Ops& ops, Precision precision, std::size_t parts);

  // `whole` itself, or its rounded copy in `storage`. Part i has rows_of_part[i] rows, in order.
  // A run's weights are BF16 wherever it is not fp32: the optimizer rounds them once a step.
  ConstView operator()(Operand operand, SumAxis axis, std::span<const std::int64_t> rows_of_part,
                       ConstView whole, Tensor& storage);

  // Of delayed scaling; empty otherwise. By part, then operand (kOperandNames).
  std::span<AmaxHistory> histories() { return histories_; }
  // The step's largest elements, in the histories' order; the next step begins.
  void take_maxima(std::span<typename Backend::Statistic> to);

 private:
  void round_part(Operand operand, SumAxis axis, std::size_t part, ConstView from,
                  ValueView<Backend> to);

  typename Backend::Ops& ops_;
  Precision precision_;
  std::vector<AmaxHistory> histories_;
  std::vector<double> step_maxima_;  // of the histories
};

}  // namespace llmb::runner
