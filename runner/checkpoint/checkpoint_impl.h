// The definitions of checkpoint.h: included where a backend is put together, once. Elements go
// through the host; what a file holds is the same whatever backend wrote it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "runner/checkpoint/checkpoint.h"
#include "runner/checkpoint/manifest.h"
#include "runner/checkpoint/resharding.h"
#include "runner/checkpoint/scaling_pieces.h"
#include "runner/checkpoint/shard_file.h"

namespace llmb::runner {
namespace detail {

namespace fs = std::filesystem;

template <typename Backend>
struct NamedState {
  const char* name;
  typename OptimizerShard<Backend>::Masters OptimizerShard<Backend>::*values;
};

template <typename Backend>
constexpr std::array<NamedState<Backend>, 3> states() {
  return {{{"master", &OptimizerShard<Backend>::master},
           {"first_moment", &OptimizerShard<Backend>::first_moment},
           {"second_moment", &OptimizerShard<Backend>::second_moment}}};
}

inline std::string shard_name(int rank) {
  std::string digits = std::to_string(rank);
  return "rank_" + std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits +
         ".shard";
}

template <typename Backend>
Stretch share_of(const LocalParameter<Backend>& local, const OptimizerShard<Backend>& shard) {
  return stretch_in_share(local, shard.first, shard.master.size());
}

// Writes what this rank holds and no other rank saves; returns the file's size.
template <typename Backend>
std::uint64_t write_rank(const fs::path& directory, RankTrainer<Backend>& trainer) {
  using Master = typename Backend::Master;
  std::vector<ShardPiece> pieces;
  std::vector<std::span<const std::byte>> elements;
  using HostCopy = typename Backend::Ops::template HostCopy<Master>;
  std::deque<HostCopy> copies;
  const bool saves_whole_parameters = trainer.groups().tensor->rank() == 0;
  for (const LocalParameter<Backend>& local : trainer.store().parameters()) {
    if (!local.parameter.tensor_axis && !saves_whole_parameters) continue;
    const OptimizerShard<Backend>& shard = trainer.optimizer().shard(local.block());
    const Stretch stretch = share_of(local, shard);
    if (stretch.count == 0) continue;
    const auto begin = static_cast<std::size_t>(local.block_offset + stretch.first - shard.first);
    for (const NamedState<Backend>& state : states<Backend>()) {
      pieces.push_back({local.parameter.name, state.name, local.parameter.shape, local.local_shape,
                        local.origin, stretch.first, stretch.count, 0, 0});
      const auto values = (shard.*state.values).values();
      copies.push_back(
          trainer.ops().read(values.subspan(begin, static_cast<std::size_t>(stretch.count))));
      elements.push_back(std::as_bytes(std::span<const Master>(copies.back().values())));
    }
  }
  std::deque<std::vector<Master>> histories;
  add_scaling_pieces(trainer.scaling_histories(), pieces, elements, histories);
  return write_shard(directory / shard_name(trainer.rank()), element_type_of<Master>(),
                     std::move(pieces), elements);
}

// Makes an empty directory to save into; what crashed saves left is removed.
inline fs::path begin_save(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw CheckpointError("could not make the checkpoint directory " + path.string() + ": " +
                          error.message());
  }
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().filename().string().rfind(".saving", 0) == 0) fs::remove_all(entry.path());
  }
  fs::path directory = path / ".saving";
  fs::create_directory(directory);
  return directory;
}

// A name that no checkpoint has: one of the same step may be there, and must stay until `latest`
// names the new one.
inline std::string free_name(const fs::path& path, std::int64_t completed_steps) {
  std::string digits = std::to_string(completed_steps);
  const std::string plain =
      "iteration_" + std::string(7 - std::min<std::size_t>(7, digits.size()), '0') + digits;
  std::string name = plain;
  for (int attempt = 2; fs::exists(path / name); ++attempt) {
    name = fmt::format("{}_{}", plain, attempt);
  }
  return name;
}

// Removes older checkpoints of the same step.
inline void remove_superseded(const fs::path& path, const std::string& kept, std::int64_t step) {
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name == kept || name.rfind("iteration_", 0) != 0) continue;
    const std::size_t end = name.find('_', 10);
    if (std::atoll(name.substr(10, end - 10).c_str()) == step) old.push_back(entry.path());
  }
  for (const fs::path& directory : old) fs::remove_all(directory);
}

inline void point_latest_to(const fs::path& path, const std::string& name) {
  const std::string line = name + "\n";
  const fs::path next = path / ".latest";
  write_durably(next, {std::as_bytes(std::span(line))});
  rename_durably(next, path / "latest");
}

inline void check_shape(const ShardPiece& piece, const Parameter& parameter) {
  if (piece.shape == parameter.shape) return;
  const auto text = [](const std::vector<std::int64_t>& shape) {
    return nlohmann::json(shape).dump();
  };
  throw CheckpointError("the checkpoint is of another model: its " + piece.name + " is " +
                        text(piece.shape) + ", and this run's " + text(parameter.shape));
}

// Counts what was loaded of every state of every parameter, and complains where some is missing.
template <typename Backend>
class Coverage {
 public:
  void add(const ShardPiece& piece, std::int64_t count) {
    loaded_[{piece.name, piece.state}] += count;
  }

  void expect_whole(const LocalParameter<Backend>& local, std::int64_t count,
                    const fs::path& directory) {
    for (const NamedState<Backend>& state : states<Backend>()) {
      const std::int64_t loaded = loaded_[{local.parameter.name, state.name}];
      if (loaded == count) continue;
      throw CheckpointError(
          fmt::format("the checkpoint {} holds {} of {} elements that this rank needs of {} of {}: "
                      "is it of another model?",
                      directory.string(), loaded, count, state.name, local.parameter.name));
    }
  }

