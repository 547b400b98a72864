// TextTable: rows of text in aligned columns, for a terminal.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::report {

class TextTable {
 public:
  // A name that begins with '>' is of a column that is aligned to the right.
  explicit TextTable(const std::vector<std::string>& columns);

  // As many cells as there are columns. What would move the terminal's cursor is made visible.
  void add(std::vector<std::string> cells);
  // On a terminal no wider than that is, where it can be: texts go on in lines of their own below.
  void print(std::ostream& out) const;
  // No wider than so many columns, where it can be; 0: as wide as its texts.
  void print(std::ostream& out, std::size_t width_max) const;

 private:
  std::vector<std::size_t> widths(std::size_t width_max) const;

  std::vector<bool> is_right_;
  std::vector<std::vector<std::string>> rows_;  // the first holds the names
};

// Names and log lines come from anywhere: safe_text() of parser/foundation.
std::string printable(std::string_view text);
std::string fixed(double value, int decimals);
// Columns of a terminal, approximately: UTF-8 continuation bytes have no width, all else has one.
std::size_t display_width(std::string_view text);
// The parts of a text that are no wider than `width` (1 or more): broken at spaces, else after one
// of "_-/,=", else anywhere. No character is lost but the spaces at the breaks.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace llmb::report
