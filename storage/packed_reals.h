// A column of reals in few bytes and to the bit: what logs print has few decimals, or was computed
// in single precision.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/packed_values.h"

namespace llmb::storage {

// To the bit: a NaN is itself, and -0 is not 0.
inline bool is_same_real(double one, double other) {
  return std::bit_cast<std::uint64_t>(one) == std::bit_cast<std::uint64_t>(other);
}

void pack_reals(PackWriter& writer, std::span<const double> values);
// So many as were packed; `name` is that of the column. Throws BadField.
std::vector<double> unpack_reals(PackReader& reader, const char* name, std::size_t count);

}  // namespace llmb::storage
