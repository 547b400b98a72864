// What delayed scaling remembers, as pieces of a shard file: a run that is resumed rounds as one
// that never stopped, in any layout.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runner/checkpoint/shard_file.h"
#include "runner/model/amax_history.h"

namespace llmb::runner {

// Adds those that this rank saves. `kept` holds their elements, which `elements` points into. A
// largest element of a matrix of T is a T: nothing is lost.
template <typename T>
void add_scaling_pieces(const std::vector<NamedHistory>& histories, std::vector<ShardPiece>& pieces,
                        std::vector<std::span<const std::byte>>& elements,
                        std::deque<std::vector<T>>& kept);

// Takes a rank's histories from the shards of a checkpoint.
template <typename T>
class ScalingLoader {
 public:
  explicit ScalingLoader(std::vector<NamedHistory> wanted);

  // False: the piece is of something else.
  bool take(const ShardReader& reader, const ShardPiece& piece);
  // A checkpoint of another precision has none, and scaling begins anew. Throws CheckpointError
  // where it has some of those that this rank needs and lacks others.
  void expect_all_or_none(const std::filesystem::path& directory) const;

 private:
  std::map<std::pair<std::string, std::string>, AmaxHistory*> missing_;  // by matrix and state
  std::size_t taken_ = 0;
};

}  // namespace llmb::runner
