// Instants as the database keeps them: RFC 3339, UTC, always with six decimals, so that texts
// order as the instants do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/ingest/clock.h"

namespace llmb::ingest {

std::string rfc3339(WallTime time);
// Nothing for what rfc3339() did not write.
std::optional<WallTime> parse_rfc3339(std::string_view text);

// Nanoseconds since the epoch, as stat reports them.
WallTime wall_time_from_ns(std::int64_t ns);

}  // namespace llmb::ingest
