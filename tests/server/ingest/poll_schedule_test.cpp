#include "server/ingest/poll_schedule.h"

#include <gtest/gtest.h>

#include "server/ingest/operation_budget.h"

namespace llmb::ingest {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::optional<Milliseconds> interval_of(Milliseconds since_growth, double step_s, bool has_ended) {
  return poll_interval(temperature({since_growth, step_s, has_ended}), PollIntervals());
}

TEST(PollSchedule, AsksOftenForWhatGrewLately) {
  EXPECT_EQ(interval_of(seconds(0), 7, false), seconds(1));
  EXPECT_EQ(interval_of(seconds(119), 7, false), seconds(1));
  EXPECT_EQ(interval_of(minutes(2), 7, false), seconds(15));
  EXPECT_EQ(interval_of(hours(23), 7, false), seconds(15));
  EXPECT_EQ(interval_of(hours(24), 7, false), minutes(5));
}

TEST(PollSchedule, NeverAsksForAJobThatEnded) {
  EXPECT_EQ(interval_of(minutes(11), 7, true), std::nullopt);
  EXPECT_EQ(interval_of(minutes(9), 7, true), seconds(15)) << "its teardown still writes";
  EXPECT_EQ(interval_of(minutes(11), 60, true), seconds(15)) << "20 steps are 20 minutes";
}

TEST(PollSchedule, CallsAJobOverAfterTenMinutesOrTwentySteps) {
  EXPECT_EQ(quiet_limit(0), minutes(10));
  EXPECT_EQ(quiet_limit(7.5), minutes(10));
  EXPECT_EQ(quiet_limit(60), minutes(20));
  EXPECT_EQ(quiet_limit(1e12), hours(24));
  EXPECT_EQ(quiet_limit(-1), minutes(10));
}

TEST(PollSchedule, AsksAfterTwentyStepsWhetherAJobHangs) {
  EXPECT_EQ(hung_limit(0), seconds(120));
  EXPECT_EQ(hung_limit(0.1), seconds(120));
  EXPECT_EQ(hung_limit(7.5), seconds(150));
  EXPECT_EQ(hung_limit(1e12), hours(24));
}

TEST(PollSchedule, WaitsTenMinutesForTheEndOfACompressedFile) {
  const WallTime now{hours(1'000)};
  EXPECT_EQ(may_be_written_for(now, now), minutes(10));
  EXPECT_EQ(may_be_written_for(now - minutes(9), now), minutes(1));
  EXPECT_EQ(may_be_written_for(now - minutes(10), now), std::nullopt);
  EXPECT_EQ(may_be_written_for(now + minutes(9), now), minutes(19)) << "of a clock that goes ahead";
  EXPECT_EQ(may_be_written_for(now + hours(9), now), std::nullopt);
}

TEST(PollSchedule, DoublesTheRestOfABrokenFile) {
  const auto rest = [](int failures) { return park_interval(failures, seconds(5), hours(1)); };
  EXPECT_EQ(rest(1), seconds(5));
  EXPECT_EQ(rest(2), seconds(10));
  EXPECT_EQ(rest(5), seconds(80));
  EXPECT_EQ(rest(60'000), hours(1));
}

TEST(PollSchedule, GivesScanningAFiftiethOfACore) {
  EXPECT_EQ(scan_pause(milliseconds(2), seconds(1)), seconds(1));
  EXPECT_EQ(scan_pause(milliseconds(200), seconds(1)), seconds(10));
}

TEST(PollSchedule, RestsAfterALocalScanByTheTimeThatItTook) {
  const auto pause = [](milliseconds checks, milliseconds listings) {
    return local_scan_pause({checks, listings, checks + listings}, milliseconds(1'000));
  };
  const milliseconds none(0);
  EXPECT_EQ(pause(milliseconds(1), none), seconds(1));
  EXPECT_EQ(pause(milliseconds(100), none), seconds(4)) << "a fortieth of a core";
  EXPECT_EQ(pause(milliseconds(500), none), milliseconds(9'300)) << "a scan every ten seconds";
  EXPECT_EQ(pause(milliseconds(1'100), none), milliseconds(8'800));
  EXPECT_EQ(pause(milliseconds(2'000), none), seconds(16)) << "but never more than an eighth";
  EXPECT_EQ(pause(milliseconds(100), seconds(1)), seconds(4)) << "what changed comes once";
  EXPECT_EQ(pause(milliseconds(100), seconds(10)), seconds(20)) << "but never more than a third";
}

TEST(PollSchedule, ChecksAllFoldersInEachScanUnlessThatTakesMuch) {
  const auto scans = [](milliseconds checks, std::uint32_t checked, std::uint32_t passed_over) {
    return scans_for_seldom_changed({checks, {}, checks, checked, passed_over});
  };
  EXPECT_EQ(scans(milliseconds(0), 0, 0), 1U);
  EXPECT_EQ(scans(milliseconds(1'200), 400'000, 0), 1U);
  EXPECT_EQ(scans(milliseconds(1'300), 400'000, 0), kScansForSeldomChanged);
  EXPECT_EQ(scans(milliseconds(900), 200'000, 150'000), kScansForSeldomChanged)
      << "those that were passed over would take as much";
  EXPECT_EQ(scans(milliseconds(300), 200'000, 150'000), 1U);
}

TEST(PollSchedule, PollsOnlyHotLogsWhereChangesAreReported) {
  const SteadyTime now{std::chrono::hours(1'000)};
  LogMemory log;
  log.is_settled = true;
  log.silent_since = now - seconds(30);
  EXPECT_EQ(next_look(log, {}, true, 0, now), now + seconds(1));
  log.silent_since = now - std::chrono::hours(3);
  EXPECT_EQ(next_look(log, {}, true, 0, now), SteadyTime::max());
  EXPECT_EQ(next_look(log, {}, false, 0, now), now + seconds(15));
  log.is_settled = false;
  EXPECT_EQ(next_look(log, {}, true, 0, now), now + seconds(1)) << "its verdict is overdue";
}

TEST(OperationBudget, HoldsOneSecondsWorth) {
  SteadyTime now{};
  OperationBudget budget(100, now);
  int allowed = 0;
  while (budget.allows(now)) {
    budget.spend(1);
    ++allowed;
  }
  EXPECT_EQ(allowed, 100);
  now += milliseconds(500);
  while (budget.allows(now)) {
    budget.spend(1);
    ++allowed;
  }
  EXPECT_EQ(allowed, 150);
  budget.spend(100);
  EXPECT_FALSE(budget.allows(now + milliseconds(900)));
  EXPECT_TRUE(budget.allows(now + milliseconds(1'100)));
}

TEST(OperationBudget, IsUnlimitedWithoutARate) {
  OperationBudget budget(0, {});
  budget.spend(1e9);
  EXPECT_TRUE(budget.allows({}));
}

}  // namespace
}  // namespace llmb::ingest
