#include "runner/model/head_chunk.h"

#include <algorithm>

namespace llmb::runner {
namespace {

constexpr std::int64_t kLogitsBytesMax = std::int64_t{512} << 20;
constexpr std::int64_t kRowsMin = 1024;
constexpr std::int64_t kRowStep = 128;

}  // namespace

std::int64_t head_chunk_rows(std::int64_t rows, std::int64_t columns, std::int64_t value_bytes) {
  const std::int64_t held = kLogitsBytesMax / (columns * value_bytes) / kRowStep * kRowStep;
  const std::int64_t rows_max = std::max(kRowsMin, held);
  if (rows <= rows_max) return rows;
  const std::int64_t chunks = (rows + rows_max - 1) / rows_max;
  const std::int64_t even = (rows + chunks - 1) / chunks;
  return (even + kRowStep - 1) / kRowStep * kRowStep;
}

}  // namespace llmb::runner
