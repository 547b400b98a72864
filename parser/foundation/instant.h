// Instants as text: RFC 3339 in, RFC 3339 in UTC out. One reader for what users and programs write,
// and two writers: whole seconds for people and the API, six decimals for stored rows.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmb::parser {

using Instant = std::chrono::sys_time<std::chrono::microseconds>;

// "2025-12-22T13:18:33.500000Z". Always six decimals: such texts sort as the instants do.
std::string instant_text(Instant instant);

// "2025-12-22T13:18:33Z": the second in which the instant lies.
std::string instant_text_s(Instant instant);

// Of a clock that counts otherwise: rounded down.
template <typename Duration>
std::string instant_text(std::chrono::sys_time<Duration> time) {
  return instant_text(std::chrono::floor<Instant::duration>(time));
}
template <typename Duration>
std::string instant_text_s(std::chrono::sys_time<Duration> time) {
  return instant_text_s(std::chrono::floor<Instant::duration>(time));
}

// Reads "2025-12-22", "2025-12-22T15:18:33Z" and "2025-12-22T15:18:33.5+02:00". A blank in front of
// the offset counts as '+', which is what a form decoder makes of it. Decimals after the sixth are
// dropped. Nothing where the text is none of these, or where no such instant exists.
std::optional<Instant> parse_instant(std::string_view text);

// The instant that many seconds or nanoseconds after the epoch; nanoseconds are rounded down.
constexpr Instant instant_of_unix_s(std::int64_t seconds) {
  return Instant(std::chrono::seconds(seconds));
}
constexpr Instant instant_of_unix_ns(std::int64_t nanoseconds) {
  return Instant(
      std::chrono::floor<std::chrono::microseconds>(std::chrono::nanoseconds(nanoseconds)));
}

}  // namespace llmb::parser
