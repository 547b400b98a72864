// Short names for a backend's memory as the model uses it. A backend (cpu::Backend is one) says
// which elements values, statistics, gradients, master weights and indices have, what a tensor, a
// view and an array are, and which handle has the operations (cpu::Ops says what each one means).
#pragma once

#include <cstdint>

namespace llmb::runner {

template <typename Backend>
using ValueTensor = typename Backend::template Tensor<typename Backend::Value>;
template <typename Backend>
using StatisticTensor = typename Backend::template Tensor<typename Backend::Statistic>;
template <typename Backend>
using IndexTensor = typename Backend::template Tensor<typename Backend::Index>;
template <typename Backend>
using IndexArray = typename Backend::template Array<typename Backend::Index>;

template <typename Backend>
using ValueView = typename Backend::template View<typename Backend::Value>;
template <typename Backend>
using ConstValueView = typename Backend::template View<const typename Backend::Value>;
template <typename Backend>
using StatisticView = typename Backend::template View<typename Backend::Statistic>;
template <typename Backend>
using ConstStatisticView = typename Backend::template View<const typename Backend::Statistic>;
template <typename Backend>
using GradientView = typename Backend::template View<typename Backend::Gradient>;

// Sums over a whole step, which the trainer reads once at its end.
template <typename Backend>
using Totals = typename Backend::template Tensor<double>;
template <typename Backend>
using TotalsView = typename Backend::template View<double>;

}  // namespace llmb::runner