 private:
  std::map<std::pair<std::string, std::string>, std::int64_t> loaded_;
};

template <typename Backend>
void load_piece(const ShardReader& reader, const ShardPiece& piece, RankTrainer<Backend>& trainer,
                const LocalParameter<Backend>& local, Coverage<Backend>& coverage) {
  OptimizerShard<Backend>& shard = trainer.optimizer().shard(local.block());
  const Stretch wanted = share_of(local, shard);
  if (wanted.count == 0 || !may_overlap(piece, local)) return;
  using Master = typename Backend::Master;
  const std::vector<std::byte> bytes = reader.read(piece);
  const std::span<const Master> elements(reinterpret_cast<const Master*>(bytes.data()),
                                         static_cast<std::size_t>(piece.count));
  for (const NamedState<Backend>& state : states<Backend>()) {
    if (piece.state != state.name) continue;
    const auto begin = static_cast<std::size_t>(local.block_offset + wanted.first - shard.first);
    const auto into =
        (shard.*state.values).values().subspan(begin, static_cast<std::size_t>(wanted.count));
    const auto before = trainer.ops().read(into);
    std::vector<Master> merged(before.values().begin(), before.values().end());
    coverage.add(piece, copy_overlap(piece, elements, local, wanted, std::span<Master>(merged)));
    trainer.ops().template write<Master>(merged, into);
  }
}

template <typename Backend>
void load_shards(const fs::path& directory, const Manifest& manifest,
                 RankTrainer<Backend>& trainer) {
  std::map<std::string_view, const LocalParameter<Backend>*> mine;
  for (const LocalParameter<Backend>& local : trainer.store().parameters()) {
    mine.emplace(local.parameter.name, &local);
  }
  Coverage<Backend> coverage;
  ScalingLoader<typename Backend::Master> scaling(trainer.scaling_histories());
  for (const ManifestShard& shard : manifest.shards) {
    const ShardReader reader(directory / shard.file, element_type_of<typename Backend::Master>(),
                             shard.bytes);
    for (const ShardPiece& piece : reader.pieces()) {
      if (scaling.take(reader, piece)) continue;
      const auto local = mine.find(piece.name);
      if (local == mine.end()) continue;
      check_shape(piece, local->second->parameter);
      load_piece(reader, piece, trainer, *local->second, coverage);
    }
  }
  for (const LocalParameter<Backend>& local : trainer.store().parameters()) {
    const Stretch wanted = share_of(local, trainer.optimizer().shard(local.block()));
    coverage.expect_whole(local, wanted.count, directory);
  }
  scaling.expect_all_or_none(directory);
}

}  // namespace detail

template <typename Backend>
std::filesystem::path save_checkpoint(const std::filesystem::path& path,
                                      RankTrainer<Backend>& trainer, std::int64_t completed_steps,
                                      const SaveOptions& options) {
  Communicator& world = trainer.groups().host();
  const bool leads = world.rank() == 0;
  const auto reached = [&](std::string_view moment) {
    if (leads && options.on_progress) options.on_progress(moment);
  };
  reached("begin");
  const std::filesystem::path directory = leads ? detail::begin_save(path) : path / ".saving";
  world.barrier("checkpoint.begin");
  reached("directory made");
  std::vector<std::int64_t> bytes = {
      static_cast<std::int64_t>(detail::write_rank(directory, trainer))};
  reached("shard written");
  std::vector<std::int64_t> all_bytes(static_cast<std::size_t>(world.size()));
  world.all_gather(bytes, all_bytes, "checkpoint.written");
  std::string name;
  if (leads) {
    Manifest manifest;
    manifest.completed_steps = completed_steps;
    manifest.update_count = trainer.optimizer().update_count();
    manifest.element_type = name_of(element_type_of<typename Backend::Master>());
    manifest.description = options.description;
    manifest.flags = options.flags;
    for (int rank = 0; rank < world.size(); ++rank) {
      manifest.shards.push_back(
          {detail::shard_name(rank),
           static_cast<std::uint64_t>(all_bytes[static_cast<std::size_t>(rank)])});
    }
    write_manifest(directory / "manifest.json", manifest);
    reached("manifest written");
    sync_directory(directory);
    name = detail::free_name(path, completed_steps);
    rename_durably(directory, path / name);
    reached("renamed");
    detail::point_latest_to(path, name);
    reached("latest written");
    detail::remove_superseded(path, name, completed_steps);
    reached("end");
  }
  return path / broadcast_text(world, name, 0, "checkpoint.saved");
}

template <typename Backend>
std::int64_t load_checkpoint(const std::filesystem::path& path, RankTrainer<Backend>& trainer) {
  // On another rank's machine `latest` may still say what it said before.
  Communicator& world = trainer.groups().host();
  const bool leads = world.rank() == 0;
  const std::filesystem::path directory =
      broadcast_text(world, leads ? newest_checkpoint(path).string() : "", 0, "checkpoint.newest");
  const std::filesystem::path file = directory / "manifest.json";
  const Manifest manifest = parse_manifest(
      file, broadcast_text(world, leads ? read_manifest_text(file) : "", 0, "checkpoint.manifest"));
  detail::load_shards(directory, manifest, trainer);
  world.barrier("checkpoint.loaded");
  trainer.optimizer().restored(manifest.update_count);
  return manifest.completed_steps;
}

}  // namespace llmb::runner
