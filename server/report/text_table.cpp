#include "server/report/text_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

#include "parser/foundation/safe_text.h"

namespace llmb::report {

std::string printable(std::string_view text) {
  return parser::safe_text(text);
}

std::string fixed(double value, int decimals) {
  std::array<char, 400> text{};  // the longest double has 309 digits before the point
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  // What rounds to nothing has no sign.
  const bool is_nothing =
      std::string_view(text.data()).find_first_of("123456789") == std::string_view::npos;
  return text.data() + (is_nothing && text[0] == '-' ? 1 : 0);
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

TextTable::TextTable(const std::vector<std::string>& columns) {
  std::vector<std::string> names;
  for (const std::string& column : columns) {
    is_right_.push_back(column.starts_with('>'));
    names.push_back(is_right_.back() ? column.substr(1) : column);
  }
  rows_.push_back(std::move(names));
}

void TextTable::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  cells.resize(is_right_.size());
  rows_.push_back(std::move(cells));
}

void TextTable::print(std::ostream& out) const {
  std::vector<std::size_t> widths(is_right_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  }
  const auto print_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - display_width(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (is_right_[i] ? padding + row[i] : row[i] + padding);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  print_row(rows_.front());
  std::vector<std::string> rule;
  rule.reserve(widths.size());
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  print_row(rule);
  for (std::size_t i = 1; i < rows_.size(); ++i) print_row(rows_[i]);
}

}  // namespace llmb::report
