#include "runner/simt/tensor_core.h"

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "runner/simt/thread_index.h"

namespace llmb::runner::simt {
namespace {

constexpr std::int64_t kCopied = 8;             // elements of a copy
constexpr std::uint16_t kNotYetThere = 0xffff;  // a NaN

std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}

struct Copy {
  SharedSpan<std::uint16_t> span;
  std::int64_t at;
  std::array<std::uint16_t, kCopied> elements;
};
struct LaneCopies {
  std::uint64_t block_serial = 0;
  std::vector<Copy> open;
  std::deque<std::vector<Copy>> committed;
};

// Of the lane that runs; those of a block that has ended are nobody's.
LaneCopies& copies_of_lane() {
  static thread_local std::vector<LaneCopies> lanes;
  if (lanes.size() <= threadIdx.x) lanes.resize(threadIdx.x + 1);
  LaneCopies& lane = lanes[threadIdx.x];
  const std::uint64_t block = BlockRunner::of_this_thread().block_serial();
  if (lane.block_serial != block) lane = {block, {}, {}};
  return lane;
}

}  // namespace

void multiply_fragments(Site site, float (&d)[4], const std::uint32_t (&a)[4],
                        const std::uint32_t (&b)[2], const WordElements& elements) {
  constexpr int kGroup = 4;  // lanes of a row
  constexpr int kWords = 2 * kGroup;
  BlockRunner& runner = BlockRunner::of_this_thread();
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int row = lane / kGroup;
  const int column = lane % kGroup * 2;
  std::uint32_t a_rows[2][kWords];
  std::uint32_t b_columns[2][kWords];
  // Words 0 and 2 of a are of row `row`, 1 and 3 of row + 8; words 2 and 3 of the second half of k.
  for (int half = 0; half < 2; ++half) {
    runner.exchange(site, half == 0 ? joined(a[0], a[1]) : joined(a[2], a[3]));
    for (int t = 0; t < kGroup; ++t) {
      const std::uint64_t words = runner.exchanged(row * kGroup + t);
      a_rows[0][kGroup * half + t] = static_cast<std::uint32_t>(words);
      a_rows[1][kGroup * half + t] = static_cast<std::uint32_t>(words >> 32);
    }
  }
  runner.exchange(site, joined(b[0], b[1]));
  for (int j = 0; j < 2; ++j) {
    for (int t = 0; t < kGroup; ++t) {
      const std::uint64_t words = runner.exchanged((column + j) * kGroup + t);
      b_columns[j][t] = static_cast<std::uint32_t>(words);
      b_columns[j][kGroup + t] = static_cast<std::uint32_t>(words >> 32);
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int word = 0; word < kWords; ++word) {
        for (int k = 0; k < elements.count; ++k) {
          d[2 * i + j] += elements.of_a(a_rows[i][word], k) * elements.of_b(b_columns[j][word], k);
        }
      }
    }
  }
}

void load_fragments(Site site, const SharedSpan<std::uint16_t>& span, std::int64_t at,
                    bool transposed, std::uint32_t (&words)[4]) {
  constexpr int kRows = 8;
  BlockRunner& runner = BlockRunner::of_this_thread();
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  if (at % kRows != 0) runner.fault("rows of a fragment begin at multiples of 16 bytes");
  runner.exchange(site, static_cast<std::uint64_t>(at));
  for (int matrix = 0; matrix < 4; ++matrix) {
    std::uint32_t word = 0;
    for (int i = 0; i < 2; ++i) {
      const int row = transposed ? lane % 4 * 2 + i : lane / 4;
      const int column = transposed ? lane / 4 : lane % 4 * 2 + i;
      const auto begin = static_cast<std::int64_t>(runner.exchanged(matrix * kRows + row));
      const std::uint16_t element = span[begin + column];
      word |= std::uint32_t{element} << (16 * i);
    }
    words[matrix] = word;
  }
}

void begin_copy(const SharedSpan<std::uint16_t>& span, std::int64_t at, const std::uint16_t* from,
                int count) {
  const bool is_aligned =
      at % kCopied == 0 && reinterpret_cast<std::uintptr_t>(from) % sizeof(Copy::elements) == 0;
  if (!is_aligned) {
    BlockRunner::of_this_thread().fault("a copy to shared memory that is not aligned to 16 bytes");
  }
  Copy copy{span, at, {}};
  for (std::int64_t i = 0; i < kCopied; ++i) {
    span[at + i] = kNotYetThere;
    copy.elements[static_cast<std::size_t>(i)] = i < count ? from[i] : std::uint16_t{0};
  }
  copies_of_lane().open.push_back(copy);
}

void commit_copies() {
  LaneCopies& lane = copies_of_lane();
  lane.committed.push_back(std::move(lane.open));
  lane.open.clear();
}

void wait_for_copies(int pending) {
  LaneCopies& lane = copies_of_lane();
  while (static_cast<int>(lane.committed.size()) > pending) {
    for (const Copy& copy : lane.committed.front()) {
      for (std::int64_t i = 0; i < kCopied; ++i) {
        copy.span[copy.at + i] = copy.elements[static_cast<std::size_t>(i)];
      }
    }
    lane.committed.pop_front();
  }
}

}  // namespace llmb::runner::simt
