#include "parser/catalog/arithmetic.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

namespace llmb::parser {
namespace {

// Thrown and caught in this file: an expression's depth is no measure for a chain of Results.
struct BadExpression {
  std::string message;
};

constexpr int kParenthesesMax = 64;

// Recursive descent, one function a precedence.
class Evaluator {
 public:
  explicit Evaluator(std::string_view text) : text_(text) {}

  Interval run() {
    const Interval value = sum();
    if (next() != '\0') refuse("an operator");
    return value;
  }

 private:
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  [[noreturn]] void refuse(const std::string& expected) const {
    throw BadExpression{
        fmt::format("'{}' should have {} at character {}", text_, expected, at_ + 1)};
  }

  Interval sum() {
    Interval value = product();
    for (char sign = next(); sign == '+' || sign == '-'; sign = next()) {
      ++at_;
      const Interval right = product();
      value = sign == '+' ? value + right : value - right;
    }
    return value;
  }

  Interval product() {
    Interval value = power();
    for (char sign = next(); sign == '*' || sign == '/'; sign = next()) {
      ++at_;
      const Interval right = power();
      value = sign == '*' ? value * right : value / right;
    }
    return value;
  }

  Interval power() {
    const Interval base = term();
    if (next() != '^') return base;
    ++at_;
    const Interval exponent = term();
    return {std::pow(base.low, exponent.value), std::pow(base.value, exponent.value),
            std::pow(base.high, exponent.value)};
  }

  Interval term() {
    if (next() == '(') {
      ++at_;
      if (++depth_ > kParenthesesMax) refuse("fewer parentheses");
      const Interval value = sum();
      if (next() != ')') refuse("a ')'");
      ++at_;
      --depth_;
      return value;
    }
    const bool is_rounded = next() == '~';
    if (is_rounded) ++at_;
    const auto number = parse_printed_number(take_number());
    if (!number) refuse("a number or '('");
    return is_rounded ? Interval::of(*number) : Interval::exact(number->value);
  }

  std::string_view take_number() {
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_exponent_sign =
          (c == '+' || c == '-') && at_ > begin && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      const bool is_part = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' ||
                           c == ',' || c == 'e' || c == 'E' || is_exponent_sign;
      if (!is_part) break;
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Interval operator+(const Interval& a, const Interval& b) {
  return {a.low + b.low, a.value + b.value, a.high + b.high};
}
Interval operator-(const Interval& a, const Interval& b) {
  return {a.low - b.high, a.value - b.value, a.high - b.low};
}
Interval operator*(const Interval& a, const Interval& b) {
  return {a.low * b.low, a.value * b.value, a.high * b.high};
}
Interval operator/(const Interval& a, const Interval& b) {
  return {a.low / b.high, a.value / b.value, a.high / b.low};
}

Result<Interval> evaluate(std::string_view expression) {
  try {
    const Interval value = Evaluator(expression).run();
    if (std::isfinite(value.value)) return value;
    return fail("'" + std::string(expression) + "' divides by zero or is too large");
  } catch (const BadExpression& bad) {
    return fail(bad.message);
  }
}

}  // namespace llmb::parser
