// CountingLine: a line that counts training, whoever prints it: steps, iterations, batches, epochs.
// What one such line says of itself is its shape; that a program lives shows where the shape comes
// again and its counts have risen. It knows no dialect, and tells nothing of times or losses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace llmb::parser {

struct CountingLine {
  static constexpr std::size_t kCountsMax = 4;

  std::uint64_t shape = 0;  // a hash of all but its numbers
  // In the order of the line: "Epoch 1 | iter 40 step 10". Those that are not there are 0.
  std::array<double, kCountsMax> counts{};

  // Whether it is the same line, later: the first count that differs has risen.
  bool follows(const CountingLine& earlier) const {
    return shape == earlier.shape && counts > earlier.counts;
  }
};

// Nothing where the line counts nothing, or holds a NaN: a run that prints those does not go on
// well. `text`: without what stands before it.
std::optional<CountingLine> read_counting_line(std::string_view text);

}  // namespace llmb::parser
