// AdamWSettings: the numbers of AdamW, whatever backend computes it, and the factor that clips
// gradients by their global norm. Source: Loshchilov and Hutter 2019; Pascanu et al. 2013.
#pragma once

namespace llmb::runner {

struct AdamWSettings {
  double learning_rate = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;
};

// What gradients of this norm are multiplied by, so that it is at most max_norm; 1 for no limit
// (max_norm 0).
inline double clip_scale(double gradient_norm, double max_norm) {
  if (max_norm <= 0 || gradient_norm <= max_norm) return 1;
  return max_norm / (gradient_norm + 1e-6);
}

}  // namespace llmb::runner
