// MemoryPool: the device memory of one rank, whose work is on one stream. What is given back serves
// the next who asks, at once, because the stream keeps their order. It has what was reserved, in
// one piece, and grows by what is asked for beyond that; so after the first steps nothing is
// allocated any more, and nothing at all where a plan's bytes were reserved. It does not shrink.
// What is free is cut to size, and becomes one piece again with what is free beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"

namespace llmb::runner::cuda {

// Bytes of tensors, and the most there were.
struct TensorBytes {
  std::int64_t bytes = 0;
  std::int64_t bytes_max = 0;
};

// Whether the meter counts: tensors of a pass, or what stays from step to step.
enum class PoolUse : std::uint8_t { tensor, lasting };

// Parts of a pool's memory that do not touch one another, by address.
struct PoolStretch {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
};
using PoolStretches = std::vector<PoolStretch>;

// Used by the rank's thread; outlives every PoolBlock.
class MemoryPool {
 public:
  MemoryPool() = default;
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // Takes so much from the device at once, before anything is asked for. Throws OutOfDeviceMemory.
  void reserve(std::int64_t bytes);

  Stream stream() const { return stream_; }
  const TensorBytes& tensor_bytes() const { return tensor_bytes_; }
  std::int64_t allocated_bytes() const { return allocated_bytes_; }
  // Of that, what was taken later than reserved.
  std::int64_t grown_bytes() const { return allocated_bytes_ - reserved_bytes_; }

  // What it gives from here on, until the end, is noted, whether or not it comes back.
  void begin_noting();
  PoolStretches end_noting();
  bool is_noting() const { return is_noting_; }
  // All of it, at this moment.
  bool are_free(const PoolStretches& stretches) const;

 private:
  friend class PoolBlock;
  // A piece of an allocation; those of one lie side by side, and two that do are not both free.
  struct Piece {
    std::int64_t size = 0;
    std::size_t allocation = 0;
    bool is_free = false;
  };
  using Pieces = std::map<std::byte*, Piece>;

  std::byte* take(std::int64_t bytes, PoolUse use);
  void give_back(std::byte* data, PoolUse use);
  Pieces::iterator allocate(std::int64_t size);
  void set_free(Pieces::iterator piece, bool is_free);
  // `next` becomes a part of `piece`, if both are free and of one allocation.
  void join(Pieces::iterator piece, Pieces::iterator next);

  OwnedStream stream_;
  std::vector<DeviceMemory> allocations_;
  Pieces pieces_;
  std::set<std::pair<std::int64_t, std::byte*>> free_;  // by size
  TensorBytes tensor_bytes_;
  std::int64_t allocated_bytes_ = 0;
  std::int64_t reserved_bytes_ = 0;
  bool is_noting_ = false;
  std::map<std::byte*, std::byte*> noted_;  // the farthest end, by the beginning
};

// A piece of a pool's memory; its contents are not set. Builds with assertions poison it, so that
// what is read before it was written is NaN.
class PoolBlock {
 public:
  PoolBlock() = default;
  ~PoolBlock() { release(); }
  PoolBlock(PoolBlock&& other) noexcept { swap(other); }
  PoolBlock& operator=(PoolBlock&& other) noexcept {
    swap(other);
    return *this;
  }

  // Keeps what it has where that is enough.
  void resize(MemoryPool& pool, std::int64_t bytes, PoolUse use);
  void release();
  std::byte* data() const { return data_; }

 private:
  void swap(PoolBlock& other) noexcept;

  MemoryPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  std::int64_t capacity_bytes_ = 0;
  PoolUse use_ = PoolUse::tensor;
};

}  // namespace llmb::runner::cuda
