// The marks that are stored with a run for its lists, as the bits of one column. Marks of a status,
// and "superseded", have columns of their own.
#pragma once

#include <array>
#include <cstdint>

#include "parser/statistics/run_marks.h"

namespace llmb::storage {

// The order is part of stored data: bit N stands for the Nth. Add others below.
inline constexpr std::array kListedMarks = {
    parser::RunMark::profiled, parser::RunMark::traced, parser::RunMark::function_check,
    parser::RunMark::proxy,    parser::RunMark::on_cpu, parser::RunMark::implausible};
inline constexpr std::int64_t kProfiledBit = 1;
// No mark, but a bit of the same column: ListedResult::has_run_all_steps.
inline constexpr std::int64_t kAllStepsRunBit = std::int64_t{1} << 30;

inline std::int64_t bits_of_marks(const parser::RunMarkSet& marks) {
  std::int64_t bits = 0;
  for (std::size_t i = 0; i < kListedMarks.size(); ++i) {
    if (marks.contains(kListedMarks[i])) bits |= std::int64_t{1} << i;
  }
  return bits;
}

inline bool is_listed_mark(parser::RunMark mark) {
  return bits_of_marks({mark}) != 0;
}

inline parser::RunMarkSet marks_of_bits(std::int64_t bits) {
  parser::RunMarkSet marks;
  for (std::size_t i = 0; i < kListedMarks.size(); ++i) {
    if ((bits >> i & 1) != 0) marks.insert(kListedMarks[i]);
  }
  return marks;
}

}  // namespace llmb::storage
