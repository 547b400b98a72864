// AdamW with decoupled weight decay and bias correction, and clipping by the global norm of the
// gradients. Source: Loshchilov and Hutter 2019; Pascanu et al. 2013. Works on any stretch of
// parameters, so that ranks can share them out.
#pragma once

#include <cstdint>
#include <span>

namespace llmb::runner::cpu {

struct AdamWSettings {
  double learning_rate = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;
};

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

// What gradients of this norm are multiplied by, so that it is at most max_norm; 1 for no limit
// (max_norm 0).
double clip_scale(double gradient_norm, double max_norm);

}  // namespace llmb::runner::cpu
