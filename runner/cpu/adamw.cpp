#include "runner/cpu/adamw.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {
namespace {
constexpr std::int64_t kAdamwBlock = 16384;
}

template <typename T>
double AdamW<T>::sum_of_squares(std::span<const T> gradients) {
  const OpTimer timer("adamw.sum_of_squares");
  const auto count = static_cast<std::int64_t>(gradients.size());
  std::vector<double> sums(static_cast<std::size_t>((count + kAdamwBlock - 1) / kAdamwBlock));
  parallel_for(count, kAdamwBlock, [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      sum += static_cast<double>(gradients[i]) * static_cast<double>(gradients[i]);
    }
    sums[begin / kAdamwBlock] = sum;
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

template <typename T>
void AdamW<T>::update(const AdamWSettings& settings, std::int64_t step, double gradient_scale,
                      std::span<const T> gradients, std::span<T> parameters,
                      std::span<T> first_moments, std::span<T> second_moments) {
  const OpTimer timer("adamw.update");
  const double exponent = static_cast<double>(step);
  const T beta1 = static_cast<T>(settings.beta1);
  const T beta2 = static_cast<T>(settings.beta2);
  const T scale = static_cast<T>(gradient_scale);
  const T step_size =
      static_cast<T>(settings.learning_rate / (1 - std::pow(settings.beta1, exponent)));
  const T correction = static_cast<T>(1 / std::sqrt(1 - std::pow(settings.beta2, exponent)));
  const T epsilon = static_cast<T>(settings.epsilon);
  const T keep = static_cast<T>(1 - settings.learning_rate * settings.weight_decay);
  parallel_for(static_cast<std::int64_t>(parameters.size()), kAdamwBlock,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const T gradient = gradients[i] * scale;
                   T& first = first_moments[i];
                   T& second = second_moments[i];
                   first = beta1 * first + (1 - beta1) * gradient;
                   second = beta2 * second + (1 - beta2) * gradient * gradient;
                   parameters[i] = keep * parameters[i] -
                                   step_size * first / (std::sqrt(second) * correction + epsilon);
                 }
               });
}

template struct AdamW<float>;
template struct AdamW<double>;

}  // namespace llmb::runner::cpu
