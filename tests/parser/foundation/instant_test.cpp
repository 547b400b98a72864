#include "parser/foundation/instant.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

using std::chrono::microseconds;

std::optional<std::string> normalised(std::string_view text) {
  const auto instant = parse_instant(text);
  return instant ? std::optional(instant_text_s(*instant)) : std::nullopt;
}

TEST(Instant, IsReadInAnyZone) {
  EXPECT_EQ(normalised("2025-12-22"), "2025-12-22T00:00:00Z");
  EXPECT_EQ(normalised("2025-12-22T15:18:33Z"), "2025-12-22T15:18:33Z");
  EXPECT_EQ(normalised("2025-12-22T15:18:33.999Z"), "2025-12-22T15:18:33Z");
  EXPECT_EQ(normalised("2025-12-31T23:30:00-01:30"), "2026-01-01T01:00:00Z");
  EXPECT_EQ(normalised("2025-01-01T00:30:00+01:00"), "2024-12-31T23:30:00Z");
  EXPECT_EQ(normalised("2025-01-01T00:30:00 01:00"), "2024-12-31T23:30:00Z");
  EXPECT_EQ(normalised("2024-02-29"), "2024-02-29T00:00:00Z");
}

TEST(Instant, RefusesWhatIsNone) {
  for (const char* text :
       {"", "2025", "2025-13-01", "2025-02-29", "2025-1-1", "2025-12-22T15:18",
        "2025-12-22T24:00:00Z", "2025-12-22T15:18:33", "2025-12-22T15:18:33.Z",
        "2025-12-22T15:18:33.00004xZ", "2025-12-22T15:18:33Zx", "2025-12-22 15:18:33Z", "now"}) {
    EXPECT_EQ(parse_instant(text), std::nullopt) << text;
  }
}

TEST(Instant, ComesBackAsItWasWritten) {
  const Instant instant = instant_of_unix_s(1'766'416'713) + microseconds(42);
  EXPECT_EQ(instant_text(instant), "2025-12-22T15:18:33.000042Z");
  EXPECT_EQ(parse_instant(instant_text(instant)), instant);
  EXPECT_EQ(instant_text_s(instant), "2025-12-22T15:18:33Z");
}

TEST(Instant, BeforeTheEpochIsRoundedDown) {
  const Instant instant{microseconds(-1)};
  EXPECT_EQ(instant_text(instant), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(instant_text_s(instant), "1969-12-31T23:59:59Z");
  EXPECT_EQ(parse_instant(instant_text(instant)), instant);
  EXPECT_EQ(instant_of_unix_ns(-1), instant);
}

TEST(Instant, KeepsSixDecimals) {
  EXPECT_EQ(instant_text(*parse_instant("2025-12-22T15:18:33.5Z")), "2025-12-22T15:18:33.500000Z");
  EXPECT_EQ(instant_text(*parse_instant("2025-12-22T15:18:33.1234567Z")),
            "2025-12-22T15:18:33.123456Z");
}

TEST(Instant, OfAFinerClockIsWrittenToo) {
  const std::chrono::sys_time<std::chrono::nanoseconds> time(std::chrono::nanoseconds(1'999));
  EXPECT_EQ(instant_text(time), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(instant_text_s(time), "1970-01-01T00:00:00Z");
}

}  // namespace
}  // namespace llmb::parser
