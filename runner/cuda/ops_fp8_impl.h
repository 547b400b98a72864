// The definitions of ops.h for products of FP8 operands: included by ops_instances.cpp only.
// Such a product takes both operands with what it sums over along their rows: a matrix is cast as
// it lies, transposed, or both from one read. In blocks of MXFP8, which lie along the sum, the two
// layouts are two roundings.
#pragma once

#include <cstdint>

#include "runner/cuda/ops.h"
#include "runner/cuda/ops_operands.h"
#include "runner/kernels/quantize.h"
#include "runner/operation/fp8_format.h"

namespace llmb::runner::cuda {
namespace detail {

enum class Fp8Layouts : std::uint8_t { as_it_lies, transposed, both };

inline Fp8Layouts layouts_for(Fp8WeightUse use) {
  switch (use) {
    case Fp8WeightUse::forward:
      return Fp8Layouts::as_it_lies;
    case Fp8WeightUse::backward:
      return Fp8Layouts::transposed;
    case Fp8WeightUse::whole_step:
      break;
  }
  return Fp8Layouts::both;
}

inline NumberType number_type_of(Fp8ScaleKind kind, Fp8Format format) {
  if (kind == Fp8ScaleKind::blocks) return NumberType::mxfp8;
  return format == Fp8Format::e4m3 ? NumberType::fp8_e4m3 : NumberType::fp8_e5m2;
}

// By a scale that is known, or will be when the cast is launched; a delayed one's maxima are found
// by the cast itself, for the next step.
template <typename Fp8, typename T>
kernels::Cast<T, Fp8> cast_into(View<const T> x, const Fp8Scale& scale, Fp8Layouts layouts,
                                Fp8Copies& copies) {
  kernels::Cast<T, Fp8> cast;
  cast.x = matrix(x);
  cast.scale = scale.scale;
  if (layouts != Fp8Layouts::transposed) cast.y = copies.as_it_lies.matrix<Fp8>();
  if (layouts != Fp8Layouts::as_it_lies) cast.transposed = copies.transposed.matrix<Fp8>();
  if (scale.kind == Fp8ScaleKind::delayed) cast.largest = scale.largest;
  return cast;
}

// With a scale for the whole matrix.
template <typename Fp8, typename T>
void cast_by_scale(View<const T> x, const Fp8Scale& scale, Fp8Layouts layouts, Fp8Copies& copies,
                   Stream stream) {
  const kernels::Cast<T, Fp8> cast = cast_into<Fp8>(x, scale, layouts, copies);
  if (scale.kind != Fp8ScaleKind::delayed) {
    fill_async(scale.largest, 0, sizeof(float), stream);
    kernels::absolute_max<T>(cast.x, scale.largest, stream);
    kernels::fp8_scale(scale.largest, kernels::kFp8Max<Fp8>, scale.scale, scale.inverse, stream);
  }
  kernels::cast(cast, stream);
}

template <typename T>
void cast_in_blocks(View<const T> x, Fp8Layouts layouts, Fp8Copies& copies, Stream stream) {
  using kernels::Fp8E4m3;
  kernels::MxCast<T> cast;
  cast.x = matrix(x);
  if (layouts != Fp8Layouts::transposed) {
    cast.y = copies.as_it_lies.matrix<Fp8E4m3>();
    cast.scales = copies.as_it_lies.scales();
  }
  if (layouts != Fp8Layouts::as_it_lies) {
    cast.transposed = copies.transposed.matrix<Fp8E4m3>();
    cast.transposed_scales = copies.transposed.scales();
  }
  kernels::mx_cast(cast, stream);
}

// Into the layouts that are wanted of `copies`; blocks are E4M3 whatever the format is.
template <typename T>
void cast_to_fp8(MemoryPool& pool, View<const T> x, const Fp8Scale& scale, Fp8Format format,
                 Fp8Layouts layouts, PoolUse use, Fp8Copies& copies) {
  const NumberType type = number_type_of(scale.kind, format);
  copies.inverse = scale.inverse;
  if (layouts != Fp8Layouts::transposed) {
    copies.as_it_lies.resize(pool, type, x.rows, x.cols, use);
  }
  if (layouts != Fp8Layouts::as_it_lies) {
    copies.transposed.resize(pool, type, x.cols, x.rows, use);
  }
  if (type == NumberType::mxfp8) {
    cast_in_blocks(x, layouts, copies, pool.stream());
  } else if (type == NumberType::fp8_e4m3) {
    cast_by_scale<kernels::Fp8E4m3>(x, scale, layouts, copies, pool.stream());
  } else {
    cast_by_scale<kernels::Fp8E5m2>(x, scale, layouts, copies, pool.stream());
  }
}

template <typename T>
Fp8Copies fp8_copies(MemoryPool& pool, View<const T> x, const Fp8Scale& scale, Fp8Format format,
                     Fp8Layouts layouts) {
  Fp8Copies copies;
  cast_to_fp8(pool, x, scale, format, layouts, PoolUse::tensor, copies);
  return copies;
}

// d = a b^T (+ d), summed over the padded columns of both.
template <typename Result>
Gemm fp8_product(const Fp8Copy& a, const float* a_inverse, const Fp8Copy& b, const float* b_inverse,
                 View<Result> d, float beta) {
  return product(a.rows(), b.rows(), a.padded_cols(), a.operand(false, a_inverse),
                 b.operand(true, b_inverse), d, beta);
}

}  // namespace detail

template <typename T>
void Ops<T>::cast_fp8_weight(const Fp8Input& weight, Fp8WeightUse use, Fp8Weight& to) {
  const OpRange op = range("fp8_linear.cast_weight");
  detail::cast_to_fp8(*this, weight.values, weight.scale, Fp8Format::e4m3, detail::layouts_for(use),
                      use == Fp8WeightUse::whole_step ? PoolUse::lasting : PoolUse::tensor, to);
  count_cast(weight.values, to);
}

template <typename T>
void Ops<T>::fp8_linear(const Fp8Input& x, const Fp8Weight& weight, Out y) {
  const OpRange op = range("fp8_linear.forward");
  if (y.rows == 0) return;
  const auto input =
      detail::fp8_copies(*this, x.values, x.scale, Fp8Format::e4m3, detail::Fp8Layouts::as_it_lies);
  multiply(detail::fp8_product(input.as_it_lies, input.inverse, weight.as_it_lies, weight.inverse,
                               y, 0));
}

template <typename T>
auto Ops<T>::cast_fp8_gradient(const Fp8Input& dy) -> Fp8Gradient {
  const OpRange op = range("fp8_linear.cast_gradient");
  if (dy.values.rows == 0) return {};
  auto gradient =
      detail::fp8_copies(*this, dy.values, dy.scale, Fp8Format::e5m2, detail::Fp8Layouts::both);
  count_cast(dy.values, gradient);
  return gradient;
}

template <typename T>
void Ops<T>::fp8_linear_backward_input(const Fp8Gradient& dy, const Fp8Weight& weight, Out dx) {
  const OpRange op = range("fp8_linear.backward_input");
  if (dx.rows == 0) return;
  multiply(
      detail::fp8_product(dy.as_it_lies, dy.inverse, weight.transposed, weight.inverse, dx, 0));
}

template <typename T>
void Ops<T>::fp8_linear_backward_weight(const Fp8Input& x, const Fp8Gradient& dy,
                                        Gradients dweight) {
  const OpRange op = range("fp8_linear.backward_weight");
  if (x.values.rows == 0) return;
  const auto input =
      detail::fp8_copies(*this, x.values, x.scale, Fp8Format::e4m3, detail::Fp8Layouts::transposed);
  multiply(
      detail::fp8_product(dy.transposed, dy.inverse, input.transposed, input.inverse, dweight, 1));
}

}  // namespace llmb::runner::cuda
