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
  using Numbers = std::array<double, kCountsMax>;

  std::uint64_t shape = 0;  // a hash of all but its numbers
  // Both in the order of the line; those that are not there are 0.
  Numbers counts{};   // that have a name: "Epoch 1 | iter 40 step 10", "40 it"
  Numbers numbers{};  // the first ones, whatever they are
  bool names_its_counts = false;
  // Whether a number without a name may be its count: it names none, or epochs only.
  bool counts_without_name = false;

  // Whether it is the same line, later: the first count that differs has risen.
  bool follows(const CountingLine& earlier) const {
    return names_its_counts && shape == earlier.shape && counts > earlier.counts;
  }

  // Whether one of its numbers has risen by as much as from the line before `earlier` to that one,
  // by `rises`: then it counts, whatever it is called, but for what may be the numbers of a node's
  // ranks, or figures that rise alike by chance.
  bool counts_on(const CountingLine& earlier, const Numbers& rises) const;
};

// Nothing where the line counts nothing, or holds a NaN: a run that prints those does not go on
// well; and where it names no count, too, if it has no figure with decimals, or words of trouble or
// of waiting. `text`: without what stands before it, but for a number in brackets.
std::optional<CountingLine> read_counting_line(std::string_view text);

// Whether what stands last in `text`, lines of a log, of a count and how far it goes says that it
// is there: "step 600/600 loss 2.1", "epoch 4 of 4, batch 40 of 40 …". The first line may be cut.
bool has_counted_to_the_end(std::string_view text);

}  // namespace llmb::parser
