// Instants of job rows: RFC 3339, UTC, with six decimals, so that texts sort as times do; and the
// Unix seconds that Slurm gives.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmb::dispatch {

using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

WallTime wall_now();
std::string instant_text(WallTime time);
std::string instant_text(std::int64_t unix_s);
// Nothing for what instant_text() did not write.
std::optional<WallTime> parse_instant(std::string_view text);

}  // namespace llmb::dispatch
