#include "runner/model/parameter_values.h"

#include <algorithm>
#include <cmath>

#include "runner/cpu/parallel_for.h"
#include "runner/data/counter_random.h"

namespace llmb::runner {
namespace {

double standard_deviation(const ModelSpec& spec, Initialization initialization) {
  if (initialization == Initialization::normal) return spec.initial_std;
  return spec.initial_std / std::sqrt(2.0 * static_cast<double>(spec.shape.layer_count));
}

// The index, in the whole tensor, of the first element of one row of the part.
std::int64_t row_begin(const Parameter& parameter, std::span<const std::int64_t> local_shape,
                       std::span<const std::int64_t> origin, std::int64_t row) {
  std::int64_t stride = parameter.shape.back();
  std::int64_t index = origin.back();
  for (std::size_t axis = local_shape.size() - 1; axis-- > 0;) {
    index += (row % local_shape[axis] + origin[axis]) * stride;
    row /= local_shape[axis];
    stride *= parameter.shape[axis];
  }
  return index;
}

}  // namespace

template <typename T>
void draw_values(const Parameter& parameter, std::span<const std::int64_t> local_shape,
                 std::span<const std::int64_t> origin, const ModelSpec& spec, std::uint64_t seed,
                 std::int64_t first, std::span<T> values) {
  const Initialization initialization = parameter.initialization;
  if (initialization == Initialization::ones || initialization == Initialization::zeros) {
    std::fill(values.begin(), values.end(), initialization == Initialization::ones ? T{1} : T{0});
    return;
  }
  const std::uint64_t key = combine_key(key_of(parameter.name), seed);
  const double deviation = standard_deviation(spec, initialization);
  const std::int64_t row_length = local_shape.back();
  // A logarithm and a cosine each: a thread alone needs minutes for what fills a GPU.
  constexpr std::int64_t kGrain = 1 << 14;
  cpu::parallel_for(std::ssize(values), kGrain, [&](std::int64_t done, std::int64_t end) {
    while (done < end) {
      const std::int64_t row = (first + done) / row_length;
      const std::int64_t column = (first + done) % row_length;
      const std::int64_t begin = row_begin(parameter, local_shape, origin, row) + column;
      const std::int64_t count = std::min(row_length - column, end - done);
      for (std::int64_t i = 0; i < count; ++i) {
        values[static_cast<std::size_t>(done + i)] =
            static_cast<T>(deviation * normal_at(key, static_cast<std::uint64_t>(begin + i)));
      }
      done += count;
    }
  });
}

template void draw_values(const Parameter&, std::span<const std::int64_t>,
                          std::span<const std::int64_t>, const ModelSpec&, std::uint64_t,
                          std::int64_t, std::span<float>);
template void draw_values(const Parameter&, std::span<const std::int64_t>,
                          std::span<const std::int64_t>, const ModelSpec&, std::uint64_t,
                          std::int64_t, std::span<double>);

}  // namespace llmb::runner
