// Fp8Scaling: the scales of a linear layer's operands on a backend that has FP8 products: of input,
// weight and gradient, for every part (expert) of the layer. They stay on the device; delayed
// scaling reads the step's largest elements once, at its end.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runner/model/amax_history.h"
#include "runner/model/backend_types.h"
#include "runner/model/operand.h"
#include "runner/model/precision.h"
#include "runner/operation/fp8_scale.h"

namespace llmb::runner {

template <typename Backend>
class Fp8Scaling {
 public:
  using Statistic = typename Backend::Statistic;

  // Throws std::invalid_argument for a precision that this backend has no products of.
  Fp8Scaling(typename Backend::Ops& ops, Precision precision, std::size_t parts);

  Fp8Scale of(std::size_t part, Operand operand);

  // Of delayed scaling; empty otherwise. By part, then operand (kOperandNames).
  std::span<AmaxHistory> histories() { return histories_; }
  // The step's largest elements, in the histories' order, into device memory; the next step begins.
  // Its scales follow from the histories as they stand when an operand is next asked for.
  void take_maxima(std::span<Statistic> to);

 private:
  void write_scales();

  typename Backend::Ops& ops_;
  std::vector<AmaxHistory> histories_;
  bool are_scales_written_ = false;
  // (3, operands): Fp8Scale's largest, scales, inverses.
  typename Backend::template Array<Statistic> values_;
};

}  // namespace llmb::runner
