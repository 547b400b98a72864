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
  void print(std::ostream& out) const;

 private:
  std::vector<bool> is_right_;
  std::vector<std::vector<std::string>> rows_;  // the first holds the names
};

// Names and log lines come from anywhere: safe_text() of parser/foundation.
std::string printable(std::string_view text);
std::string fixed(double value, int decimals);
// Columns of a terminal, approximately: UTF-8 continuation bytes have no width, all else has one.
std::size_t display_width(std::string_view text);

}  // namespace llmb::report
