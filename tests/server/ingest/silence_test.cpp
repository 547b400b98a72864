// For how long a log has been silent, where the clocks of its file server and of this machine
// disagree, or one of them is set.
#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kSilentLog = "experiments/e/e_1751000000/e/log-acct.e_4711_0.out";

// Steps of 7.5 s: a log hangs after 150 s, and its job counts as over after ten minutes.
class Silence : public TreeTest {
 protected:
  Silence() : clock_(std::make_shared<ManualClock>()) {
    auto with_clock = options();
    with_clock.clock = clock_;
    ingest_ = std::make_unique<Ingest>(std::move(with_clock), [](const storage::RunChange&) {});
  }

  // Moves the clock by little at a time until the run is as wanted.
  bool becomes(const std::function<bool(const storage::RunRecord&)>& wanted,
               milliseconds by = milliseconds(2)) {
    return eventually([&] {
      clock_->move(by);
      const auto run = run_of(kSilentLog);
      return run && wanted(*run);
    });
  }
  bool grows_to(std::int64_t step_count) {
    return becomes([&](const auto& run) { return run.step_count == step_count; });
  }
  parser::RunSummary summary() { return run_of(kSilentLog)->summary; }

  std::shared_ptr<ManualClock> clock_;
  std::unique_ptr<Ingest> ingest_;
};

// Every write of this file server is an hour old at once.
TEST_F(Silence, OfALogOnALaggingFileServerCountsFromTheGrowthWeSaw) {
  write(kSilentLog, nemo_lines(0, 4));
  set_age(kSilentLog, hours(1));
  ingest_->start();
  ASSERT_TRUE(grows_to(4));
  EXPECT_EQ(summary().status, parser::RunStatus::incomplete) << "at first sight, its time counts";

  write(kSilentLog, nemo_lines(0, 6));
  set_age(kSilentLog, hours(1));
  ASSERT_TRUE(grows_to(6));
  ASSERT_TRUE(becomes([](const auto& run) { return run.summary.failure_cause.empty(); }));
  EXPECT_EQ(summary().status, parser::RunStatus::running);
  clock_->move(seconds(100));
  write(kSilentLog, nemo_lines(0, 8));
  set_age(kSilentLog, hours(1));
  ASSERT_TRUE(grows_to(8));
  clock_->move(seconds(100));
  write(kSilentLog, nemo_lines(0, 9));
  set_age(kSilentLog, hours(1));
  ASSERT_TRUE(grows_to(9));
  EXPECT_EQ(summary().status, parser::RunStatus::running);
  EXPECT_EQ(summary().failure_cause, "");

  ASSERT_TRUE(
      becomes([](const auto& run) { return run.summary.failure_cause == "hung"; }, seconds(1)));
  EXPECT_GE(summary().silent_s.value_or(0), 150);
  EXPECT_LT(summary().silent_s.value_or(0), 3'600) << "the file server's hour is not in it";
}

TEST_F(Silence, OfALogFromTheFutureIsNeverNegative) {
  write(kSilentLog, nemo_lines(0, 4));
  set_age(kSilentLog, -hours(5));
  ingest_->start();
  ASSERT_TRUE(grows_to(4));
  EXPECT_EQ(summary().failure_cause, "");
  ASSERT_TRUE(
      becomes([](const auto& run) { return run.summary.failure_cause == "hung"; }, seconds(1)))
      << "counted from when it was found, not in five hours";
  EXPECT_GE(summary().silent_s.value_or(0), 150);
  EXPECT_LT(summary().silent_s.value_or(0), 3'600);
}

TEST_F(Silence, DoesNotFollowAClockThatIsSet) {
  ingest_->start();
  write(kSilentLog, nemo_lines(0, 4));
  ASSERT_TRUE(grows_to(4));
  clock_->set_wall(hours(3));
  append(kSilentLog, nemo_lines(4, 1));
  ASSERT_TRUE(grows_to(5));
  EXPECT_EQ(summary().failure_cause, "");
  EXPECT_EQ(summary().status, parser::RunStatus::running);
  clock_->set_wall(-hours(6));
  ASSERT_TRUE(
      becomes([](const auto& run) { return run.summary.failure_cause == "hung"; }, seconds(1)))
      << "a clock that was set back does not keep it alive";
  EXPECT_LT(summary().silent_s.value_or(0), 3'600);
}

// The instant at which growth was seen is stored, so that the next process goes on from it.
TEST_F(Silence, GoesOnWhereTheLastProcessSawGrowth) {
  write(kSilentLog, nemo_lines(0, 4));
  ingest_->start();
  ASSERT_TRUE(grows_to(4));
  clock_->move(hours(2));
  append(kSilentLog,
         nemo_lines(4, 1));  // two hours old, for a file server that knows the system's time
  ASSERT_TRUE(grows_to(5));
  EXPECT_EQ(summary().status, parser::RunStatus::running);
  ingest_.reset();
  const auto revision = run_of(kSilentLog)->revision;

  clock_->move(seconds(10));
  auto again = options();
  again.clock = clock_;
  const IngestStatus status = ingest_once(again);
  EXPECT_EQ(status.bytes_read, 0U);
  EXPECT_EQ(run_of(kSilentLog)->revision, revision);
  EXPECT_EQ(summary().status, parser::RunStatus::running);
}

}  // namespace
}  // namespace llmb::ingest
