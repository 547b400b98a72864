// The definitions of ops.h for FP8 products of experts whose rows are counted on the device:
// included by ops_instances.cpp only. An expert has a scale of its own; its rows are cast by one
// launch for all experts, and so they are multiplied (kernels/grouped_product.h). Blocks of MXFP8
// are not among it: tensor cores that one warp feeds (mma.sync) know no scales of blocks.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "runner/cuda/ops.h"
#include "runner/cuda/ops_fp8_impl.h"
#include "runner/cuda/ops_operands.h"
#include "runner/kernels/grouped_product.h"
#include "runner/kernels/quantize.h"

namespace llmb::runner::cuda {
namespace detail {

template <typename Fp8, typename T>
void cast_experts_by_scale(View<const T> x, const kernels::DeviceCounts& counts,
                           const Fp8Scale& scale, Fp8Layouts layouts, Fp8Copies& copies,
                           Stream stream) {
  const kernels::ScaledRows rows{counts, scale.stride};
  const kernels::Cast<T, Fp8> cast = cast_into<Fp8>(x, scale, layouts, copies);
  if (scale.kind != Fp8ScaleKind::delayed) {
    kernels::absolute_max<T>(rows, cast.x, scale.largest, stream);
    kernels::fp8_scales({scale.largest, scale.scale, scale.inverse, counts.experts, scale.stride,
                         scale.inverse_stride},
                        kernels::kFp8Max<Fp8>, stream);
  }
  kernels::cast(rows, cast, stream);
}

// Into the layouts that are wanted of `copies`: transposed, experts' rows are columns side by side.
template <typename T>
void cast_experts(MemoryPool& pool, View<const T> x, const kernels::DeviceCounts& counts,
                  const Fp8Scale& scale, Fp8Format format, Fp8Layouts layouts, PoolUse use,
                  Fp8Copies& copies) {
  if (scale.kind == Fp8ScaleKind::blocks) {
    throw std::logic_error("Experts in MXFP8 are multiplied with their rows on the host.");
  }
  const NumberType type = number_type_of(scale.kind, format);
  copies.inverse = scale.inverse;
  copies.inverse_stride = scale.inverse_stride;
  if (layouts != Fp8Layouts::transposed) {
    copies.as_it_lies.resize(pool, type, x.rows, x.cols, use);
  }
  if (layouts != Fp8Layouts::as_it_lies) {
    const std::int64_t side_by_side =
        counts.rows ? kernels::padded_rows_max(x.rows, counts.experts)
                    : counts.experts * kernels::padded_expert_rows(counts.each);
    copies.transposed.resize(pool, type, x.cols, side_by_side, use);
  }
  if (type == NumberType::fp8_e4m3) {
    cast_experts_by_scale<kernels::Fp8E4m3>(x, counts, scale, layouts, copies, pool.stream());
  } else {
    cast_experts_by_scale<kernels::Fp8E5m2>(x, counts, scale, layouts, copies, pool.stream());
  }
}

inline kernels::ExpertInverses inverses_of(const Fp8Copies& rows, const Fp8Copies& other) {
  return {rows.inverse, other.inverse, rows.inverse_stride};
}

}  // namespace detail

template <typename T>
void Ops<T>::cast_fp8_experts(const Fp8Input& weights, std::int64_t experts, Fp8WeightUse use,
                              Fp8Weight& to) {
  const OpRange op = range("fp8_linear.cast_weight");
  kernels::DeviceCounts counts;
  counts.experts = experts;
  counts.each = weights.values.rows / experts;
  detail::cast_experts(*this, weights.values, counts, weights.scale, Fp8Format::e4m3,
                       detail::layouts_for(use),
                       use == Fp8WeightUse::whole_step ? PoolUse::lasting : PoolUse::tensor, to);
  count_cast(weights.values, to);
}

template <typename T>
void Ops<T>::fp8_linear(Indices rows, const Fp8Input& x, const Fp8Weight& weights, Out y) {
  const OpRange op = range("fp8_linear.forward");
  const kernels::DeviceCounts counts{rows.data(), std::ssize(rows)};
  Fp8Copies input;
  detail::cast_experts(*this, x.values, counts, x.scale, Fp8Format::e4m3,
                       detail::Fp8Layouts::as_it_lies, PoolUse::tensor, input);
  profile_.add_work(
      {.flops = 2.0 * static_cast<double>(x.values.size()) * static_cast<double>(y.cols)});
  using kernels::Fp8E4m3;
  kernels::grouped_fp8_forward<T>(counts, detail::inverses_of(input, weights),
                                  input.as_it_lies.template padded_matrix<Fp8E4m3>(),
                                  weights.as_it_lies.template padded_matrix<Fp8E4m3>(),
                                  detail::matrix(y), stream());
}

template <typename T>
auto Ops<T>::cast_fp8_gradient(Indices rows, const Fp8Input& dy) -> Fp8Gradient {
  const OpRange op = range("fp8_linear.cast_gradient");
  Fp8Gradient gradient;
  detail::cast_experts(*this, dy.values, {rows.data(), std::ssize(rows)}, dy.scale, Fp8Format::e5m2,
                       detail::Fp8Layouts::both, PoolUse::tensor, gradient);
  count_cast(dy.values, gradient);
  return gradient;
}

template <typename T>
void Ops<T>::fp8_linear_backward_input(Indices rows, const Fp8Gradient& dy,
                                       const Fp8Weight& weights, Out dx) {
  const OpRange op = range("fp8_linear.backward_input");
  profile_.add_work(
      {.flops = 2.0 * static_cast<double>(dx.size()) * static_cast<double>(dy.transposed.rows())});
  using kernels::Fp8E4m3;
  using kernels::Fp8E5m2;
  kernels::grouped_fp8_backward_input<T>(
      {rows.data(), std::ssize(rows)}, detail::inverses_of(dy, weights),
      dy.as_it_lies.template padded_matrix<Fp8E5m2>(),
      weights.transposed.template padded_matrix<Fp8E4m3>(), detail::matrix(dx), stream());
}

template <typename T>
void Ops<T>::fp8_linear_backward_weight(Indices rows, const Fp8Input& x, const Fp8Gradient& dy,
                                        Gradients dweight) {
  const OpRange op = range("fp8_linear.backward_weight");
  const kernels::DeviceCounts counts{rows.data(), std::ssize(rows)};
  Fp8Copies input;
  detail::cast_experts(*this, x.values, counts, x.scale, Fp8Format::e4m3,
                       detail::Fp8Layouts::transposed, PoolUse::tensor, input);
  profile_.add_work({.flops = 2.0 * static_cast<double>(x.values.size()) *
                              static_cast<double>(dy.transposed.rows())});
  using kernels::Fp8E4m3;
  using kernels::Fp8E5m2;
  kernels::grouped_fp8_backward_weight(
      counts, detail::inverses_of(dy, input), input.transposed.template padded_matrix<Fp8E4m3>(),
      dy.transposed.template padded_matrix<Fp8E5m2>(), detail::matrix(dweight), stream());
}

}  // namespace llmb::runner::cuda
