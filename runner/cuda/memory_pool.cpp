#include "runner/cuda/memory_pool.h"

#include <algorithm>
#include <utility>

namespace llmb::runner::cuda {
namespace {

constexpr std::int64_t kGranule = 512;
constexpr std::uint8_t kPoison = 0xff;  // a NaN in every floating type

}  // namespace

std::byte* MemoryPool::take(std::int64_t bytes, PoolUse use) {
  const std::int64_t size = (bytes + kGranule - 1) / kGranule * kGranule;
  std::byte* data = nullptr;
  // Twice as much as asked for would be waste.
  const auto fitting = free_.lower_bound(size);
  if (fitting != free_.end() && fitting->first < 2 * size) {
    data = fitting->second;
    free_.erase(fitting);
  } else {
    DeviceMemory memory(static_cast<std::size_t>(size));
    data = memory.data();
    all_.emplace(data, std::move(memory));
    allocated_bytes_ += size;
  }
  if (use == PoolUse::tensor) {
    tensor_bytes_.bytes += static_cast<std::int64_t>(all_.at(data).bytes());
    tensor_bytes_.bytes_max = std::max(tensor_bytes_.bytes_max, tensor_bytes_.bytes);
  }
  return data;
}

void MemoryPool::give_back(std::byte* data, PoolUse use) {
  const auto size = static_cast<std::int64_t>(all_.at(data).bytes());
  if (use == PoolUse::tensor) tensor_bytes_.bytes -= size;
  free_.emplace(size, data);
}

void PoolBlock::resize(MemoryPool& pool, std::int64_t bytes, PoolUse use) {
  if (bytes > capacity_bytes_) {
    release();
    data_ = pool.take(bytes, use);
    pool_ = &pool;
    capacity_bytes_ = bytes;
    use_ = use;
  }
#ifndef NDEBUG
  fill_async(data_, kPoison, static_cast<std::size_t>(bytes), pool.stream());
#endif
}

void PoolBlock::release() {
  if (data_) pool_->give_back(data_, use_);
  data_ = nullptr;
  capacity_bytes_ = 0;
}

void PoolBlock::swap(PoolBlock& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(capacity_bytes_, other.capacity_bytes_);
  std::swap(use_, other.use_);
}

}  // namespace llmb::runner::cuda
