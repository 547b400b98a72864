// What a parameter's elements begin as: the value depends on the seed, the parameter's name and the
// element's index in the whole tensor only, so that every layout trains the same model.
#pragma once

#include <cstdint>
#include <span>

#include "runner/model/parameters.h"

namespace llmb::runner {

// Elements [first, first + values.size()) of the part that has `local_shape` from `origin` on, in
// the part's own order. On the rank's threads (cpu/parallel_for.h).
template <typename T>  // float, double
void draw_values(const Parameter& parameter, std::span<const std::int64_t> local_shape,
                 std::span<const std::int64_t> origin, const ModelSpec& spec, std::uint64_t seed,
                 std::int64_t first, std::span<T> values);

}  // namespace llmb::runner
