#include "server/ingest/poll_schedule.h"

#include <algorithm>
#include <cmath>

#include "parser/statistics/status_reason.h"

namespace llmb::ingest {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Milliseconds kPolledHotFor = minutes(2);
constexpr Milliseconds kWarmFor = hours(24);
constexpr Milliseconds kQuietAtLeast = minutes(10);
constexpr Milliseconds kHungAtLeast{static_cast<Milliseconds::rep>(parser::kHungAtLeastS * 1e3)};
constexpr double kQuietSteps = parser::kHungStepTimes;
// A step time that makes no sense must not keep a run alive for ever.
constexpr Milliseconds kQuietAtMost = hours(24);
constexpr int kScanShare = 50;
constexpr int kLocalScanShare = 40;
constexpr int kLocalScanShareMost = 8;
constexpr int kListingShare = 2;
// From one scan to the next; a log that grew has to be read then.
constexpr Milliseconds kLocalScanPeriod{9'800};

Milliseconds twenty_steps(double step_time_s, Milliseconds at_least) {
  if (!std::isfinite(step_time_s) || step_time_s <= 0) return at_least;
  const double limit_ms = std::ceil(kQuietSteps * step_time_s * 1e3);
  if (limit_ms >= static_cast<double>(kQuietAtMost.count())) return kQuietAtMost;
  return std::max(at_least, Milliseconds(static_cast<Milliseconds::rep>(limit_ms)));
}

Milliseconds next_verdict(const LogMemory& log) {
  const Milliseconds over = quiet_limit(log.step_time_s_mean);
  return log.silence_is_judged ? over : std::min(over, hung_limit(log.step_time_s_typical));
}

}  // namespace

Milliseconds quiet_limit(double step_time_s_mean) {
  return twenty_steps(step_time_s_mean, kQuietAtLeast);
}

Milliseconds hung_limit(double step_time_s_typical) {
  return twenty_steps(step_time_s_typical, kHungAtLeast);
}

std::optional<Milliseconds> may_be_written_for(WallTime modified_at, WallTime now) {
  const auto ago = now - modified_at;
  if (ago >= kQuietAtLeast || ago <= -kQuietAtLeast) return std::nullopt;
  return std::chrono::ceil<Milliseconds>(kQuietAtLeast - ago);
}

Temperature temperature(const Growth& growth) {
  if (growth.job_has_ended && growth.since_growth >= quiet_limit(growth.step_time_s_mean)) {
    return Temperature::ended;
  }
  if (growth.since_growth < kPolledHotFor) return Temperature::hot;
  return growth.since_growth < kWarmFor ? Temperature::warm : Temperature::cold;
}

std::optional<Milliseconds> poll_interval(Temperature temperature, const PollIntervals& intervals) {
  switch (temperature) {
    case Temperature::hot:
      return intervals.hot;
    case Temperature::warm:
      return intervals.warm;
    case Temperature::cold:
      return intervals.cold;
    case Temperature::ended:
      break;
  }
  return std::nullopt;
}

Milliseconds park_interval(int failures, Milliseconds first, Milliseconds longest) {
  Milliseconds interval = first;
  for (int i = 1; i < failures && interval < longest; ++i) interval *= 2;
  return std::min(interval, longest);
}

Milliseconds scan_pause(Milliseconds scan_took, Milliseconds shortest) {
  return std::max(shortest, scan_took * kScanShare);
}

Milliseconds local_scan_pause(const ScanCost& cost, Milliseconds shortest) {
  const auto share = [](std::chrono::nanoseconds time, int times) {
    return std::chrono::duration_cast<Milliseconds>(time * times);
  };
  const Milliseconds cheap =
      std::min(share(cost.checks, kLocalScanShare), kLocalScanPeriod - share(cost.took, 1));
  return std::max({shortest, cheap, share(cost.checks, kLocalScanShareMost),
                   share(cost.listings, kListingShare)});
}

std::uint32_t scans_for_seldom_changed(const ScanCost& cost) {
  const double all = static_cast<double>(cost.checked) + cost.passed_over;
  const auto checks_of_all = cost.checks * (all / std::max(1U, cost.checked));
  return checks_of_all * kLocalScanShareMost <= kLocalScanPeriod ? 1 : kScansForSeldomChanged;
}

bool is_verdict_due(const LogMemory& log, SteadyTime now) {
  return !log.is_settled && now - log.silent_since >= next_verdict(log);
}

SteadyTime next_look(const LogMemory& log, const PollIntervals& intervals,
                     bool changes_are_reported, std::uint32_t index, SteadyTime now) {
  const auto since_growth = std::chrono::duration_cast<Milliseconds>(now - log.silent_since);
  const Temperature heat = temperature({since_growth, log.step_time_s_mean, log.job_has_ended});
  const bool needs_poll = !changes_are_reported || heat == Temperature::hot;
  const auto interval = needs_poll ? poll_interval(heat, intervals) : std::nullopt;
  SteadyTime due = SteadyTime::max();
  if (interval) {
    const Milliseconds spread = *interval > intervals.hot ? *interval / 4 : Milliseconds(0);
    due = now + *interval - spread * (index % 16) / 16;
  }
  if (!log.is_settled) {
    due = std::min(due, now + std::max(intervals.hot, next_verdict(log) - since_growth));
  }
  return due;
}

}  // namespace llmb::ingest
