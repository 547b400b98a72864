#include "runner/cpu/activation.h"

#include <cassert>
#include <cmath>
#include <numbers>

#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {
namespace {

using parser::Activation;

template <typename T>
struct Curve {
  T value;
  T slope;
};

// x sigmoid(x)
template <typename T>
Curve<T> silu(T x) {
  const T sigmoid = 1 / (1 + std::exp(-x));
  return {x * sigmoid, sigmoid * (1 + x * (1 - sigmoid))};
}

// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), Hendrycks and Gimpel 2016
template <typename T>
Curve<T> gelu(T x) {
  const T factor = std::sqrt(2 * std::numbers::inv_pi_v<T>);
  const T cubic = T(0.044715) * x * x;
  const T tanh = std::tanh(factor * (x + cubic * x));
  const T inner_slope = factor * (1 + 3 * cubic);
  return {x / 2 * (1 + tanh), (1 + tanh) / 2 + x / 2 * (1 - tanh * tanh) * inner_slope};
}

template <typename T>
Curve<T> gate_curve(Activation activation, T x) {
  return activation == Activation::swiglu ? silu(x) : gelu(x);
}

}  // namespace

std::int64_t inputs_per_output(Activation activation) {
  return activation == Activation::squared_relu ? 1 : 2;
}

template <typename T>
void ActivationFunction<T>::forward(Activation activation, View<const T> x, View<T> y) {
  const OpTimer timer("activation.forward");
  assert(x.rows == y.rows && x.cols == y.cols * inputs_per_output(activation));
  parallel_for(x.rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* in = x.row(i);
      T* out = y.row(i);
      for (std::int64_t j = 0; j < y.cols; ++j) {
        if (activation == Activation::squared_relu) {
          out[j] = in[j] > 0 ? in[j] * in[j] : T(0);
        } else {
          out[j] = gate_curve(activation, in[j]).value * in[j + y.cols];
        }
      }
    }
  });
}

template <typename T>
void ActivationFunction<T>::backward(Activation activation, View<const T> x, View<const T> dy,
                                     View<T> dx) {
  const OpTimer timer("activation.backward");
  parallel_for(x.rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* in = x.row(i);
      const T* d_out = dy.row(i);
      T* d_in = dx.row(i);
      for (std::int64_t j = 0; j < dy.cols; ++j) {
        if (activation == Activation::squared_relu) {
          d_in[j] = in[j] > 0 ? 2 * in[j] * d_out[j] : T(0);
        } else {
          const Curve<T> gate = gate_curve(activation, in[j]);
          d_in[j] = gate.slope * in[j + dy.cols] * d_out[j];
          d_in[j + dy.cols] = gate.value * d_out[j];
        }
      }
    }
  });
}

template struct ActivationFunction<float>;
template struct ActivationFunction<double>;

}  // namespace llmb::runner::cpu
