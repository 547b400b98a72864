// Arithmetic as the documents write it, with what rounding can explain: numbers, + - * / ^ and
// parentheses. A number behind '~' is a measured or rounded one: it stands for all values that
// print like it; others are exact.
#pragma once

#include <string_view>

#include "parser/catalog/printed_number.h"
#include "parser/result.h"

namespace llmb::parser {

// All values that a calculation from rounded figures can have. Positive numbers only.
struct Interval {
  double low = 0;
  double value = 0;  // from the figures as printed
  double high = 0;

  static Interval exact(double value) { return {value, value, value}; }
  static Interval of(const PrintedNumber& number) {
    return {number.low(), number.value, number.high()};
  }
  // Some value of this interval is printed as that number.
  bool explains(const PrintedNumber& printed) const {
    return low <= printed.high() && high >= printed.low();
  }
};

Interval operator+(const Interval& a, const Interval& b);
Interval operator-(const Interval& a, const Interval& b);
Interval operator*(const Interval& a, const Interval& b);
Interval operator/(const Interval& a, const Interval& b);

// "256 * 4.27e15 / ~6.631 / 128 / 4.9e15 * 100". The error says what is wrong and where.
Result<Interval> evaluate(std::string_view expression);

}  // namespace llmb::parser
