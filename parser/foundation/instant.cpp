#include "parser/foundation/instant.h"

#include <fmt/core.h>

#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

// Takes `digits` digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::chrono::sys_days> take_date(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

// The digits behind the decimal point, as microseconds.
std::optional<std::chrono::microseconds> take_decimals(std::string_view& text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  std::int64_t value = 0;
  for (std::int64_t unit = 100'000; !text.empty() && is_digit(text.front()); unit /= 10) {
    value += unit * (text.front() - '0');
    text.remove_prefix(1);
  }
  return std::chrono::microseconds(value);
}

std::optional<std::chrono::microseconds> take_time_of_day(std::string_view& text) {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take(text, ':')) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *second > 60) return std::nullopt;  // 60: a leap second
  std::chrono::microseconds time =
      std::chrono::hours(*hour) + std::chrono::minutes(*minute) + seconds(*second);
  if (take(text, '.')) {
    const auto decimals = take_decimals(text);
    if (!decimals) return std::nullopt;
    time += *decimals;
  }
  return time;
}

// "Z" or "+02:00".
std::optional<std::chrono::minutes> take_offset(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return std::chrono::minutes(0);
  const bool is_west = take(text, '-');
  if (!is_west && !take(text, '+') && !take(text, ' ')) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  const std::chrono::minutes offset = std::chrono::hours(*hour) + std::chrono::minutes(*minute);
  return is_west ? -offset : offset;
}

// "2025-12-22T13:18:33", without decimals and zone.
std::string date_and_time(Instant instant) {
  const auto day = floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(floor<seconds>(instant) - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace

std::string instant_text(Instant instant) {
  return fmt::format("{}.{:06}Z", date_and_time(instant),
                     (instant - floor<seconds>(instant)).count());
}

std::string instant_text_s(Instant instant) {
  return date_and_time(instant) + "Z";
}

std::optional<Instant> parse_instant(std::string_view text) {
  const auto date = take_date(text);
  if (!date || text.empty()) return date;
  if (!take(text, 'T') && !take(text, 't')) return std::nullopt;
  const auto time = take_time_of_day(text);
  if (!time) return std::nullopt;
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  return *date + *time - *offset;
}

}  // namespace llmb::parser
