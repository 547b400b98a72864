// AdamW with decoupled weight decay and bias correction, and clipping by the global norm of the
// gradients. Source: Loshchilov and Hutter 2019; Pascanu et al. 2013. Works on any stretch of
// parameters, so that ranks can share them out.
#pragma once

#include <cstdint>
#include <span>

#include "runner/operation/adamw_settings.h"

namespace llmb::runner::cpu {

using runner::AdamWSettings;
using runner::clip_scale;

template <typename T>
struct AdamW {
  // Sum of squares in double precision, in an order that only the length decides. The norm of all
  // gradients is the root of the sum over every stretch of distinct parameters.
  static double sum_of_squares(std::span<const T> gradients);
  // `step` counts from 1. Gradients are multiplied by gradient_scale first. All spans are of one
  // length; parameters and both moments are updated.
  static void update(const AdamWSettings& settings, std::int64_t step, double gradient_scale,
                     std::span<const T> gradients, std::span<T> parameters,
                     std::span<T> first_moments, std::span<T> second_moments);
};

}  // namespace llmb::runner::cpu
