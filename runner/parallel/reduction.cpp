#include "runner/parallel/reduction.h"

#include <algorithm>
#include <vector>

#include "runner/cpu/rounding.h"

namespace llmb::runner {
namespace {

template <typename T>
void add(T* accumulated, const T* more, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) accumulated[i] += more[i];
}

template <typename T>
void raise(T* accumulated, const T* more, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_nan = more[i] != more[i];
    if (more[i] > accumulated[i] || is_nan) accumulated[i] = more[i];
  }
}

template <typename T>
void reduce(ReduceOp op, std::span<const void* const> sources, std::size_t first, std::size_t count,
            T* result) {
  constexpr std::size_t kBlock = 4096;  // stays in the first cache over all sources
  // A source that the result replaces is kept for as long as a block takes.
  std::vector<T> kept;
  const void* replaced = nullptr;
  for (const void* source : sources.subspan(1)) {
    if (static_cast<const T*>(source) + first == result) replaced = source;
  }
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t length = std::min(kBlock, count - begin);
    T* block = result + begin;
    if (replaced) kept.assign(block, block + length);
    const T* origin = static_cast<const T*>(sources[0]) + first + begin;
    if (origin != block) std::copy_n(origin, length, block);
    for (const void* source : sources.subspan(1)) {
      const T* more =
          source == replaced ? kept.data() : static_cast<const T*>(source) + first + begin;
      op == ReduceOp::sum ? add(block, more, length) : raise(block, more, length);
    }
  }
}

// Wide until all are there, then rounded once.
void reduce_bfloat16(ReduceOp op, std::span<const void* const> sources, std::size_t first,
                     std::size_t count, std::uint16_t* result) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&](const void* source) {
      return cpu::decode_bf16(static_cast<const std::uint16_t*>(source)[first + i]);
    };
    float value = at(sources[0]);
    for (const void* source : sources.subspan(1)) {
      const float more = at(source);
      op == ReduceOp::sum ? add(&value, &more, 1) : raise(&value, &more, 1);
    }
    result[i] = cpu::encode_bf16(value);
  }
}

}  // namespace

void reduce_in_order(ReduceOp op, ElementType type, std::span<const void* const> sources,
                     std::size_t first, std::size_t count, void* result) {
  switch (type) {
    case ElementType::float32:
      return reduce(op, sources, first, count, static_cast<float*>(result));
    case ElementType::float64:
      return reduce(op, sources, first, count, static_cast<double*>(result));
    case ElementType::bfloat16:
      return reduce_bfloat16(op, sources, first, count, static_cast<std::uint16_t*>(result));
    case ElementType::int32:
      return reduce(op, sources, first, count, static_cast<std::int32_t*>(result));
    case ElementType::int64:
      return reduce(op, sources, first, count, static_cast<std::int64_t*>(result));
    case ElementType::byte:
      throw std::invalid_argument("bytes cannot be reduced");
  }
}

Slice slice_of(std::size_t count, int parts, int index) {
  const auto n = static_cast<std::size_t>(parts);
  const auto i = static_cast<std::size_t>(index);
  const std::size_t first = count / n * i + std::min(i, count % n);
  return {first, count / n + (i < count % n ? 1 : 0)};
}

}  // namespace llmb::runner
