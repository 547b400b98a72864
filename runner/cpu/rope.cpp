#include "runner/cpu/rope.h"

#include <cassert>
#include <cmath>

#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {
namespace {

template <typename T>
void turn(View<const T> table, std::int64_t batch, std::int64_t head_size, T direction, View<T> x) {
  assert(x.rows == table.rows * batch && x.cols % head_size == 0 && table.cols <= head_size);
  const std::int64_t half = table.cols / 2;
  parallel_for(x.rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* cosine = table.row(i / batch);
      const T* sine = cosine + half;
      for (T* head = x.row(i); head < x.row(i) + x.cols; head += head_size) {
        for (std::int64_t j = 0; j < half; ++j) {
          const T first = head[j];
          const T second = head[j + half];
          head[j] = first * cosine[j] - direction * second * sine[j];
          head[j + half] = second * cosine[j] + direction * first * sine[j];
        }
      }
    }
  });
}

}  // namespace

template <typename T>
void Rope<T>::make_table(std::span<const std::int64_t> positions,
                         const RotaryFrequencies& frequencies, View<T> table) {
  const OpTimer timer("rope.make_table");
  assert(table.rows == static_cast<std::int64_t>(positions.size()) && table.cols % 2 == 0);
  const std::int64_t half = table.cols / 2;
  for (std::int64_t s = 0; s < table.rows; ++s) {
    for (std::int64_t j = 0; j < half; ++j) {
      const double angle = static_cast<double>(positions[s]) * frequencies.of_pair(j, half);
      table.row(s)[j] = static_cast<T>(std::cos(angle));
      table.row(s)[j + half] = static_cast<T>(std::sin(angle));
    }
  }
}

template <typename T>
void Rope<T>::forward(View<const T> table, std::int64_t batch, std::int64_t head_size, View<T> x) {
  const OpTimer timer("rope.forward");
  turn<T>(table, batch, head_size, T(1), x);
}

template <typename T>
void Rope<T>::backward(View<const T> table, std::int64_t batch, std::int64_t head_size,
                       View<T> dx) {
  const OpTimer timer("rope.backward");
  turn<T>(table, batch, head_size, T(-1), dx);
}

template struct Rope<float>;
template struct Rope<double>;

}  // namespace llmb::runner::cpu
