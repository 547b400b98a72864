// Resharding: takes from a piece of one layout's checkpoint what one rank of another layout needs.
#pragma once

#include <cstdint>
#include <span>

#include "runner/checkpoint/shard_file.h"
#include "runner/model/parameter_store.h"

namespace llmb::runner {

// Elements [first, first + count) of one rank's part of a parameter: those in its optimizer share.
struct Stretch {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

template <typename Backend>
Stretch stretch_in_share(const LocalParameter<Backend>& local, std::int64_t share_first,
                         std::int64_t share_count);

// False where no element can be in both; cheap, and before anything is read.
template <typename Backend>
bool may_overlap(const ShardPiece& piece, const LocalParameter<Backend>& local);

// Copies the elements of `piece` that lie in `wanted` of `local`'s part into `into`, which holds
// that stretch. Returns how many there were.
template <typename Backend>
std::int64_t copy_overlap(const ShardPiece& piece,
                          std::span<const typename Backend::Master> elements,
                          const LocalParameter<Backend>& local, const Stretch& wanted,
                          std::span<typename Backend::Master> into);

}  // namespace llmb::runner
