// Ops: the operations that a transformer is written over, as the CPU has them. runner/model names
// nothing else of a backend, so another one is another such list: the same names, over its own
// tensors, with the same shapes and the same meaning to the letter.
#pragma once

#include "runner/cpu/activation.h"
#include "runner/cpu/attention.h"
#include "runner/cpu/cross_entropy.h"
#include "runner/cpu/elementwise.h"
#include "runner/cpu/embedding.h"
#include "runner/cpu/expert_rows.h"
#include "runner/cpu/linear.h"
#include "runner/cpu/norm.h"
#include "runner/cpu/qkv_heads.h"
#include "runner/cpu/quantize.h"
#include "runner/cpu/rope.h"
#include "runner/cpu/router.h"
#include "runner/cpu/row_order.h"
#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

// T is float, or double for checks.
template <typename T>
struct Ops {
  using Element = T;
  using Tensor = cpu::Tensor<T>;
  using IndexTensor = cpu::Tensor<std::int64_t>;
  using View = cpu::View<T>;
  using ConstView = cpu::View<const T>;
  // Sums over a whole step, which the trainer reads once at its end.
  using Totals = cpu::Tensor<double>;
  using TotalsView = cpu::View<double>;

  using Activation = cpu::ActivationFunction<T>;
  using Attention = cpu::Attention<T>;
  using AttentionShape = cpu::AttentionShape;
  using AuxiliaryLoss = cpu::AuxiliaryLoss<T>;
  using CrossEntropy = cpu::CrossEntropy<T>;
  using Elementwise = cpu::Elementwise<T>;
  using Embedding = cpu::Embedding<T>;
  using ExpertOrder = cpu::ExpertOrder;
  using ExpertRows = cpu::ExpertRows<T>;
  using Fp8Format = cpu::Fp8Format;
  using GroupedLinear = cpu::GroupedLinear<T>;
  using LayerNorm1p = cpu::LayerNorm1p<T>;
  using Linear = cpu::Linear<T>;
  using QkvHeads = cpu::QkvHeads<T>;
  using Quantize = cpu::Quantize<T>;
  using RmsNorm = cpu::RmsNorm<T>;
  using Rope = cpu::Rope<T>;
  using RotaryFrequencies = cpu::RotaryFrequencies;
  using Router = cpu::Router<T>;
  using RouterScore = cpu::RouterScore;
  using RowOrder = cpu::RowOrder<T>;
};

}  // namespace llmb::runner::cpu
