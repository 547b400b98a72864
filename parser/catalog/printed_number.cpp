#include "parser/catalog/printed_number.h"

#include <cctype>
#include <charconv>
#include <cmath>

namespace llmb::parser {

Result<PrintedNumber> parse_printed_number(std::string_view text) {
  const auto refuse = [&] {
    return fail("'" + std::string(text) + "' is no number such as 5.293, 4.27E+15 or 434,526");
  };
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0) return refuse();
  std::string digits;
  for (const char c : text) {
    if (c != ',') digits += c;
  }
  PrintedNumber number;
  number.text = text;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number.value);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(number.value)) return refuse();

  const std::size_t exponent_at = digits.find_first_of("eE");
  const std::string mantissa = digits.substr(0, exponent_at);
  const std::size_t point = mantissa.find('.');
  const auto decimals =
      point == std::string::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
  int exponent = 0;
  if (exponent_at != std::string::npos) {
    std::size_t begin = exponent_at + 1;
    if (begin < digits.size() && digits[begin] == '+') ++begin;
    std::from_chars(digits.data() + begin, end, exponent);
  }
  number.last_digit = std::pow(10.0, exponent - decimals);
  return number;
}

}  // namespace llmb::parser
