#include "parser/foundation/nearest_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace llmb::parser {
namespace {

// The optimal string alignment distance: each cell is the cost of making the first i letters of
// `a` the first j of `b`.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string nearest_word(std::string_view typed, const std::vector<std::string>& known) {
  constexpr std::size_t kLettersMax = 64;
  if (typed.size() > kLettersMax) return {};
  std::string nearest;
  std::size_t best = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string& word : known) {
    const std::size_t changes = distance(typed, word);
    if (changes >= best) continue;
    best = changes;
    nearest = word;
  }
  return nearest;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known) {
  const std::string word = nearest_word(typed, known);
  return word.empty() ? std::string() : fmt::format("; did you mean '{}'?", word);
}

}  // namespace llmb::parser
