// CountingLine: a line that counts training, whoever prints it: steps, iterations, batches, epochs,
// or numbers without a name beside figures ("fit: s=130 l=2.52"). What one such line says of itself
// is its shape; that a program lives shows where the shape comes again and its counts have risen.
// It knows no dialect, and tells nothing of times or losses.
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
  // In the order of the line: "Epoch 1 | iter 40 step 10"; where it names none, its first numbers.
  // Those that are not there are 0.
  std::array<double, kCountsMax> counts{};
  bool names_its_counts = false;

  // Whether it is the same line, later: the first count that differs has risen.
  bool follows(const CountingLine& earlier) const {
    return shape == earlier.shape && counts > earlier.counts;
  }

  // Whether one of its numbers has risen by as much as from the line before `earlier` to that one,
  // by `rises`: then it counts, whatever it is called.
  bool counts_on(const CountingLine& earlier, const std::array<double, kCountsMax>& rises) const;
};

// Nothing where the line counts nothing, or holds a NaN: a run that prints those does not go on
// well; and where it names no count, too, if it has no figure with decimals, or words of trouble or
// of waiting. `text`: without what stands before it.
std::optional<CountingLine> read_counting_line(std::string_view text);

}  // namespace llmb::parser
