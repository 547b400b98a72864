#include "runner/cpu/row_order.h"

#include <algorithm>
#include <cassert>

#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {

template <typename T>
void RowOrder<T>::take(std::span<const std::int64_t> order, View<const T> in, View<T> out) {
  const OpTimer timer("row_order.take");
  assert(static_cast<std::int64_t>(order.size()) == out.rows);
  parallel_for(out.rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) std::copy_n(in.row(order[i]), in.cols, out.row(i));
  });
}

template <typename T>
void RowOrder<T>::put(std::span<const std::int64_t> order, View<const T> in, View<T> out) {
  const OpTimer timer("row_order.put");
  assert(static_cast<std::int64_t>(order.size()) == in.rows);
  parallel_for(in.rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) std::copy_n(in.row(i), in.cols, out.row(order[i]));
  });
}

template struct RowOrder<float>;
template struct RowOrder<double>;

}  // namespace llmb::runner::cpu
