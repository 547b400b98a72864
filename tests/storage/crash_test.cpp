// What stands in the database after a writer was killed, or its disk was full.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "storage/database.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

constexpr int kRunCount = 3;
constexpr int kRounds = 150;
constexpr std::uint64_t kBytesPerStep = 100;

std::string log_name(int number) {
  return "run_" + std::to_string(number) + ".out";
}

// The next `count` steps of a log of which `done` are stored, with everything that goes with them.
IngestBatch next_batch(RootId root, int number, std::int64_t done, int count) {
  IngestBatch batch = make_batch(root, log_name(number));
  for (int i = 0; i < count; ++i) {
    batch.samples.push_back(make_step(done + i, 1.5));
    batch.samples.back().extra_fields = {{"val_loss", static_cast<double>(done + i)}};
  }
  const std::int64_t total = done + count;
  batch.size_bytes = static_cast<std::uint64_t>(total) * kBytesPerStep;
  batch.cursor.offset = batch.size_bytes;
  batch.cursor.parser_state = "steps " + std::to_string(total);
  batch.facts.bytes_read = batch.size_bytes;
  batch.facts.segments = {{0, total - 1, total, 0, std::nullopt, 0}};
  batch.summary.step_time_s = parser::WindowStatistics{total, 1.5, 0, 0, 1.5, 1.5, 1.5, 1.5};
  return batch;
}

// Goes on where the database says, and reports every commit with a byte, until it is killed.
[[noreturn]] void write_for_ever(const OpenOptions& options, int report, unsigned seed) {
  try {
    std::mt19937 random(seed);
    Writer writer(options);
    const RootId root = writer.upsert_root("/logs", "");
    std::int64_t done[kRunCount] = {};
    {
      Reader reader(options.path);
      for (int i = 0; i < kRunCount; ++i) {
        const auto run = reader.run_at(root, log_name(i));
        if (run) done[i] = run->step_count;
      }
    }
    for (;;) {
      std::vector<IngestBatch> batches;
      for (int i = 0; i < kRunCount; ++i) {
        const int count = 1 + static_cast<int>(random() % 5);
        batches.push_back(next_batch(root, i, done[i], count));
        batches.back().is_settled = random() % 4 == 0;
        done[i] += count;
      }
      writer.commit(batches);
      if (write(report, "c", 1) != 1) _exit(1);
    }
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
  }
  _exit(1);
}

// Samples, rollup, statistics, facts and cursor of every run tell of the same steps.
void expect_agreement(const std::string& path) {
  Reader reader(path);
  for (const RunRecord& run : reader.runs({}).runs) {
    const auto steps = reader.steps(run.id);
    const auto count = static_cast<std::int64_t>(steps.size());
    ASSERT_EQ(run.step_count, count);
    ASSERT_EQ(run.summary.step_time_s->count, count);
    ASSERT_EQ(run.facts.segments.at(0).step_count, count);
    const auto cursor = reader.cursor(run.id);
    ASSERT_TRUE(cursor);
    ASSERT_EQ(cursor->offset, steps.size() * kBytesPerStep);
    ASSERT_EQ(cursor->parser_state, "steps " + std::to_string(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const parser::StepSample& step = steps[static_cast<std::size_t>(i)];
      ASSERT_EQ(step.iteration, i);
      ASSERT_EQ(step.extra_fields.at(0).second, static_cast<double>(i));
    }
  }
}

TEST(Crash, LosesAndDoublesNothingAtAnyInstant) {
  const TemporaryDatabase database;
  std::mt19937 random(7);  // NOLINT: a failure must come again
  std::int64_t steps_before = 0;
  for (int round = 0; round < kRounds; ++round) {
    int reports[2];
    ASSERT_EQ(pipe(reports), 0);
    const auto seed = static_cast<unsigned>(random());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(reports[0]);
      write_for_ever(database.options(), reports[1], seed);
    }
    close(reports[1]);
    // Some rounds are killed while opening and recovering, most between two commits.
    std::int64_t acknowledged = 0;
    char byte = 0;
    const auto wanted = static_cast<std::int64_t>(random() % 12);
    while (acknowledged < wanted && read(reports[0], &byte, 1) == 1) ++acknowledged;
    volatile unsigned long spin = random() % 200'000;
    while (spin > 0) spin = spin - 1;
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    close(reports[0]);
    ASSERT_EQ(acknowledged, wanted);

    { const Writer recovers(database.options()); }
    expect_agreement(database.path());
    const std::int64_t steps = Reader(database.path()).totals().steps;
    ASSERT_GE(steps, steps_before + acknowledged * kRunCount);
    steps_before = steps;
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(steps_before, kRounds);
}

// In a process of its own, because the limit on file sizes that stands in for a full disk is one
// of the whole process. Returns what went wrong, or nothing.
std::string fill_the_disk(const OpenOptions& options) {
  signal(SIGXFSZ, SIG_IGN);
  Writer writer(options);
  const RootId root = writer.upsert_root("/logs", "");
  const IngestBatch first = next_batch(root, 0, 0, 5);
  writer.commit({&first, 1});
  const std::uint64_t wal_bytes = Reader(options.path).totals().wal_bytes;

  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit lifted = limit;
  limit.rlim_cur = wal_bytes + 20'000;
  setrlimit(RLIMIT_FSIZE, &limit);
  const std::vector<IngestBatch> large = {next_batch(root, 0, 5, 2'000),
                                          next_batch(root, 1, 0, 2'000)};
  for (int attempt = 0; attempt < 3; ++attempt) {
    try {
      writer.commit(large);
      return "a commit succeeded on a full disk";
    } catch (const StorageError& error) {
      if (error.kind != StorageError::Kind::disk_full) return error.what();
    }
    Reader reader(options.path);
    if (reader.totals().steps != 5) return "something of the failed commit stayed";
    if (reader.runs({}).runs.size() != 1) return "a run of the failed commit stayed";
  }
  setrlimit(RLIMIT_FSIZE, &lifted);
  writer.commit(large);
  if (Reader(options.path).totals().steps != 4'005) return "the retry stored something else";
  return "";
}

TEST(FullDisk, RefusesTheWholeCommitAndGoesOnWhenThereIsSpace) {
  const TemporaryDatabase database;
  int result[2];
  ASSERT_EQ(pipe(result), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string complaint;
    try {
      complaint = fill_the_disk(database.options());
    } catch (const std::exception& error) {
      complaint = error.what();
    }
    const auto size = static_cast<ssize_t>(complaint.size());
    _exit(write(result[1], complaint.data(), complaint.size()) == size && size == 0 ? 0 : 1);
  }
  close(result[1]);
  std::string complaint(2'000, '\0');
  const ssize_t size = read(result[0], complaint.data(), complaint.size());
  complaint.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  close(result[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(status, 0);
  expect_agreement(database.path());
}

}  // namespace
}  // namespace llmb::storage
