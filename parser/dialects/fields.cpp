#include "parser/dialects/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace llmb::parser {
namespace {

constexpr std::size_t kExtraFieldsMax = 64;
constexpr std::size_t kNameBytesMax = 100;
constexpr double kInt64Limit = 9.0e18;
constexpr std::string_view kInstantShape = "dddd-dd-dd dd:dd:dd";

bool is_word_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Whether `rest`, directly behind a number's last digit, goes on with that number.
bool goes_on(std::string_view rest) {
  if (rest.empty()) return false;
  const std::string_view behind = rest.substr(1);
  const bool has_digit = !behind.empty() && is_digit(behind.front());
  switch (rest.front()) {
    case '_':
      return true;
    case '.':
    case ',':
    case '\'':
      return has_digit;
    case 'e':
    case 'E':  // an exponent that is cut; "epoch" of another process's line is none
      return behind.empty() || !is_word_letter(behind.front());
    default:
      return false;
  }
}

struct FoundNumber {
  Number number;
  bool is_foreign = false;
};

std::optional<FoundNumber> find_number(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view printed = text.substr(begin);
  const char* first = printed.data();
  const char* last = first + printed.size();
  if (*first == '+') ++first;  // from_chars takes no plus
  Number number;
  const auto [end, error] = std::from_chars(first, last, number.value);
  if (error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // 1e999: beyond double, and beyond any training run.
    number.value = std::numeric_limits<double>::infinity();
  }
  if (is_word_letter(end[-1]) && end != last && (is_word_letter(*end) || *end == '('))
    return std::nullopt;
  number.text = printed.substr(0, static_cast<std::size_t>(end - printed.data()));
  number.rest = printed.substr(number.text.size());
  return FoundNumber{number, !is_word_letter(end[-1]) && goes_on(number.rest)};
}

}  // namespace

std::optional<Number> leading_number(std::string_view text) {
  const auto found = find_number(text);
  return found && !found->is_foreign ? std::optional(found->number) : std::nullopt;
}

void UnreadValues::note(bool is_step_time, bool is_number) {
  step_time_ = step_time_ || is_step_time;
  others_ = others_ || is_number;
}

std::optional<LineRefusal> UnreadValues::refusal() const {
  if (step_time_) return LineRefusal::step_time_not_read;
  return others_ ? std::optional(LineRefusal::value_not_read) : std::nullopt;
}

std::optional<Number> leading_number(std::string_view text, UnreadValues& unread) {
  const auto found = find_number(text);
  if (!found) return std::nullopt;
  if (!found->is_foreign) return found->number;
  unread.note(false, true);
  return std::nullopt;
}

std::optional<Number> number_after(std::string_view text, std::string_view name,
                                   UnreadValues& unread) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  return leading_number(text.substr(at + name.size()), unread);
}

double from_thousandths(const Number& number) {
  const bool is_plain = number.text.find_first_not_of("0123456789.") == std::string_view::npos;
  const std::string scaled = std::string(number.text) + "e-3";
  double value = 0;
  const auto [end, error] = std::from_chars(scaled.data(), scaled.data() + scaled.size(), value);
  const bool is_read = error == std::errc() && end == scaled.data() + scaled.size();
  return is_plain && is_read ? value : number.value / 1000;
}

std::optional<std::int64_t> take_integer(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + begin, last, value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<std::int64_t> take_iteration(std::string_view& text) {
  const auto value = take_integer(text);
  return value && is_iteration(*value) && !goes_on(text) ? value : std::nullopt;
}

bool take_literal(std::string_view& text, std::string_view literal) {
  if (!text.starts_with(literal)) return false;
  text.remove_prefix(literal.size());
  return true;
}

std::optional<std::int64_t> integer_of(double value) {
  if (!(std::abs(value) < kInt64Limit) || value != std::floor(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

double half_last_digit(std::string_view number_text) {
  const std::size_t exponent_at = number_text.find_first_of("eE");
  const std::string_view mantissa = number_text.substr(0, exponent_at);
  const std::size_t point = mantissa.find('.');
  int exponent = 0;
  if (point != std::string_view::npos) exponent = -static_cast<int>(mantissa.size() - point - 1);
  if (exponent_at != std::string_view::npos) {
    std::string_view printed = number_text.substr(exponent_at + 1);
    if (printed.starts_with('+')) printed.remove_prefix(1);
    int value = 0;
    std::from_chars(printed.data(), printed.data() + printed.size(), value);
    exponent += value;
  }
  return 0.5 * std::pow(10.0, exponent);
}

double half_significant_digit(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return 0.5 * std::pow(10.0, magnitude - digits + 1);
}

std::optional<double> known_tflops(double value) {
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

void add_extra_field(StepSample& sample, std::string_view name, double value) {
  if (sample.extra_fields.size() >= kExtraFieldsMax || name.empty()) return;
  sample.extra_fields.emplace_back(name.substr(0, kNameBytesMax), value);
}

void set_time_from_rate(StepSample& sample, double step_time_s) {
  sample.step_time_s = step_time_s;
  add_extra_field(sample, kTimeIsFromRate, 1);
}

void set_printed_time(StepSample& sample, std::optional<double> step_time_s, double resolution_s) {
  sample.step_time_s = step_time_s;
  sample.step_time_resolution_s = resolution_s;
  std::erase_if(sample.extra_fields,
                [](const auto& field) { return field.first == kTimeIsFromRate; });
}

std::string_view read_fields(std::string_view text, const FieldSyntax& syntax,
                             const OnField& on_field, const OnBadField& on_bad) {
  while (!text.empty()) {
    const std::size_t end = text.find(syntax.separator);
    const std::string_view field = text.substr(0, end);
    const std::string_view next = end == std::string_view::npos
                                      ? std::string_view()
                                      : text.substr(end + syntax.separator.size());
    const std::size_t colon = field.find(syntax.value_separator);
    if (colon != std::string_view::npos) {
      const std::string_view name = trimmed(field.substr(0, colon));
      const bool is_text = !syntax.text_name.empty() && name == syntax.text_name;
      const auto found = find_number(field.substr(colon + syntax.value_separator.size()));
      if (found && !found->is_foreign && !is_text) {
        on_field(name, found->number);
        if (!trimmed(found->number.rest).empty()) return text;
      } else {
        on_bad(name, found && !is_text);
      }
    }
    text = next;
  }
  return text;
}

PrintedInstant leading_instant(std::string_view text) {
  if (text.size() < kInstantShape.size()) return {};
  for (std::size_t i = 0; i < kInstantShape.size(); ++i) {
    const bool is_separator = kInstantShape[i] == ' ' && text[i] == 'T';
    if (kInstantShape[i] == 'd' ? !is_digit(text[i]) : text[i] != kInstantShape[i] && !is_separator)
      return {};
  }
  PrintedInstant result;
  result.instant = text.substr(0, kInstantShape.size());
  result.instant[10] = 'T';
  result.length = kInstantShape.size();
  if (text.size() <= result.length + 1) return result;
  const char point = text[result.length];
  if ((point != '.' && point != ',') || !is_digit(text[result.length + 1])) return result;
  result.instant += '.';
  for (++result.length; result.length < text.size() && is_digit(text[result.length]);
       ++result.length) {
    if (result.instant.size() < 30) result.instant += text[result.length];
  }
  return result;
}

}  // namespace llmb::parser
