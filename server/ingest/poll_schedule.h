// When to look at a file again, from how long ago it grew. Pure: times are given, none is asked.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "server/ingest/log_memory.h"

namespace llmb::ingest {

using Milliseconds = std::chrono::milliseconds;

enum class Temperature {
  hot,    // grew within two minutes
  warm,   // grew within a day
  cold,   // older
  ended,  // its job said that it ended, and it was quiet since: not polled at all
};

struct PollIntervals {
  Milliseconds hot{1'000};
  Milliseconds warm{15'000};
  Milliseconds cold{300'000};
};

struct Growth {
  Milliseconds since_growth{0};
  // Mean of the step times read so far; 0 where there is none.
  double step_time_s_mean = 0;
  // A finish marker was read, or the true last iteration.
  bool job_has_ended = false;
};

// How long a log must be silent before its job counts as over: ten minutes, or twenty steps where
// those take longer.
Milliseconds quiet_limit(double step_time_s_mean);

// How long a log must be silent before it is asked whether its job hangs: twenty steps, and two
// minutes at least, in which a checkpoint may be saved.
Milliseconds hung_limit(double step_time_s_typical);

// For how long a compressed file that ends in the middle may still be written: until it has not
// changed for ten minutes. Nothing: it is not any more, nor where its time lies as far ahead.
std::optional<Milliseconds> may_be_written_for(WallTime modified_at, WallTime now);

// A job that ended is watched as any other until the quiet limit has passed, because its teardown
// still writes (and fails).
Temperature temperature(const Growth& growth);

// Nothing: never again. An event or the hourly full scan still finds a change.
std::optional<Milliseconds> poll_interval(Temperature temperature, const PollIntervals& intervals);

// How long a file that failed rests: `first`, then double each time, up to `longest`.
Milliseconds park_interval(int failures, Milliseconds first, Milliseconds longest);

// Whether the log has been silent for so long that its run needs a new verdict: whether it hangs,
// then that it is over.
bool is_verdict_due(const LogMemory& log, SteadyTime now);

// When to look at a log again that was read to its end. `changes_are_reported`: scans and events
// tell of its growth, so that only a hot log needs polling. Long intervals are spread by `index`,
// so that files that were found together are not polled together.
SteadyTime next_look(const LogMemory& log, const PollIntervals& intervals,
                     bool changes_are_reported, std::uint32_t index, SteadyTime now);

// How long until the next scan of a root whose last one took `scan_took`: scanning may use a
// fiftieth of a core.
Milliseconds scan_pause(Milliseconds scan_took, Milliseconds shortest);

// What a scan of a local file system took.
struct ScanCost {
  std::chrono::nanoseconds checks{0};    // processor time, as much as in every scan
  std::chrono::nanoseconds listings{0};  // that of directories that had changed, or were new
  std::chrono::nanoseconds took{0};      // by the clock, all of it
  std::uint32_t checked = 0;             // directories
  std::uint32_t passed_over = 0;         // that seldom change, and whose turn it was not
};

// The same on a local file system. For the checks a fortieth of a core, but scans begin within ten
// seconds as long as that is less than an eighth of one; for the listings a third.
Milliseconds local_scan_pause(const ScanCost& cost, Milliseconds shortest);

// In how many scans a directory that seldom changes has one turn, where not in each.
inline constexpr std::uint32_t kScansForSeldomChanged = 6;
// The same on a local file system, by what the last scan took: in each, where all directories can
// be checked every ten seconds by an eighth of a core.
std::uint32_t scans_for_seldom_changed(const ScanCost& cost);

}  // namespace llmb::ingest
