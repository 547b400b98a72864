#include "runner/cuda/ops.h"

#include <fmt/format.h>

#include <cassert>
#include <stdexcept>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/gemm_plans.h"
#include "runner/cuda/ops_fp8_experts_impl.h"
#include "runner/cuda/ops_fp8_impl.h"
#include "runner/cuda/ops_layers_impl.h"
#include "runner/cuda/ops_operands.h"
#include "runner/cuda/ops_tokens_impl.h"

namespace llmb::runner::cuda {
namespace {

// Calls `product` with every expert's index, first row and number of rows.
template <typename Product>
void for_experts(std::span<const std::int64_t> rows, const Product& product) {
  std::int64_t first = 0;
  for (std::int64_t expert = 0; expert < std::ssize(rows); ++expert) {
    const std::int64_t count = rows[static_cast<std::size_t>(expert)];
    if (count > 0) product(expert, first, count);
    first += count;
  }
}

}  // namespace

// What is on the stream may still read memory of the members.
template <typename T>
Ops<T>::~Ops() {
  try {
    finish();
  } catch (...) {  // told by whoever waited before
  }
}

template <typename T>
bool Ops<T>::prepare_graphs(const std::function<void()>& capture) {
  has_prepared_ = true;
  const std::int64_t free_bytes = memory_info().free_bytes;
  try {
    capture();
  } catch (const CommunicationError&) {
    throw;  // the others are not there to agree
  } catch (const CommunicatorFailed&) {
    throw;  // nor on their devices
  } catch (const std::runtime_error& error) {
    graph_use_.is_refused_here = true;
    graph_use_.why_none = error.what();
  }
  graph_use_.device_bytes = free_bytes - memory_info().free_bytes;
  return !graph_use_.is_refused_here;
}

template <typename T>
void Ops<T>::give_up_graphs(int refused_ranks) {
  if (!graph_use_.is_refused_here) {
    graph_use_.why_none = fmt::format("{} of the other ranks could not capture", refused_ranks);
  }
  run_passes(PassMode::as_they_are);
}

template <typename T>
template <typename Segment>
Array<std::byte> Ops<T>::on_device(std::span<const Segment> segments) {
  Array<std::byte> memory(*this, static_cast<std::int64_t>(segments.size_bytes()));
  write<std::byte>(std::as_bytes(segments), memory.values());
  return memory;
}

template <typename T>
void Ops<T>::multiply(const Gemm& gemm) {
  profile_.add_work({.flops = flops_of(gemm)});
  gemm_.run(gemm, stream());
}

template <typename T>
void Ops<T>::copy(In x, Out y) {
  const OpRange op = range("elementwise.copy");
  count_moved(x, y);
  copy_elements<T>(x.values(), y.values());
}

template <typename T>
void Ops<T>::add(In x, Out y) {
  const OpRange op = range("elementwise.add");
  sum(x, y, y);
}

template <typename T>
void Ops<T>::sum(In a, In b, Out y) {
  const OpRange op = range("elementwise.sum");
  count_moved(a, b, y);
  kernels::scaled_copy<T, T>(
      {.x = detail::matrix(a), .y = detail::matrix(y), .addend = detail::matrix(b)}, stream());
}

template <typename T>
void Ops<T>::add_sum(Statistics x, View<double> total) {
  const OpRange op = range("elementwise.add_sum");
  kernels::sum_values(x.data, x.size(), total.data, true, stream());
}

template <typename T>
void Ops<T>::add_gradients(std::span<const float> more, std::span<float> sum) {
  const OpRange op = range("elementwise.add_gradients");
  profile_.add_work({.bytes = 3.0 * static_cast<double>(sum.size_bytes())});
  kernels::scaled_copy<float, float>({.x = {more.data(), 1, std::ssize(more)},
                                      .y = {sum.data(), 1, std::ssize(sum)},
                                      .addend = {sum.data(), 1, std::ssize(sum)}},
                                     stream());
}

template <typename T>
void Ops<T>::linear(In x, In weight, Out y) {
  const OpRange op = range("linear.forward");
  multiply(detail::forward_product(x, weight, y));
}

template <typename T>
void Ops<T>::linear_backward_input(In dy, In weight, Out dx) {
  const OpRange op = range("linear.backward_input");
  multiply(detail::input_product(dy, weight, dx, 0));
}

template <typename T>
void Ops<T>::linear_backward_weight(In x, In dy, Gradients dweight) {
  const OpRange op = range("linear.backward_weight");
  multiply(detail::weight_product(x, dy, dweight));
}

template <typename T>
void Ops<T>::grouped_linear(RowCounts rows, In x, In weight, Out y) {
  const OpRange op = range("grouped_linear.forward");
  const std::int64_t out = weight.rows / std::ssize(rows);
  for_experts(rows, [&](std::int64_t expert, std::int64_t first, std::int64_t count) {
    linear(x.slice(first, count), weight.slice(expert * out, out), y.slice(first, count));
  });
}

template <typename T>
void Ops<T>::grouped_linear_backward_input(RowCounts rows, In dy, In weight, Out dx) {
  const OpRange op = range("grouped_linear.backward_input");
  const std::int64_t out = weight.rows / std::ssize(rows);
  for_experts(rows, [&](std::int64_t expert, std::int64_t first, std::int64_t count) {
    linear_backward_input(dy.slice(first, count), weight.slice(expert * out, out),
                          dx.slice(first, count));
  });
}

template <typename T>
void Ops<T>::grouped_linear_backward_weight(RowCounts rows, In x, In dy, Gradients dweight) {
  const OpRange op = range("grouped_linear.backward_weight");
  const std::int64_t out = dweight.rows / std::ssize(rows);
  for_experts(rows, [&](std::int64_t expert, std::int64_t first, std::int64_t count) {
    linear_backward_weight(x.slice(first, count), dy.slice(first, count),
                           dweight.slice(expert * out, out));
  });
}

template <typename T>
void Ops<T>::add_squares(std::vector<kernels::GradientSegment> segments, View<double> total) {
  const OpRange op = range("adamw.sum_of_squares");
  for (const auto& segment : segments) {
    profile_.add_work({.bytes = static_cast<double>(segment.count) * sizeof(float)});
  }
  if (segments.empty()) return;
  const std::int64_t blocks =
      kernels::place_segments(std::span<kernels::GradientSegment>(segments));
  const Array<std::byte> placed = on_device(std::span<const kernels::GradientSegment>(segments));
  Tensor<double> workspace(*this, 1, blocks + 1);
  double* const sum = workspace.data() + blocks;
  kernels::sum_of_squares(reinterpret_cast<const kernels::GradientSegment*>(placed.values().data()),
                          static_cast<int>(segments.size()), blocks, workspace.data(), sum,
                          stream());
  kernels::sum_values(static_cast<const double*>(sum), 1, total.data, true, stream());
}

template <typename T>
void Ops<T>::norm_and_clip(View<const double> sum_of_squares, double max_norm,
                           View<double> norm_and_scale) {
  const OpRange op = range("adamw.norm_and_clip");
  kernels::clip_factor(sum_of_squares.data, max_norm, norm_and_scale.data, norm_and_scale.data + 1,
                       stream());
}

template <typename T>
void Ops<T>::update(const AdamWSettings& settings, std::int64_t step,
                    View<const double> norm_and_scale,
                    std::vector<kernels::AdamWSegment> segments) {
  const OpRange op = range("adamw.update");
  // Gradient, master and moments are read, all but the gradient written.
  constexpr double kNumbersMoved = 7;
  for (const auto& segment : segments) {
    profile_.add_work(
        {.bytes = kNumbersMoved * static_cast<double>(segment.count) * sizeof(float)});
  }
  if (segments.empty()) return;
  const std::int64_t blocks = kernels::place_segments(std::span<kernels::AdamWSegment>(segments));
  const Array<std::byte> placed = on_device(std::span<const kernels::AdamWSegment>(segments));
  kernels::adamw_update(
      kernels::make_adamw_step(settings.learning_rate, settings.beta1, settings.beta2,
                               settings.epsilon, settings.weight_decay, step),
      reinterpret_cast<const kernels::AdamWSegment*>(placed.values().data()),
      static_cast<int>(segments.size()), blocks, norm_and_scale.data + 1, stream());
}

template <typename T>
void Ops<T>::cast_weights(std::span<const float> master, bool is_narrow, std::span<T> weights) {
  const OpRange op = range("adamw.cast_weights");
  profile_.add_work({.bytes = static_cast<double>(master.size_bytes() + weights.size_bytes())});
  assert(is_narrow == (sizeof(T) < sizeof(float)));
  static_cast<void>(is_narrow);
  kernels::scaled_copy<float, T>(
      {.x = {master.data(), 1, std::ssize(master)}, .y = {weights.data(), 1, std::ssize(weights)}},
      stream());
}

template class Ops<float>;
template class Ops<kernels::Bf16>;

}  // namespace llmb::runner::cuda
