#include "runner/model/stage_context.h"

namespace llmb::runner {

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

std::vector<std::int64_t> gathered_rows_of(std::int64_t length, int cp, std::int64_t samples) {
  std::vector<std::int64_t> rows;
  for (int index = 0; index < cp; ++index) {
    for (const std::int64_t position : zigzag_positions(length, cp, index)) {
      for (std::int64_t sample = 0; sample < samples; ++sample) {
        rows.push_back(position * samples + sample);
      }
    }
  }
  return rows;
}

}  // namespace llmb::runner
