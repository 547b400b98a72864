#include "server/dispatch/instant.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace llmb::dispatch {

WallTime wall_now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

std::string instant_text(WallTime time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(second);
  std::tm fields{};
  gmtime_r(&seconds, &fields);
  std::array<char, 24> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &fields);
  const std::string micros = std::to_string(1'000'000 + (time - second).count());
  return std::string(date.data()) + "." + micros.substr(1) + "Z";
}

std::string instant_text(std::int64_t unix_s) {
  return instant_text(WallTime(std::chrono::seconds(unix_s)));
}

std::optional<WallTime> parse_instant(std::string_view text) {
  std::tm fields{};
  long micros = 0;
  int length = 0;
  const std::string copy(text);
  const int count = std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%6ldZ%n", &fields.tm_year,
                                &fields.tm_mon, &fields.tm_mday, &fields.tm_hour, &fields.tm_min,
                                &fields.tm_sec, &micros, &length);
  if (count != 7 || static_cast<std::size_t>(length) != copy.size()) return std::nullopt;
  fields.tm_year -= 1900;
  fields.tm_mon -= 1;
  return WallTime(std::chrono::seconds(timegm(&fields)) + std::chrono::microseconds(micros));
}

}  // namespace llmb::dispatch
