#include "parser/statistics/distance_sum.h"

#include <cstddef>
#include <utility>

namespace llmb::parser {

void place_values(std::span<const double> values, PlacedValues& placed) {
  std::vector<std::pair<double, std::uint32_t>> rising;  // with the index of each
  rising.reserve(values.size());
  for (const double value : values) {
    rising.emplace_back(value, static_cast<std::uint32_t>(rising.size()));
  }
  std::sort(rising.begin(), rising.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  placed.sorted.resize(values.size());
  placed.places.resize(values.size());
  for (std::size_t place = 0; place < rising.size(); ++place) {
    const auto [value, index] = rising[place];
    placed.sorted[place] = value;
    placed.places[index] = static_cast<std::uint32_t>(place);
  }
}

}  // namespace llmb::parser
