#include "server/ingest/timestamps.h"

#include <charconv>
#include <cstdio>
#include <ctime>

namespace llmb::ingest {

std::string rfc3339(WallTime time) {
  const auto since_epoch =
      std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
  std::int64_t seconds = since_epoch / 1'000'000;
  std::int64_t microseconds = since_epoch % 1'000'000;
  if (microseconds < 0) {
    microseconds += 1'000'000;
    --seconds;
  }
  const std::time_t as_time_t = seconds;
  std::tm parts{};
  gmtime_r(&as_time_t, &parts);
  char text[64];
  const int length =
      std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", parts.tm_year + 1900,
                    parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                    static_cast<int>(microseconds));
  return {text, static_cast<std::size_t>(length)};
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  // 2026-01-02T03:04:05.123456Z
  if (text.size() != 27 || text[10] != 'T' || text[19] != '.' || text[26] != 'Z') return {};
  const auto number = [&](std::size_t begin, std::size_t length) -> int {
    int value = -1;
    const char* const first = text.data() + begin;
    const auto [end, error] = std::from_chars(first, first + length, value);
    return error == std::errc() && end == first + length ? value : -1;
  };
  std::tm parts{};
  parts.tm_year = number(0, 4) - 1900;
  parts.tm_mon = number(5, 2) - 1;
  parts.tm_mday = number(8, 2);
  parts.tm_hour = number(11, 2);
  parts.tm_min = number(14, 2);
  parts.tm_sec = number(17, 2);
  const int microseconds = number(20, 6);
  if (parts.tm_mon < 0 || parts.tm_mday < 1 || parts.tm_hour < 0 || parts.tm_min < 0 ||
      parts.tm_sec < 0 || microseconds < 0) {
    return {};
  }
  return WallTime(std::chrono::seconds(timegm(&parts)) + std::chrono::microseconds(microseconds));
}

WallTime wall_time_from_ns(std::int64_t ns) {
  return WallTime(std::chrono::floor<WallTime::duration>(std::chrono::nanoseconds(ns)));
}

}  // namespace llmb::ingest
