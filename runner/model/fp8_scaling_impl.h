// The definitions of fp8_scaling.h: included where a backend is put together, once.
#pragma once

#include "runner/model/fp8_scaling.h"
#include "runner/operation/fp8_format.h"

namespace llmb::runner {

template <typename Backend>
Fp8ScaleKind Fp8Scaling<Backend>::kind_of(Precision precision) {
  if (precision == Precision::mxfp8) return Fp8ScaleKind::blocks;
  return precision == Precision::fp8_delayed ? Fp8ScaleKind::delayed : Fp8ScaleKind::current;
}

template <typename Backend>
Fp8Scaling<Backend>::Fp8Scaling(typename Backend::Ops& ops, Precision precision, std::size_t parts)
    : ops_(ops),
      histories_(precision == Precision::fp8_delayed ? kOperandCount * parts : 0),
      kind_(kind_of(precision)),
      kept_(parts) {
  if (kind_ == Fp8ScaleKind::blocks) return;
  const std::size_t count = first_inverse() + kFp8InverseStride * operand_count();
  values_.resize(ops, static_cast<std::int64_t>(count));
  ops_.fill(values_.values(), Statistic(0));
}

template <typename Backend>
std::size_t Fp8Scaling<Backend>::first_inverse() const {
  constexpr std::size_t kMultiple = kFp8InverseStride;
  return (2 * operand_count() + kMultiple - 1) / kMultiple * kMultiple;
}

template <typename Backend>
Fp8Scale Fp8Scaling<Backend>::of(std::size_t part, Operand operand) {
  if (kind_ == Fp8ScaleKind::blocks) return {nullptr, nullptr, nullptr, kind_};
  if (kind_ == Fp8ScaleKind::delayed && !are_scales_written_) write_scales();
  const std::size_t index = operand_index(part, operand);
  Statistic* const values = values_.values().data();
  return {values + index, values + operand_count() + index,
          values + first_inverse() + kFp8InverseStride * index, kind_};
}

template <typename Backend>
Fp8Scale Fp8Scaling<Backend>::of_all(Operand operand) {
  Fp8Scale scale = of(0, operand);
  scale.stride = kOperandCount;
  scale.inverse_stride = kFp8InverseStride * kOperandCount;
  return scale;
}

template <typename Backend>
template <typename Cast>
auto Fp8Scaling<Backend>::kept_or_cast(Kept& kept, std::int64_t version, Fp8WeightUse use,
                                       Weight& own, const Cast& cast) -> const Weight& {
  if (version == 0) {
    cast(use, own);
    return own;
  }
  if (kept.version != version) {
    cast(Fp8WeightUse::whole_step, kept.weight);
    kept.version = version;
  }
  return kept.weight;
}

template <typename Backend>
auto Fp8Scaling<Backend>::weight(std::size_t part, ConstValueView<Backend> values,
                                 std::int64_t version, Fp8WeightUse use, Weight& own)
    -> const Weight& {
  const Fp8Scale scale = of(part, Operand::weight);
  return kept_or_cast(kept_[part], version, use, own, [&](Fp8WeightUse wanted, Weight& to) {
    ops_.cast_fp8_weight({values, scale}, wanted, to);
  });
}

template <typename Backend>
auto Fp8Scaling<Backend>::weights(ConstValueView<Backend> values, std::int64_t version,
                                  Fp8WeightUse use, Weight& own) -> const Weight& {
  const Fp8Scale scale = of_all(Operand::weight);
  return kept_or_cast(kept_whole_, version, use, own, [&](Fp8WeightUse wanted, Weight& to) {
    ops_.cast_fp8_experts({values, scale}, part_count(), wanted, to);
  });
}

template <typename Backend>
void Fp8Scaling<Backend>::prepare(ConstValueView<Backend> values, std::int64_t version,
                                  bool as_parts) {
  of(0, Operand::weight);
  if (version == 0) return;
  Weight own;
  if (as_parts) {
    weights(values, version, Fp8WeightUse::whole_step, own);
  } else {
    weight(0, values, version, Fp8WeightUse::whole_step, own);
  }
}

template <typename Backend>
void Fp8Scaling<Backend>::write_scales() {
  std::vector<Statistic> scales;
  std::vector<Statistic> inverses(kFp8InverseStride * histories_.size());
  for (std::size_t i = 0; i < histories_.size(); ++i) {
    const bool is_gradient = i % kOperandCount == static_cast<std::size_t>(Operand::gradient);
    const Fp8Format format = is_gradient ? Fp8Format::e5m2 : Fp8Format::e4m3;
    scales.push_back(static_cast<Statistic>(fp8_scale(histories_[i].scaling_max(), format)));
    inverses[kFp8InverseStride * i] = 1 / scales.back();
  }
  const std::span<Statistic> all = values_.values();
  ops_.template write<Statistic>(scales, all.subspan(scales.size(), scales.size()));
  ops_.template write<Statistic>(inverses, all.subspan(first_inverse()));
  are_scales_written_ = true;
}

template <typename Backend>
void Fp8Scaling<Backend>::take_maxima(std::span<Statistic> to) {
  const std::span<Statistic> maxima = values_.values().first(histories_.size());
  ops_.template copy_elements<Statistic>(maxima, to);
  ops_.fill(maxima, Statistic(0));
  are_scales_written_ = false;
}

}  // namespace llmb::runner
