#include "server/report/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>

#include "parser/foundation/safe_text.h"
#include "parser/foundation/utf8.h"

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
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return !parser::is_continuation_byte(c); }));
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

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> parts;
  while (display_width(text) > width) {
    std::size_t end = 0;  // of what fits
    for (std::size_t columns = 0; end < text.size(); ++end) {
      const bool is_new = !parser::is_continuation_byte(text[end]);
      if (is_new && ++columns > width) break;
    }
    std::size_t cut = end;
    if (text[end] != ' ') {
      const std::string_view fits = text.substr(0, end);
      const std::size_t space = fits.find_last_of(' ');
      const std::size_t joint = fits.find_last_of("_-/,=");
      if (space != std::string_view::npos && space > 0) {
        cut = space;
      } else if (joint != std::string_view::npos) {
        cut = joint + 1;
      }
    }
    parts.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  parts.emplace_back(text);
  return parts;
}

// The widest column of text gives way first, down to a width at which it can still be read.
std::vector<std::size_t> TextTable::widths(std::size_t width_max) const {
  constexpr std::size_t kTextMin = 16;
  std::vector<std::size_t> all(is_right_.size());
  std::size_t total = all.empty() ? 0 : 2 * (all.size() - 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const auto& row : rows_) all[i] = std::max(all[i], display_width(row[i]));
    total += all[i];
  }
  for (; width_max > 0 && total > width_max; --total) {
    std::size_t widest = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!is_right_[i] && (widest == all.size() || all[i] > all[widest])) widest = i;
    }
    if (widest == all.size() || all[widest] <= kTextMin) break;
    --all[widest];
  }
  return all;
}

void TextTable::print(std::ostream& out) const {
  winsize size{};
  const bool is_terminal = &out == &std::cout && isatty(STDOUT_FILENO) != 0 &&
                           ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  print(out, is_terminal ? size.ws_col : 0);
}

void TextTable::print(std::ostream& out, std::size_t width_max) const {
  const std::vector<std::size_t> widths = this->widths(width_max);
  const auto print_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t width = display_width(cells[i]);
      const std::string padding(widths[i] - std::min(widths[i], width), ' ');
      line += (i > 0 ? "  " : "") + (is_right_[i] ? padding + cells[i] : cells[i] + padding);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  const auto print_row = [&](const std::vector<std::string>& row) {
    std::vector<std::vector<std::string>> parts;
    parts.reserve(row.size());
    std::size_t line_count = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      parts.push_back(wrapped(row[i], std::max<std::size_t>(1, widths[i])));
      line_count = std::max(line_count, parts.back().size());
    }
    for (std::size_t at = 0; at < line_count; ++at) {
      std::vector<std::string> cells;
      cells.reserve(parts.size());
      for (const auto& part : parts) cells.push_back(at < part.size() ? part[at] : std::string());
      print_line(cells);
    }
  };
  print_row(rows_.front());
  std::vector<std::string> rule;
  rule.reserve(widths.size());
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  print_line(rule);
  for (std::size_t i = 1; i < rows_.size(); ++i) print_row(rows_[i]);
}

}  // namespace llmb::report
