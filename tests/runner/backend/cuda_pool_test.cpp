// MemoryPool: what it cuts, joins, counts and gives, over the double and on a device.
#include "runner/cuda/memory_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner::cuda {
namespace {

constexpr std::int64_t kGranule = 512;

PoolBlock block_of(MemoryPool& pool, std::int64_t granules, PoolUse use = PoolUse::tensor) {
  PoolBlock block;
  block.resize(pool, granules * kGranule, use);
  return block;
}

class Pool : public testing::OnDevice {};

TEST_F(Pool, CutsWhatIsFreeToSize) {
  MemoryPool pool;
  block_of(pool, 8);
  EXPECT_EQ(pool.allocated_bytes(), 8 * kGranule);
  const PoolBlock first = block_of(pool, 3);
  const PoolBlock second = block_of(pool, 5);
  EXPECT_EQ(pool.allocated_bytes(), 8 * kGranule);
  EXPECT_EQ(pool.tensor_bytes().bytes, 8 * kGranule) << "and no more than was asked for";
  EXPECT_EQ(second.data(), first.data() + 3 * kGranule);
  const PoolBlock third = block_of(pool, 1);
  EXPECT_EQ(pool.allocated_bytes(), 9 * kGranule);
}

TEST_F(Pool, JoinsWhatIsFreeSideBySide) {
  MemoryPool pool;
  block_of(pool, 8);
  for (const bool is_first_last : {false, true}) {
    PoolBlock first = block_of(pool, 3);
    PoolBlock second = block_of(pool, 2);
    PoolBlock third = block_of(pool, 3);
    (is_first_last ? third : first).release();
    second.release();
    (is_first_last ? first : third).release();
    const PoolBlock whole = block_of(pool, 8);
    EXPECT_EQ(pool.allocated_bytes(), 8 * kGranule);
  }
}

// Addresses may follow one another by chance; memory of two allocations is not one.
TEST_F(Pool, JoinsNothingOfTwoAllocations) {
  MemoryPool pool;
  {
    const PoolBlock first = block_of(pool, 4);
    const PoolBlock second = block_of(pool, 4);
  }
  const PoolBlock larger = block_of(pool, 8);
  EXPECT_EQ(pool.allocated_bytes(), 16 * kGranule);
}

TEST_F(Pool, TakesTheSmallestPieceThatIsEnough) {
  MemoryPool pool;
  {
    const PoolBlock large = block_of(pool, 9);
    const PoolBlock small = block_of(pool, 4);
  }
  const PoolBlock three = block_of(pool, 3);
  const PoolBlock nine = block_of(pool, 9);
  EXPECT_EQ(pool.allocated_bytes(), 13 * kGranule);
}

TEST_F(Pool, CountsTensorsOnly) {
  MemoryPool pool;
  const PoolBlock lasting = block_of(pool, 4, PoolUse::lasting);
  EXPECT_EQ(pool.tensor_bytes().bytes, 0);
  block_of(pool, 2);
  EXPECT_EQ(pool.tensor_bytes().bytes, 0);
  EXPECT_EQ(pool.tensor_bytes().bytes_max, 2 * kGranule);
}

TEST_F(Pool, TakesFromWhatWasReserved) {
  MemoryPool pool;
  pool.reserve(10 * kGranule - 1);
  EXPECT_EQ(pool.allocated_bytes(), 10 * kGranule);
  const PoolBlock first = block_of(pool, 4);
  const PoolBlock second = block_of(pool, 6, PoolUse::lasting);
  EXPECT_EQ(second.data(), first.data() + 4 * kGranule);
  EXPECT_EQ(pool.grown_bytes(), 0);
  const PoolBlock third = block_of(pool, 2);
  EXPECT_EQ(pool.grown_bytes(), 2 * kGranule) << "what is beyond is taken then";
}

// Whole, and at the moment when it is asked.
TEST_F(Pool, KnowsWhetherWhatItNotedIsFree) {
  MemoryPool pool;
  block_of(pool, 16);
  const PoolBlock before = block_of(pool, 2);
  pool.begin_noting();
  {
    const PoolBlock first = block_of(pool, 3);
    block_of(pool, 4);
    const PoolBlock again = block_of(pool, 2);
  }
  const PoolStretches noted = pool.end_noting();
  ASSERT_EQ(noted.size(), 1U) << "side by side, and one over the other";
  EXPECT_EQ(noted[0].begin, before.data() + 2 * kGranule);
  EXPECT_EQ(noted[0].end, before.data() + 9 * kGranule);
  EXPECT_TRUE(pool.are_free(noted));
  {
    const PoolBlock in_front = block_of(pool, 6);
    const PoolBlock in_it = block_of(pool, 1);
    EXPECT_FALSE(pool.are_free(noted));
  }
  PoolBlock whole = block_of(pool, 14);
  EXPECT_FALSE(pool.are_free(noted));
  whole.release();
  EXPECT_TRUE(pool.are_free(noted));
  pool.begin_noting();
  EXPECT_TRUE(pool.end_noting().empty()) << "nothing was given meanwhile";
}

// Blocks that live at the same time share nothing, whatever came before, and all of it comes back.
TEST_F(Pool, GivesDisjointPiecesInAnyOrder) {
  MemoryPool pool;
  std::mt19937 random(1);
  std::vector<std::pair<PoolBlock, std::int64_t>> live;
  for (int i = 0; i < 5000; ++i) {
    if (live.empty() || (live.size() < 40 && random() % 2 == 0)) {
      const std::int64_t granules = 1 + static_cast<std::int64_t>(random() % 20);
      PoolBlock block = block_of(pool, granules);
      for (const auto& [other, size] : live) {
        EXPECT_TRUE(block.data() + granules * kGranule <= other.data() ||
                    other.data() + size * kGranule <= block.data());
      }
      live.emplace_back(std::move(block), granules);
    } else {
      std::swap(live[random() % live.size()], live.back());
      live.pop_back();
    }
  }
  const std::int64_t allocated = pool.allocated_bytes();
  live.clear();
  EXPECT_EQ(pool.tensor_bytes().bytes, 0);
  EXPECT_LE(allocated, 2 * pool.tensor_bytes().bytes_max);
}

}  // namespace
}  // namespace llmb::runner::cuda
