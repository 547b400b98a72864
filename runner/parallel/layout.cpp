#include "runner/parallel/layout.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

namespace llmb::runner {
namespace {

// What is the same for all ranks of one group, and different between groups.
std::vector<int> group_key(GroupKind kind, const RankPlace& at) {
  switch (kind) {
    case GroupKind::tensor:
      return {at.cp, at.dp, at.pp};
    case GroupKind::context:
      return {at.tp, at.dp, at.pp};
    case GroupKind::data:
      return {at.tp, at.cp, at.pp};
    case GroupKind::data_context:
      return {at.tp, at.pp};
    case GroupKind::tensor_data_context:
      return {at.pp};
    case GroupKind::pipeline:
      return {at.tp, at.cp, at.dp};
    case GroupKind::expert:
      return {at.etp, at.edp, at.pp};
    case GroupKind::expert_tensor:
      return {at.ep, at.edp, at.pp};
    case GroupKind::expert_data:
      return {at.etp, at.ep, at.pp};
    case GroupKind::world:
      return {};
  }
  return {};
}

}  // namespace

std::string_view group_kind_name(GroupKind kind) {
  switch (kind) {
    case GroupKind::tensor:
      return "tensor";
    case GroupKind::context:
      return "context";
    case GroupKind::data:
      return "data";
    case GroupKind::data_context:
      return "data_context";
    case GroupKind::tensor_data_context:
      return "tensor_data_context";
    case GroupKind::pipeline:
      return "pipeline";
    case GroupKind::expert:
      return "expert";
    case GroupKind::expert_tensor:
      return "expert_tensor";
    case GroupKind::expert_data:
      return "expert_data";
    case GroupKind::world:
      return "world";
  }
  return "world";
}

Result<Layout> Layout::make(const ParallelSizes& sizes, int world_size) {
  const std::pair<const char*, int> named[] = {
      {"tp", sizes.tp}, {"cp", sizes.cp}, {"dp", sizes.dp},   {"pp", sizes.pp},
      {"vp", sizes.vp}, {"ep", sizes.ep}, {"etp", sizes.etp},
  };
  for (const auto& [name, size] : named) {
    if (size < 1) {
      return parser::fail(fmt::format("{} is {}; a parallel size is at least 1", name, size));
    }
  }
  const std::string model_parallel =
      fmt::format("tp {} x cp {} x pp {}", sizes.tp, sizes.cp, sizes.pp);
  if (sizes.world() != world_size) {
    const int replica = sizes.tp * sizes.cp * sizes.pp;
    std::string fits = world_size % replica == 0
                           ? fmt::format("dp {} would fit", world_size / replica)
                           : fmt::format("the scale must be a multiple of {}", replica);
    return parser::fail(fmt::format("{} x dp {} are {} ranks, and the scale is {}; {}",
                                    model_parallel, sizes.dp, sizes.world(), world_size, fits));
  }
  const int stage = sizes.tp * sizes.cp * sizes.dp;
  if (stage % (sizes.ep * sizes.etp) != 0) {
    return parser::fail(
        fmt::format("experts take ep {} x etp {} = {} ranks, which do not divide the {} ranks (tp "
                    "x cp x dp) of a pipeline stage; ep x etp must divide {}",
                    sizes.ep, sizes.etp, sizes.ep * sizes.etp, stage, stage));
  }
  return Layout(sizes);
}

RankPlace Layout::place_of(int rank) const {
  if (rank < 0 || rank >= world_size()) {
    throw std::out_of_range(fmt::format("rank {} of {}", rank, world_size()));
  }
  RankPlace at;
  at.tp = rank % sizes_.tp;
  at.cp = rank / sizes_.tp % sizes_.cp;
  at.dp = rank / (sizes_.tp * sizes_.cp) % sizes_.dp;
  at.pp = rank / (sizes_.tp * sizes_.cp * sizes_.dp);
  at.etp = rank % sizes_.etp;
  at.ep = rank / sizes_.etp % sizes_.ep;
  at.edp = rank / (sizes_.etp * sizes_.ep) % sizes_.edp();
  return at;
}

int Layout::rank_of(int tp, int cp, int dp, int pp) const {
  return ((pp * sizes_.dp + dp) * sizes_.cp + cp) * sizes_.tp + tp;
}

std::vector<int> Layout::group(GroupKind kind, int rank) const {
  const std::vector<int> key = group_key(kind, place_of(rank));
  std::vector<int> members;
  for (int other = 0; other < world_size(); ++other) {
    if (group_key(kind, place_of(other)) == key) members.push_back(other);
  }
  return members;
}

std::vector<std::vector<int>> Layout::groups(GroupKind kind) const {
  std::map<std::vector<int>, std::size_t> index_of;
  std::vector<std::vector<int>> all;
  for (int rank = 0; rank < world_size(); ++rank) {
    const auto [entry, is_new] = index_of.try_emplace(group_key(kind, place_of(rank)), all.size());
    if (is_new) all.emplace_back();
    all[entry->second].push_back(rank);
  }
  return all;
}

LayerRange layers_of(const ParallelSizes& sizes, std::int64_t layer_count, int stage, int chunk) {
  const std::int64_t chunk_count = std::int64_t{sizes.pp} * sizes.vp;
  const std::int64_t position = std::int64_t{chunk} * sizes.pp + stage;
  if (layer_count % chunk_count == 0) {
    const std::int64_t each = layer_count / chunk_count;
    return {position * each, (position + 1) * each};
  }
  // Embedding and head stand for one layer each.
  const std::int64_t each = (layer_count + 2) / chunk_count;
  const std::int64_t first = position == 0 ? 0 : position * each - 1;
  const std::int64_t last = position == chunk_count - 1 ? layer_count : (position + 1) * each - 1;
  return {first, last};
}

std::int64_t micro_batch_count(const BatchSizes& batch, const ParallelSizes& sizes) {
  return batch.global_batch_size / (batch.micro_batch_size * sizes.dp);
}

}  // namespace llmb::runner
