// Numbers and `name: value` fields, as training programs print them. What the dialects share below
// the level of lines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "parser/dialects/line_refusal.h"
#include "parser/foundation/text.h"
#include "parser/step_sample.h"

namespace llmb::parser {

// Larger ones are damage, not iterations.
inline constexpr std::int64_t kIterationMax = 1'000'000'000'000'000;

constexpr bool is_iteration(std::int64_t value) {
  return value >= 0 && value <= kIterationMax;
}

struct Number {
  double value = 0;
  std::string_view text;  // as printed
  std::string_view rest;  // what follows it
};

// The number at the beginning of `text` (after blanks): decimal, exponent, nan, inf, of any sign.
// Nothing where there is none, where a letter goes on directly from "nan" or "inf", and where the
// number goes on in a way that is not ours, so that what was read would be another one: "5,3",
// "5_3", "5'312", "5.3.1", "5.3e". Units and other processes' text may follow directly.
std::optional<Number> leading_number(std::string_view text);

// Which of a line's values could not be read. Text in the place of a number is no fault of the
// line, unless it is that of the step's time.
class UnreadValues {
 public:
  void note(bool is_step_time, bool is_number);
  // Nothing where all could.
  std::optional<LineRefusal> refusal() const;

 private:
  bool step_time_ = false;
  bool others_ = false;
};

// leading_number(), which notes what that refuses for how it goes on.
std::optional<Number> leading_number(std::string_view text, UnreadValues& unread);
// The same behind the first `name`; nothing where there is none.
std::optional<Number> number_after(std::string_view text, std::string_view name,
                                   UnreadValues& unread);

// A thousandth of the number, rounded once: "7137.9" -> 7.1379, where a division of the already
// rounded value gives 7.137899999999999.
double from_thousandths(const Number& number);

// The integer at the beginning of `text` after blanks; `text` is moved behind it.
std::optional<std::int64_t> take_integer(std::string_view& text);

// The same, and nothing where the integer is no iteration, or goes on as leading_number() refuses.
std::optional<std::int64_t> take_iteration(std::string_view& text);

// Moves `text` behind `literal` if it begins with it.
bool take_literal(std::string_view& text, std::string_view literal);

// Nothing where the value is no integer that fits.
std::optional<std::int64_t> integer_of(double value);

// Half of the last printed digit: "7.38" -> 0.005, "1.2e+01" -> 0.5.
double half_last_digit(std::string_view number_text);
// Half of the last of `digits` significant digits, whichever were printed: 7.4 with 4 -> 0.0005.
double half_significant_digit(double value, int digits);

// A producer that cannot tell the FLOP/s prints 0 or -1: then nothing. NaN and infinities likewise.
std::optional<double> known_tflops(double value);

// Appends to sample.extra_fields; over 64 fields or 100 bytes of name are dropped, so that a broken
// line cannot grow without bound.
void add_extra_field(StepSample& sample, std::string_view name, double value);

// The step's time follows from a printed rate: as kTimeIsFromRate says; or it is printed after all.
void set_time_from_rate(StepSample& sample, double step_time_s);
void set_printed_time(StepSample& sample, std::optional<double> step_time_s, double resolution_s);

// Fields of `text` between `separator`s, each "name<value_separator>value". Calls on_field(name,
// number) for those with a numeric value; on_bad(name, is_number) for the others, which are foreign
// numbers or text. Stops after a value that other text is glued to. Returns what was not looked at.
struct FieldSyntax {
  std::string_view separator;
  std::string_view value_separator;
  // The field of this name is text, even where it begins as a number does: "v_num=0-11".
  std::string_view text_name = {};
};
using OnField = std::function<void(std::string_view name, const Number& number)>;
using OnBadField = std::function<void(std::string_view name, bool is_number)>;
std::string_view read_fields(std::string_view text, const FieldSyntax& syntax,
                             const OnField& on_field, const OnBadField& on_bad);

// "2025-06-12 00:02:13.549782" or ",549" at the beginning of `text` ->
// "2025-06-12T00:02:13.549782"; `length` is how many bytes it takes. Empty where there is none.
struct PrintedInstant {
  std::string instant;
  std::size_t length = 0;
};
PrintedInstant leading_instant(std::string_view text);

}  // namespace llmb::parser
