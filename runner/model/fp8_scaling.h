// Fp8Scaling: the scales of a linear layer's operands on a backend that has FP8 products: of input,
// weight and gradient, for every part (expert) of the layer; and its weights, cast once a step.
// They stay on the device; delayed scaling reads the step's largest elements once, at its end, and
// MXFP8, whose blocks bring their own, has none here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runner/model/amax_history.h"
#include "runner/model/backend_types.h"
#include "runner/model/operand.h"
#include "runner/model/precision.h"
#include "runner/operation/fp8_scale.h"
#include "runner/operation/fp8_weight_use.h"

namespace llmb::runner {

template <typename Backend>
class Fp8Scaling {
 public:
  using Statistic = typename Backend::Statistic;
  using Weight = typename Backend::Ops::Fp8Weight;

  Fp8Scaling(typename Backend::Ops& ops, Precision precision, std::size_t parts);

  Fp8Scale of(std::size_t part, Operand operand);
  // Of all parts.
  Fp8Scale of_all(Operand operand);

  // `values` in FP8: what is kept of that version of the part's weight, cast where there is nothing
  // of it; with version 0, cast for `use` into `own`.
  const Weight& weight(std::size_t part, ConstValueView<Backend> values, std::int64_t version,
                       Fp8WeightUse use, Weight& own);

  // The same of all parts together, one below the other.
  const Weight& weights(ConstValueView<Backend> values, std::int64_t version, Fp8WeightUse use,
                        Weight& own);

  // What of() and weight() of a layer of one part, or with `as_parts` of_all() and weights(), would
  // do when they are asked for the first time in a step, so that a pass asks the host for nothing.
  void prepare(ConstValueView<Backend> values, std::int64_t version, bool as_parts);

  // Of delayed scaling; empty otherwise. By part, then operand (kOperandNames).
  std::span<AmaxHistory> histories() { return histories_; }
  // The step's largest elements, in the histories' order, into device memory; the next step begins.
  // Its scales follow from the histories as they stand when an operand is next asked for.
  void take_maxima(std::span<Statistic> to);

 private:
  struct Kept {
    Weight weight{};
    std::int64_t version = 0;
  };

  static Fp8ScaleKind kind_of(Precision precision);
  void write_scales();
  // What is kept of that version, by `cast` into it where there is nothing; with version 0, `own`.
  template <typename Cast>
  const Weight& kept_or_cast(Kept& kept, std::int64_t version, Fp8WeightUse use, Weight& own,
                             const Cast& cast);
  std::int64_t part_count() const { return std::ssize(kept_); }

  typename Backend::Ops& ops_;
  std::vector<AmaxHistory> histories_;
  bool are_scales_written_ = false;
  Fp8ScaleKind kind_;
  std::vector<Kept> kept_;  // by part
  Kept kept_whole_;         // of all of them
  std::size_t operand_count() const { return kOperandCount * kept_.size(); }
  // Where in values_ the inverses begin.
  std::size_t first_inverse() const;

  // Fp8Scale's largest and scales of all operands, and their inverses, kFp8InverseStride apart; of
  // blocks none.
  typename Backend::template Array<Statistic> values_;
};

}  // namespace llmb::runner
