#include "parser/statistics/best_levels.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "parser/statistics/median.h"

namespace llmb::parser {
namespace {

// The best partitions of every beginning of the series, by the number of their pieces.
class Partitions {
 public:
  Partitions(std::size_t count, std::size_t pieces_max)
      : row_(pieces_max + 1),
        loss_((count + 1) * row_, std::numeric_limits<double>::infinity()),
        from_((count + 1) * row_, 0) {
    loss_[0] = 0;
  }

  // A piece from `begin` to `end` of the loss `own`, behind what is best up to `begin`.
  void add(std::size_t begin, std::size_t end, double own) {
    const double* const before = &loss_[begin * row_];
    double* const best = &loss_[end * row_];
    std::uint32_t* const from = &from_[end * row_];
    for (std::size_t pieces = 1; pieces < row_; ++pieces) {
      const double whole = before[pieces - 1] + own;
      if (whole >= best[pieces]) continue;
      best[pieces] = whole;
      from[pieces] = static_cast<std::uint32_t>(begin);
    }
  }

  Levels of(std::size_t count, std::size_t pieces) const {
    Levels levels;
    levels.loss = loss_[count * row_ + pieces];
    std::size_t end = count;
    for (; pieces > 1; --pieces) {
      end = from_[end * row_ + pieces];
      levels.begins.push_back(end);
    }
    std::reverse(levels.begins.begin(), levels.begins.end());
    return levels;
  }

 private:
  const std::size_t row_;  // by the number of pieces, 0 of which only the empty series has
  std::vector<double> loss_;
  std::vector<std::uint32_t> from_;  // where the last piece begins
};

}  // namespace

std::vector<Levels> best_levels(const PlacedValues& values, std::size_t level_min) {
  constexpr std::size_t kValuesOfLevel = 5;
  const std::size_t count = values.places.size();
  const std::size_t changes_max = std::clamp<std::size_t>(count / kValuesOfLevel, 1, kChangesMax);
  const std::size_t levels_max = std::min(changes_max + 1, count / level_min);
  Partitions partitions(count, levels_max);
  DistanceSum loss(values.sorted);
  for (std::size_t end = level_min; end <= count; ++end) {
    // Losses of pieces that end there are found backwards.
    loss.clear();
    for (std::size_t begin = end; begin-- > 0;) {
      const double own = loss.add(values.places[begin]);
      if (end - begin >= level_min) partitions.add(begin, end, own);
    }
  }
  std::vector<Levels> all;
  for (std::size_t levels = 1; levels <= levels_max; ++levels) {
    all.push_back(partitions.of(count, levels));
  }
  return all;
}

double best_gain(const PlacedValues& values, std::size_t level_min) {
  const std::size_t count = values.places.size();
  DistanceSum sum(values.sorted);
  std::vector<double> before;
  before.reserve(count);
  for (const std::uint32_t place : values.places) before.push_back(sum.add(place));
  sum.clear();
  double best = 0;
  for (std::size_t i = count; i-- > level_min;) {
    const double after = sum.add(values.places[i]);
    if (count - i < level_min) continue;
    best = std::max(best, before.back() - before[i - 1] - after);
  }
  return best;
}

std::vector<double> distances_from(std::span<const double> values, const Levels& levels) {
  std::vector<double> distances(values.begin(), values.end());
  std::size_t begin = 0;
  for (std::size_t k = 0; k <= levels.begins.size(); ++k) {
    const std::size_t end = k < levels.begins.size() ? levels.begins[k] : values.size();
    const double level = median_of(values.subspan(begin, end - begin));
    for (std::size_t i = begin; i < end; ++i) distances[i] -= level;
    begin = end;
  }
  return distances;
}

}  // namespace llmb::parser
