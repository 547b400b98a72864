#include "runner/checkpoint/scaling_pieces.h"

#include <cstring>
#include <string_view>

namespace llmb::runner {
namespace {

constexpr std::string_view kStatePrefix = "amax_of_";

std::string state_of(const NamedHistory& named) {
  return std::string(kStatePrefix).append(named.operand);
}

}  // namespace

template <typename T>
void add_scaling_pieces(const std::vector<NamedHistory>& histories, std::vector<ShardPiece>& pieces,
                        std::vector<std::span<const std::byte>>& elements,
                        std::deque<std::vector<T>>& kept) {
  for (const NamedHistory& named : histories) {
    const std::vector<double> past = named.history->past();
    if (!named.is_saved_here || past.empty()) continue;
    const std::vector<T>& values = kept.emplace_back(past.begin(), past.end());
    const auto count = static_cast<std::int64_t>(values.size());
    pieces.push_back({named.matrix, state_of(named), {count}, {count}, {0}, 0, count, 0, 0});
    elements.push_back(std::as_bytes(std::span(values)));
  }
}

template <typename T>
ScalingLoader<T>::ScalingLoader(std::vector<NamedHistory> wanted) {
  for (NamedHistory& named : wanted) {
    missing_.emplace(std::pair(named.matrix, state_of(named)), named.history);
  }
}

template <typename T>
bool ScalingLoader<T>::take(const ShardReader& reader, const ShardPiece& piece) {
  if (!piece.state.starts_with(kStatePrefix)) return false;
  const auto found = missing_.find({piece.name, piece.state});
  if (found == missing_.end()) return true;
  const std::vector<std::byte> bytes = reader.read(piece);
  std::vector<T> values(static_cast<std::size_t>(piece.count));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  found->second->restore({values.begin(), values.end()});
  missing_.erase(found);
  ++taken_;
  return true;
}

template <typename T>
void ScalingLoader<T>::expect_all_or_none(const std::filesystem::path& directory) const {
  if (taken_ == 0 || missing_.empty()) return;
  const auto& [matrix, state] = missing_.begin()->first;
  throw CheckpointError("the checkpoint " + directory.string() + " lacks " + state + " of " +
                        matrix + ", and has others of it: is it of another model?");
}

template void add_scaling_pieces(const std::vector<NamedHistory>&, std::vector<ShardPiece>&,
                                 std::vector<std::span<const std::byte>>&,
                                 std::deque<std::vector<float>>&);
template void add_scaling_pieces(const std::vector<NamedHistory>&, std::vector<ShardPiece>&,
                                 std::vector<std::span<const std::byte>>&,
                                 std::deque<std::vector<double>>&);
template class ScalingLoader<float>;
template class ScalingLoader<double>;

}  // namespace llmb::runner
