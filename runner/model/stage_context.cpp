#include "runner/model/stage_context.h"

namespace llmb::runner {
namespace {

// Positions of a context rank: of 2 cp equal pieces, its own from the front and from the back.
std::vector<std::int64_t> zigzag_positions(std::int64_t length, int cp, int index) {
  std::vector<std::int64_t> positions;
  const auto add = [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) positions.push_back(first + i);
  };
  if (cp == 1) {
    add(0, length);
  } else {
    const std::int64_t pieces = 2 * std::int64_t{cp};
    const std::int64_t piece = length / pieces;
    add(index * piece, piece);
    add((pieces - 1 - index) * piece, piece);
  }
  return positions;
}

}  // namespace

StageContext::StageContext(const ModelSpec& model, const Layout& layout, int rank,
                           RankGroups& rank_groups, std::int64_t samples, Precision numbers)
    : spec(model),
      sizes(layout.sizes()),
      place(layout.place_of(rank)),
      groups(rank_groups),
      micro_batch_size(samples),
      precision(numbers),
      positions(zigzag_positions(model.shape.sequence_length, sizes.cp, place.cp)) {
  for (int index = 0; index < sizes.cp; ++index) {
    for (const std::int64_t position :
         zigzag_positions(model.shape.sequence_length, sizes.cp, index)) {
      for (std::int64_t sample = 0; sample < samples; ++sample) {
        gathered_rows.push_back(position * samples + sample);
      }
    }
  }
}

std::int64_t StageContext::context_rows() const {
  return static_cast<std::int64_t>(positions.size()) * micro_batch_size;
}
std::int64_t StageContext::shard_rows() const {
  return context_rows() / sizes.tp;
}
std::int64_t StageContext::token_count() const {
  return spec.shape.sequence_length * micro_batch_size;
}

}  // namespace llmb::runner
