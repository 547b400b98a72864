// Sums and products of counts from 0 that stay at the largest number where they would exceed it.
#pragma once

#include <cstdint>

namespace llmb::parser {

inline std::int64_t bounded_product(std::int64_t a, std::int64_t b) {
  return a > 0 && b > INT64_MAX / a ? INT64_MAX : a * b;
}

inline std::int64_t bounded_sum(std::int64_t a, std::int64_t b) {
  return b > INT64_MAX - a ? INT64_MAX : a + b;
}

}  // namespace llmb::parser
