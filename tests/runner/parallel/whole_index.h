// Where an element of one rank's part lies in the whole parameter: how tests join the ranks' parts.
#pragma once

#include <cstdint>

#include "runner/model/parameter_store.h"

namespace llmb::runner::testing {

template <typename Backend>
std::int64_t whole_index(const LocalParameter<Backend>& local, std::int64_t index) {
  std::int64_t whole = 0;
  std::int64_t stride = 1;
  for (std::size_t axis = local.local_shape.size(); axis-- > 0;) {
    whole += (index % local.local_shape[axis] + local.origin[axis]) * stride;
    index /= local.local_shape[axis];
    stride *= local.parameter.shape[axis];
  }
  return whole;
}

}  // namespace llmb::runner::testing
