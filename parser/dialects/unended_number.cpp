#include "parser/dialects/unended_number.h"

#include <algorithm>

#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kNameBytes = 16;
constexpr std::size_t kNumberBytesMax = 32;

// Of a number, its sign, exponent, suffix and unit: "1.61e+03", "2,714", "1.19K", "68.57Gi".
bool is_of_number(char c) {
  return is_name_byte(c) || c == ',' || c == '+' || c == '%';
}

// Where the number begins that `line` ends with; its length where it ends with none.
std::size_t begin_of_last_number(std::string_view line) {
  std::size_t begin = line.size();
  while (begin > 0 && is_of_number(line[begin - 1])) --begin;
  const std::size_t first = line.find_first_not_of("+-.", begin);
  return first != std::string_view::npos && is_digit(line[first]) ? begin : line.size();
}

// "0.0271" -> "0.0999": how long, where the point stands, and how small.
char form_of(char c, bool is_behind_zeros) {
  return is_digit(c) && (is_behind_zeros || c != '0') ? '9' : c;
}

// Without the number before it, which is another one on each line.
std::string_view name_before(std::string_view line, std::size_t begin) {
  const std::string_view before = line.substr(0, begin);
  const std::size_t bytes = std::min(begin, kNameBytes);
  const std::size_t other = before.find_last_of("0123456789");
  const std::size_t behind_other = other == std::string_view::npos ? 0 : other + 1;
  return before.substr(std::max(begin - bytes, behind_other));
}

// The end of the name that stands before the number, and the number's form.
void describe(std::string_view line, std::size_t begin, std::string& into) {
  into.assign(name_before(line, begin));
  bool is_behind_zeros = false;
  for (const char c : line.substr(begin)) {
    const char form = form_of(c, is_behind_zeros);
    is_behind_zeros = is_behind_zeros || form == '9';
    into += form;
  }
}

bool may_go_on(std::string_view number) {
  return std::all_of(number.begin(), number.end(),
                     [](char c) { return is_digit(c) || c == '-' || c == '+'; });
}

}  // namespace

void UnendedNumber::see(std::string_view line) {
  const std::size_t begin = begin_of_last_number(line);
  if (begin == line.size() || line.size() - begin > kNumberBytesMax) return;
  describe(line, begin, endings_.at(next_));
  next_ = (next_ + 1) % kLinesMax;
}

std::string_view UnendedNumber::whole_part(std::string_view line) const {
  const std::size_t begin = begin_of_last_number(line);
  const std::string_view without = line.substr(0, begin);
  if (begin == line.size() || may_go_on(line.substr(begin))) return without;
  std::string ending;
  describe(line, begin, ending);
  const std::string_view name = name_before(line, begin);
  const bool has_like = std::find(endings_.begin(), endings_.end(), ending) != endings_.end();
  const bool has_longer =
      std::any_of(endings_.begin(), endings_.end(), [&](const std::string& other) {
        return other.size() > ending.size() && other.starts_with(name);
      });
  return has_like && !has_longer ? line : without;
}

void UnendedNumber::save(StateWriter& state) const {
  for (std::size_t i = 0; i < kLinesMax; ++i) state.text(endings_.at((next_ + i) % kLinesMax));
}

void UnendedNumber::restore(StateReader& state) {
  next_ = 0;
  for (std::string& ending : endings_) ending = state.text();
}

}  // namespace llmb::parser
