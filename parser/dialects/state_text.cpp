#include "parser/dialects/state_text.h"

#include <array>
#include <charconv>

#include "parser/foundation/hex.h"
#include "parser/foundation/parse_number.h"
#include "parser/step_fields.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kNothing = "-";
constexpr std::size_t kStateFieldsMax = 4096;

template <typename Number>
bool read_whole(std::string_view text, Number& value) {
  const auto number = parse_number<Number>(text);
  value = number.value_or(Number{});
  return number.has_value();
}

template <typename T>
std::string write_number(T value) {
  std::array<char, 40> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

}  // namespace

void StateWriter::word(std::string_view value) {
  if (!out_.empty()) out_ += ' ';
  out_ += value;
}

void StateWriter::integer(std::int64_t value) {
  word(write_number(value));
}
void StateWriter::unsigned_integer(std::uint64_t value) {
  word(write_number(value));
}
void StateWriter::number(double value) {
  word(write_number(value));
}

void StateWriter::text(std::string_view value) {
  std::string escaped = "\"";  // so that an empty text is a word too
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '%') {
      escaped += c;
    } else {
      escaped += '%';
      escaped += kHexDigits[byte >> 4];
      escaped += kHexDigits[byte & 15U];
    }
  }
  word(escaped);
}

void StateWriter::optional_integer(std::optional<std::int64_t> value) {
  value ? integer(*value) : word(kNothing);
}

void StateWriter::optional_number(std::optional<double> value) {
  value ? number(*value) : word(kNothing);
}

void StateWriter::sample(const StepSample& sample) {
  for_each_step_field([&](const auto& field) { value(sample.*field.member); });
  integer(static_cast<std::int64_t>(sample.extra_fields.size()));
  for (const auto& [name, number_of_field] : sample.extra_fields) {
    text(name);
    number(number_of_field);
  }
}

std::string_view StateReader::word() {
  if (failed_ || rest_.empty()) {
    failed_ = true;
    return {};
  }
  const std::size_t end = rest_.find(' ');
  const std::string_view result = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
  return result;
}

std::int64_t StateReader::integer() {
  std::int64_t value = 0;
  if (!read_whole(word(), value)) failed_ = true;
  return failed_ ? 0 : value;
}

std::uint64_t StateReader::unsigned_integer() {
  std::uint64_t value = 0;
  if (!read_whole(word(), value)) failed_ = true;
  return failed_ ? 0 : value;
}

double StateReader::number() {
  double value = 0;
  if (!read_whole(word(), value)) failed_ = true;
  return failed_ ? 0 : value;
}

std::string StateReader::text() {
  const std::string_view escaped = word();
  std::string result;
  if (escaped.empty() || escaped.front() != '"') failed_ = true;
  for (std::size_t i = 1; !failed_ && i < escaped.size(); ++i) {
    if (escaped[i] != '%') {
      result += escaped[i];
      continue;
    }
    const int high = i + 2 < escaped.size() ? hex_value(escaped[i + 1]) : -1;
    const int low = i + 2 < escaped.size() ? hex_value(escaped[i + 2]) : -1;
    if (high < 0 || low < 0) failed_ = true;
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return failed_ ? std::string() : result;
}

std::optional<std::int64_t> StateReader::optional_integer() {
  const std::string_view text = word();
  if (failed_ || text == kNothing) return std::nullopt;
  std::int64_t value = 0;
  if (!read_whole(text, value)) failed_ = true;
  return failed_ ? std::nullopt : std::optional(value);
}

std::optional<double> StateReader::optional_number() {
  const std::string_view text = word();
  if (failed_ || text == kNothing) return std::nullopt;
  double value = 0;
  if (!read_whole(text, value)) failed_ = true;
  return failed_ ? std::nullopt : std::optional(value);
}

void StateReader::read(std::optional<std::int32_t>& value) {
  const auto number = optional_integer();
  value = number ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

std::size_t StateReader::count(std::size_t limit) {
  const std::int64_t value = integer();
  if (value < 0 || static_cast<std::uint64_t>(value) > limit) failed_ = true;
  return failed_ ? 0 : static_cast<std::size_t>(value);
}

StepSample StateReader::sample() {
  StepSample sample;
  for_each_step_field([&](const auto& field) { read(sample.*field.member); });
  const std::size_t extra_count = count(kStateFieldsMax);
  for (std::size_t i = 0; i < extra_count && !failed_; ++i) {
    std::string name = text();
    sample.extra_fields.emplace_back(std::move(name), number());
  }
  return sample;
}

}  // namespace llmb::parser
