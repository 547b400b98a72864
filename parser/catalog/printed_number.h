// PrintedNumber: a figure as a document prints it, and the values it can stand for. Documents
// round, and some cut digits off; both are honest, and neither is an error of arithmetic.
#pragma once

#include <string>
#include <string_view>

#include "parser/result.h"

namespace llmb::parser {

struct PrintedNumber {
  std::string text;  // as printed: "5.293", "4.27E+15", "434,526,299,070,464"
  double value = 0;
  double last_digit = 0;  // what one more in the last printed digit would add

  // The true value lies here if the figure was rounded to nearest, or cut off.
  double low() const { return value - last_digit / 2; }
  double high() const { return value + last_digit; }

  bool operator==(const PrintedNumber&) const = default;
};

// Digits with an optional fraction and exponent; commas between groups of digits are skipped.
Result<PrintedNumber> parse_printed_number(std::string_view text);

}  // namespace llmb::parser
