// Logs that an earlier reading told, after an upgrade: read again from their start (--anew), so
// that in the end the database says of them what one of this version alone would say.
#include "parser/foundation/instant.h"
#include "parser/reader/reading.h"
#include "server/ingest/bounded_queue.h"
#include "tests/server/ingest/ingest_fixture.h"
#include "tests/server/unpacking/packed_bytes.h"
#include "tests/storage/execute_sql.h"

namespace llmb::ingest {
namespace {

using std::chrono::hours;

constexpr int kLogs = 12;

class IngestReread : public TreeTest {
 protected:
  static std::string log_path(int i) {
    return "experiments/x/x_175000000" + std::to_string(i) + "/x/log-a-a.x_" + std::to_string(i) +
           "_0.out";
  }
  void write_logs() {
    for (int i = 0; i < kLogs; ++i) {
      write(log_path(i), nemo_lines(0, 30 + i));
      set_age(log_path(i), hours(24 * (i + 1)));
    }
  }
  // As rules had told it that were mended since.
  void tell_otherwise(const std::string& where = "1") {
    storage::execute_sql(
        database_,
        "UPDATE run SET reading = 0, failure_cause = 'hung', status_reason = 'of old',"
        " step_time_s_mean = 1, lines_not_understood = 99 WHERE " +
            where);
  }
  IngestOptions anew() const {
    IngestOptions options = this->options();
    options.reads_anew = true;
    return options;
  }
  IngestStatus ingest_anew() { return ingest_once(anew()); }
  std::int64_t runs_stored() const {
    storage::RunFilter all;
    all.include_superseded = true;
    return storage::Reader(database_).run_count(all);
  }
  int count_of_earlier_reading() {
    int count = 0;
    for (int i = 0; i < kLogs; ++i)
      count += run_of(log_path(i))->reading < parser::kReading ? 1 : 0;
    return count;
  }
  void expect_as_from_scratch() {
    const std::string kept = database_;
    const std::string fresh = temporary_.file("fresh.db");
    std::filesystem::remove(fresh);
    database_ = fresh;
    ingest_once();
    for (int i = 0; i < kLogs; ++i) {
      SCOPED_TRACE(i);
      database_ = fresh;
      auto expected = run_of(log_path(i));
      const auto steps = steps_of(log_path(i));
      database_ = kept;
      const auto found = run_of(log_path(i));
      ASSERT_TRUE(expected && found);
      // How long it has been silent is measured when it is read.
      EXPECT_TRUE(expected->summary.silent_s && found->summary.silent_s);
      expected->summary.silent_s = found->summary.silent_s;
      EXPECT_EQ(found->reading, parser::kReading);
      EXPECT_EQ(found->generation, 0);
      EXPECT_EQ(found->facts, expected->facts);
      EXPECT_EQ(found->summary, expected->summary);
      EXPECT_EQ(found->configuration, expected->configuration);
      EXPECT_EQ(found->listed, expected->listed);
      // Told by two clocks, which are not asked at one instant.
      const auto grown_apart =
          *parser::parse_instant(found->grown_at) - *parser::parse_instant(expected->grown_at);
      EXPECT_LT(std::chrono::abs(grown_apart), std::chrono::seconds(1));
      EXPECT_EQ(found->size_bytes, expected->size_bytes);
      EXPECT_EQ(found->step_count, expected->step_count);
      EXPECT_EQ(steps_of(log_path(i)), steps);
    }
    EXPECT_EQ(runs_stored(), kLogs) << "a run was doubled or lost";
  }
};

TEST_F(IngestReread, KeepsWhatAnEarlierReadingToldUnlessItIsAskedFor) {
  write_logs();
  EXPECT_EQ(ingest_once().files_of_earlier_reading, 0);
  tell_otherwise();
  const IngestStatus status = ingest_once();
  EXPECT_EQ(status.files_of_earlier_reading, kLogs);
  EXPECT_EQ(status.bytes_read, 0U);
  EXPECT_EQ(run_of(log_path(3))->summary.failure_cause, "hung");
}

TEST_F(IngestReread, SaysWhatThisReadingAloneWouldSay) {
  write_logs();
  write("experiments/x/x_1750000001/llmb-config_1.yaml",
        "job_info:\n  gpu_type: h100\n  cluster: eos\n");
  ingest_once();
  std::vector<storage::RunId> ids;
  for (int i = 0; i < kLogs; ++i) ids.push_back(run_of(log_path(i))->id);
  const auto first_seen_at = run_of(log_path(0))->first_seen_at;
  tell_otherwise();
  const IngestStatus status = ingest_anew();
  EXPECT_EQ(status.files_of_earlier_reading, 0);
  EXPECT_EQ(status.bytes_pending, 0U);
  for (int i = 0; i < kLogs; ++i) EXPECT_EQ(run_of(log_path(i))->id, ids[std::size_t(i)]);
  EXPECT_EQ(run_of(log_path(0))->first_seen_at, first_seen_at);
  expect_as_from_scratch();
  EXPECT_EQ(ingest_anew().bytes_read, 0U) << "once is enough";
}

TEST_F(IngestReread, GoesOnWhereItWasStopped) {
  write_logs();
  ingest_once();
  for (int stops = 0; stops < 4; ++stops) {
    tell_otherwise(stops == 0 ? "1" : "0");
    IngestOptions options = anew();
    options.open_files_max = 4;  // one at a time
    options.reader_threads = 1;
    const int before = count_of_earlier_reading();
    Ingest ingest(options, [&](const storage::RunChange&) { ingest.request_stop(); });
    ingest.run_once({});
    const int after = count_of_earlier_reading();
    EXPECT_LT(after, before) << "it did nothing";
    if (stops == 0) {
      EXPECT_GT(after, 0) << "it was not stopped in the middle";
      EXPECT_EQ(run_of(log_path(0))->reading, parser::kReading) << "the newest comes first";
      EXPECT_EQ(run_of(log_path(kLogs - 1))->reading, 0);
    }
    if (after == 0) break;
  }
  ingest_anew();
  expect_as_from_scratch();
}

TEST_F(IngestReread, KeepsTheRunsOfLogsThatAreGoneAsTheyAre) {
  write_logs();
  ingest_once();
  tell_otherwise();
  std::filesystem::remove(tree_path(log_path(2)));
  EXPECT_EQ(ingest_anew().files_of_earlier_reading, 0);
  const auto gone = run_of(log_path(2));
  EXPECT_TRUE(gone->vanished_at);
  EXPECT_EQ(gone->reading, 0);
  EXPECT_EQ(gone->facts.lines_not_understood, 99);
  EXPECT_EQ(steps_of(log_path(2)).size(), 32U);
  EXPECT_EQ(run_of(log_path(3))->reading, parser::kReading);
  EXPECT_EQ(runs_stored(), kLogs);
}

// Between the scan and its reading: nothing waits for it.
TEST_F(IngestReread, EndsWhereLogsGoAwayMeanwhile) {
  write_logs();
  ingest_once();
  tell_otherwise();
  IngestOptions options = anew();
  options.open_files_max = 4;
  Ingest ingest(options, [&](const storage::RunChange&) {
    for (int i = 5; i < kLogs; ++i) std::filesystem::remove(tree_path(log_path(i)));
  });
  ingest.run_once({});
  EXPECT_EQ(run_of(log_path(0))->reading, parser::kReading);
  EXPECT_EQ(run_of(log_path(kLogs - 1))->reading, 0);
  EXPECT_EQ(runs_stored(), kLogs);
}

TEST_F(IngestReread, ReadsALogThatChangedAsEver) {
  write_logs();
  ingest_once();
  tell_otherwise();
  append(log_path(4), nemo_lines(34, 3));
  write(log_path(5), nemo_lines(7, 20, 60, 3.5));
  set_age(log_path(4), hours(2));
  set_age(log_path(5), hours(2));
  ingest_anew();
  EXPECT_EQ(steps_of(log_path(4)).size(), 37U);
  EXPECT_EQ(run_of(log_path(4))->generation, 0);
  EXPECT_EQ(run_of(log_path(4))->reading, parser::kReading);
  EXPECT_EQ(run_of(log_path(5))->generation, 1) << "written anew";
  EXPECT_EQ(run_of(log_path(5))->reading, parser::kReading);
  EXPECT_EQ(runs_stored(), kLogs + 1);
}

TEST_F(IngestReread, ReadsTheCompressedFormOfALogThatWasCompressed) {
  const std::string text = nemo_lines(0, 50);
  write("run.out", text);
  write("other.out", text);
  set_age("run.out", hours(30));
  set_age("other.out", hours(30));
  ingest_once();
  const auto before = run_of("run.out");
  tell_otherwise();
  write("run.out.gz", unpacking::gzipped(text));
  write("other.out.gz", unpacking::gzipped(nemo_lines(3, 40)));  // of another text
  std::filesystem::remove(tree_path("run.out"));
  std::filesystem::remove(tree_path("other.out"));
  EXPECT_EQ(ingest_anew().files_of_earlier_reading, 1);
  const auto after = run_of("run.out");
  EXPECT_EQ(after->id, before->id);
  EXPECT_EQ(after->reading, parser::kReading);
  EXPECT_EQ(after->summary, before->summary);
  EXPECT_EQ(after->facts, before->facts);
  EXPECT_FALSE(after->vanished_at);
  EXPECT_EQ(run_of("other.out")->reading, 0);
  EXPECT_EQ(steps_of("other.out").size(), 50U);
  EXPECT_EQ(runs_stored(), 2);
  EXPECT_EQ(ingest_once().bytes_read, 0U) << "it stays as it is";
  EXPECT_EQ(runs_stored(), 2);
}

TEST_F(IngestReread, GoesOnBehindALogThatWasToldByTwoReadings) {
  write("run.out", nemo_lines(0, 20));
  set_age("run.out", hours(40));
  ingest_once();
  tell_otherwise();
  append("run.out", nemo_lines(20, 5));
  set_age("run.out", hours(30));
  ingest_once();
  EXPECT_EQ(run_of("run.out")->reading, 0) << "its first part is an earlier reading's";
  ingest_anew();
  EXPECT_EQ(run_of("run.out")->reading, parser::kReading);
  EXPECT_EQ(run_of("run.out")->facts.lines_not_understood, 0);
  EXPECT_EQ(steps_of("run.out").size(), 25U);
}

// A log of several ticks is replaced at once, and keeps what only its time could tell: that it
// hung, since when it is silent (its tree was copied since), and which GPU its tree was named with.
TEST_F(IngestReread, ReadsALongLogWholeAndKeepsWhatWasToldInTime) {
  write("long.out", nemo_lines(0, 17'000, 20'000));
  write("still.out", nemo_lines(0, 20));
  set_age("long.out", hours(30 * 24));
  set_age("still.out", hours(30 * 24));
  IngestOptions first = options();
  first.roots[0].gpu_type = "h100";
  ingest_once(first);
  tell_otherwise();
  storage::execute_sql(database_, "UPDATE run SET silent_s = 4000");
  const auto before = run_of("long.out");
  set_age("long.out", hours(3));
  int commits = 0;
  Ingest ingest(anew(), [&](const storage::RunChange&) { ++commits; });
  ingest.run_once({});
  const auto after = run_of("long.out");
  EXPECT_EQ(after->reading, parser::kReading);
  EXPECT_EQ(after->summary.silent_s, 4000);
  EXPECT_EQ(after->summary.failure_cause, "hung");
  EXPECT_EQ(after->summary.status, parser::RunStatus::incomplete);
  EXPECT_EQ(after->grown_at, before->grown_at);
  EXPECT_EQ(run_of("still.out")->configuration.value("gpu_type"), "h100");
  EXPECT_EQ(run_of("still.out")->reading, parser::kReading);
  EXPECT_EQ(after->step_count, 17'000);
  EXPECT_LE(commits, 3) << "the touched log's, and one of each that is read again";
}

TEST_F(IngestReread, LeavesLiveLogsAlone) {
  write("live.out", nemo_lines(0, 20));
  ingest_once();
  tell_otherwise();
  const IngestStatus status = ingest_anew();
  EXPECT_EQ(status.files_of_earlier_reading, 1);
  EXPECT_EQ(status.rereads_left.of(RereadRefusal::unreadable), 0);
  EXPECT_EQ(status.rereads_left.of(RereadRefusal::none), 1) << "it may still grow";
  EXPECT_EQ(run_of("live.out")->reading, 0);
}

TEST_F(IngestReread, EndsWhereACompressedFormIsShorter) {
  write("run.out", nemo_lines(0, 50));
  write("other.out", nemo_lines(0, 50));
  set_age("run.out", hours(30));
  set_age("other.out", hours(30));
  ingest_once();
  tell_otherwise();
  write("run.out.gz", unpacking::gzipped(nemo_lines(0, 20)));
  std::filesystem::remove(tree_path("run.out"));
  const IngestStatus status = ingest_anew();
  EXPECT_EQ(status.files_of_earlier_reading, 1);
  EXPECT_EQ(status.rereads_left.of(RereadRefusal::of_another_text), 1);
  EXPECT_EQ(steps_of("run.out").size(), 50U);
  std::filesystem::remove(tree_path("run.out.gz"));
  EXPECT_EQ(ingest_anew().files_of_earlier_reading, 0) << "it is gone";
}

TEST_F(IngestReread, FollowsLiveLogsMeanwhile) {
  write_logs();
  ingest_once();
  tell_otherwise();
  Ingest ingest(anew(), {});
  ingest.start();
  append("live.out", nemo_lines(0, 4));
  ASSERT_TRUE(eventually([&] {
    return ingest.status().files_of_earlier_reading == 0 && steps_of("live.out").size() == 4;
  }));
  append("live.out", nemo_lines(4, 4));
  EXPECT_TRUE(eventually([&] { return steps_of("live.out").size() == 8; }));
  ingest.stop();
  EXPECT_NE(run_of(log_path(1))->summary.status, parser::RunStatus::running)
      << "what was read anew has been silent as long as before";
  EXPECT_EQ(runs_stored(), kLogs + 1);
  EXPECT_EQ(count_of_earlier_reading(), 0);
}

TEST(BoundedQueueForLater, GivesWhatIsForLaterWhenNothingElseIsThere) {
  BoundedQueue<int> queue(1);
  EXPECT_TRUE(queue.push_at_once_for_later(3));
  EXPECT_TRUE(queue.push_at_once(1));
  EXPECT_TRUE(queue.push_at_once(2));
  for (const int expected : {1, 2, 3}) EXPECT_EQ(queue.pop(), expected);
  for (int i = 0; i < 30; ++i) queue.push_at_once(i);
  queue.push_at_once_for_later(-1);
  int before_it = 0;
  while (queue.pop() != -1) ++before_it;
  EXPECT_EQ(before_it, 16) << "it does not wait for ever";
  queue.push_at_once_for_later(4);
  queue.close(true);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueueForLater, IsThereForWhoeverTakesMany) {
  BoundedQueue<int> queue(1);
  queue.push_at_once_for_later(2);
  EXPECT_FALSE(queue.is_empty());
  queue.push_at_once(1);
  queue.close();
  EXPECT_EQ(queue.pop_many(1, std::chrono::milliseconds(0)), std::vector{1});
  EXPECT_FALSE(queue.is_over());
  EXPECT_EQ(queue.pop_many(5, std::chrono::milliseconds(0)), std::vector{2});
  EXPECT_TRUE(queue.is_empty());
  EXPECT_TRUE(queue.is_over());
}

}  // namespace
}  // namespace llmb::ingest
