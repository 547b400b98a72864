// One line of a csv file by RFC 4180: ended by CRLF, fields quoted where they hold a comma or a
// quote. Foreign text is made safe, so that no field holds a line's end or an escape, and none is
// read as a formula by a spreadsheet: one that begins like it has an apostrophe before it. Numbers
// are the shortest text that reads back to the same double, or nan, inf and -inf.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "parser/foundation/safe_text.h"

namespace llmb::report {

// Written when it is destroyed.
class CsvLine {
 public:
  explicit CsvLine(std::ostream& out) : out_(out) {}
  ~CsvLine() { out_ << "\r\n"; }
  CsvLine(const CsvLine&) = delete;
  CsvLine& operator=(const CsvLine&) = delete;

  void add(std::string_view foreign) {
    separate();
    std::string text = parser::safe_text(foreign);
    if (!text.empty() && kFormulaBegins.find(text.front()) != std::string_view::npos) {
      text.insert(0, 1, '\'');
    }
    if (text.find_first_of(",\"") == std::string::npos) {
      out_ << text;
      return;
    }
    out_ << '"';
    for (const char c : text) {
      if (c == '"') out_ << '"';
      out_ << c;
    }
    out_ << '"';
  }

  void add(std::int64_t number) {
    separate();
    out_ << number;
  }

  void add(double number) {
    if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();  // without a sign
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    separate();
    out_ << std::string_view(text.data(), static_cast<std::size_t>(end - text.data()));
  }

  template <typename T>
  void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    } else {
      add_empty();
    }
  }

  void add_flag(std::optional<bool> flag) {
    separate();
    if (flag) out_ << (*flag ? "true" : "false");
  }

  void add_empty(int count = 1) {
    for (int cell = 0; cell < count; ++cell) separate();
  }

 private:
  static constexpr std::string_view kFormulaBegins = "=+-@";

  void separate() {
    if (!is_first_) out_ << ',';
    is_first_ = false;
  }

  std::ostream& out_;
  bool is_first_ = true;
};

}  // namespace llmb::report
