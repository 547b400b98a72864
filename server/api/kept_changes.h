// KeptChanges: where the levels of series change, kept from one question to the next by the values
// of a series, so that only a series with another run, or another value of one, is segmented.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "parser/statistics/run_history.h"

namespace llmb::api {

// Thread-safe.
class KeptChanges {
 public:
  // Half of it holds those of 10,000 runs, be they a series each; of a hundred series they take a
  // fortieth.
  static constexpr std::size_t kBytesMax = std::size_t{4} << 20U;

  // What `find` returns is kept.
  explicit KeptChanges(parser::ChangeFinder find = parser::change_points)
      : find_(std::move(find)) {}

  // As `find` has them; of `options` nothing but the deviation differs from one call to the next.
  std::vector<std::size_t> of(std::span<const double> values,
                              const parser::SegmentationOptions& options);

 private:
  using Series = std::pair<double, std::vector<double>>;  // the least deviation, and the values
  using Changes = std::map<Series, std::vector<std::size_t>>;

  void keep(Changes::node_type series);

  const parser::ChangeFinder find_;
  std::mutex mutex_;
  // Those asked for since newer_ was begun, and what was asked for before that: half of kBytesMax
  // each.
  Changes newer_;
  Changes older_;
  std::size_t newer_bytes_ = 0;
};

}  // namespace llmb::api
