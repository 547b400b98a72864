#include "runner/cuda/memory_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runner/cuda/graph.h"

namespace llmb::runner::cuda {
namespace {

constexpr std::int64_t kGranule = 512;
constexpr std::uint8_t kPoison = 0xff;  // a NaN in every floating type

std::int64_t whole_granules(std::int64_t bytes) {
  return (bytes + kGranule - 1) / kGranule * kGranule;
}

}  // namespace

MemoryPool::Pieces::iterator MemoryPool::allocate(std::int64_t size) {
  const TakesMemoryInCapture allowed;  // which lasts
  DeviceMemory& memory = allocations_.emplace_back(static_cast<std::size_t>(size));
  allocated_bytes_ += size;
  return pieces_.insert({memory.data(), {size, allocations_.size() - 1, false}}).first;
}

void MemoryPool::reserve(std::int64_t bytes) {
  if (bytes <= 0) return;
  set_free(allocate(whole_granules(bytes)), true);
  reserved_bytes_ = allocated_bytes_;
}

void MemoryPool::set_free(Pieces::iterator piece, bool is_free) {
  piece->second.is_free = is_free;
  if (is_free) {
    free_.emplace(piece->second.size, piece->first);
  } else {
    free_.erase({piece->second.size, piece->first});
  }
}

void MemoryPool::join(Pieces::iterator piece, Pieces::iterator next) {
  if (piece == pieces_.end() || next == pieces_.end()) return;
  const bool are_free = piece->second.is_free && next->second.is_free;
  if (!are_free || piece->second.allocation != next->second.allocation) return;
  set_free(piece, false);
  set_free(next, false);
  piece->second.size += next->second.size;
  pieces_.erase(next);
  set_free(piece, true);
}

std::byte* MemoryPool::take(std::int64_t bytes, PoolUse use) {
  const std::int64_t size = whole_granules(bytes);
  const auto smallest = free_.lower_bound({size, nullptr});
  Pieces::iterator piece;
  if (smallest == free_.end()) {
    piece = allocate(size);
  } else {
    piece = pieces_.find(smallest->second);
    set_free(piece, false);
    const std::int64_t rest = piece->second.size - size;
    if (rest > 0) {
      piece->second.size = size;
      set_free(pieces_.insert({piece->first + size, {rest, piece->second.allocation, false}}).first,
               true);
    }
  }
  if (use == PoolUse::tensor) {
    tensor_bytes_.bytes += size;
    tensor_bytes_.bytes_max = std::max(tensor_bytes_.bytes_max, tensor_bytes_.bytes);
  }
  if (is_noting_) {
    std::byte*& end = noted_[piece->first];
    end = std::max(end, piece->first + size);
  }
  return piece->first;
}

void MemoryPool::begin_noting() {
  is_noting_ = true;
  noted_.clear();
}

PoolStretches MemoryPool::end_noting() {
  is_noting_ = false;
  PoolStretches stretches;
  for (const auto& [begin, end] : noted_) {
    if (stretches.empty() || stretches.back().end < begin) {
      stretches.push_back({begin, end});
    } else {
      stretches.back().end = std::max(stretches.back().end, end);
    }
  }
  noted_.clear();
  return stretches;
}

bool MemoryPool::are_free(const PoolStretches& stretches) const {
  return std::all_of(stretches.begin(), stretches.end(), [this](const PoolStretch& stretch) {
    // Two allocations may touch one another.
    for (const std::byte* at = stretch.begin; at < stretch.end;) {
      const auto piece = std::prev(pieces_.upper_bound(const_cast<std::byte*>(at)));
      if (!piece->second.is_free) return false;
      at = piece->first + piece->second.size;
    }
    return true;
  });
}

void MemoryPool::give_back(std::byte* data, PoolUse use) {
  const auto piece = pieces_.find(data);
  if (use == PoolUse::tensor) tensor_bytes_.bytes -= piece->second.size;
  set_free(piece, true);
  join(piece, std::next(piece));
  if (piece != pieces_.begin()) join(std::prev(piece), piece);
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
