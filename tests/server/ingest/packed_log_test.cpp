// Logs that are found compressed, and logs that were compressed after they were read.
#include <sys/fsuid.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>

#include "server/ingest/retention.h"
#include "storage/removal.h"
#include "tests/server/ingest/ingest_fixture.h"
#include "tests/server/unpacking/packed_bytes.h"

namespace llmb::ingest {
namespace {

using parser::RunStatus;
using unpacking::gzipped;
using unpacking::packed_by;
using unpacking::Packing;
using unpacking::suffix_of;
using unpacking::zstd_packed;

const std::string kPlain = "experiments/x/x_1750000000/x/log-a-a.x_7_0.out";

class IngestPacked : public TreeTest {
 protected:
  // As gzip and the others do it.
  void compress(const std::string& relative, Packing packing = Packing::gzip) {
    std::ifstream file(tree_path(relative), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    write(relative + suffix_of(packing), packed_by(packing, text));
    std::filesystem::remove(tree_path(relative));
  }
  bool is_there(const std::string& relative) {
    const auto run = run_of(relative);
    return run && !run->vanished_at;
  }
};

TEST_F(IngestPacked, IsARunAsTheLogItselfIs) {
  write("plain/" + kPlain, nemo_lines(0, 50));
  std::vector<std::string> logs;
  for (const Packing packing : unpacking::kPackings) {
    const std::string suffix = suffix_of(packing);
    logs.push_back("packed" + suffix + "/" + kPlain + suffix);
    write(logs.back(), packed_by(packing, nemo_lines(0, 50)));
  }
  ingest_once();
  const auto plain = run_of("plain/" + kPlain);
  for (const std::string& log : logs) {
    const auto run = run_of(log);
    ASSERT_TRUE(run) << log;
    EXPECT_EQ(run->path, plain->path);
    EXPECT_EQ(run->path.job_id, 7);
    EXPECT_EQ(run->summary, plain->summary);
    EXPECT_EQ(run->size_bytes, plain->size_bytes);
    EXPECT_EQ(steps_of(log), steps_of("plain/" + kPlain));
  }
}

TEST_F(IngestPacked, IsUnpackedOnce) {
  write(kPlain + ".gz", gzipped(nemo_lines(0, 50)));
  EXPECT_GT(ingest_once().bytes_read, 0U);
  EXPECT_EQ(ingest_once().bytes_read, 0U);
  write(kPlain + ".gz", gzipped(nemo_lines(0, 40)));
  EXPECT_GT(ingest_once().bytes_read, 0U);
  EXPECT_EQ(run_of(kPlain + ".gz")->step_count, 40);
}

// `srun … | gzip >log.out`, or gzip's output moved over the log.
TEST_F(IngestPacked, IsToldByItsBytesNotByItsName) {
  for (const Packing packing : unpacking::kPackings) {
    const std::string log = "of" + suffix_of(packing) + "/" + kPlain;
    const std::string whole = packed_by(packing, nemo_lines(0, 20));
    write(log, whole.substr(0, whole.size() / 2));
    EXPECT_EQ(ingest_once().files_parked, 1) << log;
    write(log, whole);
    EXPECT_EQ(ingest_once().files_parked, 0);
    EXPECT_EQ(run_of(log)->summary.status, RunStatus::incomplete);
    append(log, packed_by(packing, nemo_lines(20, 30)));
    ingest_once();
    EXPECT_EQ(run_of(log)->step_count, 50);
    EXPECT_EQ(run_of(log)->summary.status, RunStatus::complete);
    EXPECT_EQ(ingest_once().bytes_read, 0U);
  }
}

TEST_F(IngestPacked, KeepsItsRunWhereItTakesTheNameOfItsLog) {
  write(kPlain, nemo_lines(0, 50));
  ingest_once();
  const auto before = run_of(kPlain);
  write(kPlain, gzipped(nemo_lines(0, 50)));
  ingest_once();
  EXPECT_EQ(run_of(kPlain)->id, before->id);
  EXPECT_EQ(run_of(kPlain)->summary, before->summary);
}

// Nobody goes on writing into it.
TEST_F(IngestPacked, IsOver) {
  write(kPlain + ".gz", gzipped(nemo_lines(0, 20)));
  ingest_once();
  EXPECT_EQ(run_of(kPlain + ".gz")->summary.status, RunStatus::incomplete);
}

TEST_F(IngestPacked, IsReadToItsEndHoweverLong) {
  constexpr int kSteps = 40'000;  // more than one job reads
  write(kPlain + ".zst", zstd_packed(nemo_lines(0, kSteps, kSteps - 1)));
  ingest_once();
  EXPECT_EQ(run_of(kPlain + ".zst")->step_count, kSteps);
}

TEST_F(IngestPacked, IsNoLogBesideTheLogItself) {
  write(kPlain, nemo_lines(0, 50));
  write(kPlain + ".gz", gzipped(nemo_lines(0, 50)));
  for (int look = 0; look < 2; ++look) {
    ingest_once();
    EXPECT_TRUE(is_there(kPlain));
    EXPECT_FALSE(run_of(kPlain + ".gz"));
  }
}

TEST_F(IngestPacked, GivesWayToTheLogItself) {
  write(kPlain + ".gz", gzipped(nemo_lines(0, 50)));
  ingest_once();
  write(kPlain, nemo_lines(0, 50));
  for (int look = 0; look < 2; ++look) {
    ingest_once();
    EXPECT_TRUE(is_there(kPlain));
    EXPECT_FALSE(is_there(kPlain + ".gz"));
  }
}

TEST_F(IngestPacked, LeavesTheRunOfALogThatWasReadBefore) {
  write(kPlain, nemo_lines(0, 50));
  ingest_once();
  compress(kPlain);
  for (int look = 0; look < 2; ++look) {
    ingest_once();
    EXPECT_TRUE(is_there(kPlain));
    EXPECT_FALSE(run_of(kPlain + ".gz"));
  }
  std::filesystem::remove(tree_path(kPlain + ".gz"));
  ingest_once();
  EXPECT_FALSE(is_there(kPlain)) << "neither form is there";
}

TEST_F(IngestPacked, GoesOnInTheRunOfALogThatWasNotReadToItsEnd) {
  const auto log_of = [](Packing packing) { return "of" + suffix_of(packing) + "/" + kPlain; };
  for (const Packing packing : unpacking::kPackings) write(log_of(packing), nemo_lines(0, 20));
  ingest_once();
  std::map<std::string, storage::RunId> ids;
  for (const Packing packing : unpacking::kPackings) {
    const auto run = run_of(log_of(packing));
    ASSERT_EQ(run->summary.status, RunStatus::running);
    ids[run->relative_path] = run->id;
    append(log_of(packing), nemo_lines(20, 30));
    compress(log_of(packing), packing);
  }
  for (int look = 0; look < 2; ++look) {
    const IngestStatus status = ingest_once();
    EXPECT_EQ(status.bytes_read == 0, look == 1);
    EXPECT_EQ(status.files_seen, static_cast<std::int64_t>(ids.size()));
    for (const auto& [log, id] : ids) {
      ASSERT_TRUE(is_there(log)) << log;
      EXPECT_EQ(run_of(log)->id, id);
      EXPECT_EQ(run_of(log)->step_count, 50);
      EXPECT_EQ(run_of(log)->summary.status, RunStatus::complete);
    }
    EXPECT_EQ(storage::Reader(database_).run_count({}), static_cast<std::int64_t>(ids.size()));
  }
}

// An epilog compresses a log before ten minutes of silence have said that its job is over.
TEST_F(IngestPacked, IsTheSameRunOfAFailedLog) {
  write(kPlain, nemo_lines(0, 20) + "torch.OutOfMemoryError: CUDA out of memory.\n");
  ingest_once();
  const auto before = run_of(kPlain);
  compress(kPlain);
  ingest_once();
  ASSERT_TRUE(is_there(kPlain));
  EXPECT_EQ(run_of(kPlain)->id, before->id);
  EXPECT_EQ(run_of(kPlain)->summary.failure_cause, "cuda_oom");
  EXPECT_EQ(storage::Reader(database_).run_count({}), 1);
}

// The job began anew in the same file, and that was compressed.
TEST_F(IngestPacked, SupersedesTheRunOfAnotherText) {
  write(kPlain, nemo_lines(0, 20));
  ingest_once();
  write(kPlain, nemo_lines(0, 10, 49, 3.5));
  compress(kPlain);
  for (int look = 0; look < 2; ++look) {
    ingest_once();
    EXPECT_EQ(run_of(kPlain)->step_count, 10);
    EXPECT_EQ(run_of(kPlain)->generation, 1);
    EXPECT_FALSE(run_of(kPlain + ".gz"));
    EXPECT_EQ(storage::Reader(database_).run_count({}), 1);
  }
}

TEST_F(IngestPacked, GoesOnWhereItsCompressedFormCouldNotBeReadAtFirst) {
  write(kPlain, nemo_lines(0, 20));
  ingest_once();
  const auto before = run_of(kPlain);
  const std::string whole = gzipped(nemo_lines(0, 50));
  std::filesystem::remove(tree_path(kPlain));
  write(kPlain + ".gz", whole.substr(0, whole.size() / 2));
  for (int look = 0; look < 2; ++look) {
    EXPECT_EQ(ingest_once().files_parked, 1);
    EXPECT_FALSE(is_there(kPlain));
    EXPECT_FALSE(run_of(kPlain + ".gz"));
  }
  write(kPlain + ".gz", whole);
  EXPECT_EQ(ingest_once().files_parked, 0);
  ASSERT_TRUE(is_there(kPlain));
  EXPECT_EQ(run_of(kPlain)->id, before->id);
  EXPECT_EQ(run_of(kPlain)->step_count, 50);
}

// What settled by its silence alone went on, and was compressed before anybody looked again.
TEST_F(IngestPacked, GoesOnInTheRunOfALogThatHadSettled) {
  for (const Packing packing : unpacking::kPackings) {
    const std::string log = "of" + suffix_of(packing) + "/" + kPlain;
    write(log, nemo_lines(0, 25));
    set_age(log, std::chrono::hours(1));
    ingest_once();
    const auto before = run_of(log);
    ASSERT_NE(before->summary.status, RunStatus::running);
    append(log, nemo_lines(25, 25));
    compress(log, packing);
    ingest_once();
    ASSERT_TRUE(is_there(log)) << log;
    EXPECT_EQ(run_of(log)->id, before->id);
    EXPECT_EQ(run_of(log)->step_count, 50);
    EXPECT_EQ(run_of(log)->summary.status, RunStatus::complete);
  }
}

TEST_F(IngestPacked, IsLookedAtOnceWhereItsLogHadSettled) {
  write(kPlain, nemo_lines(0, 25));
  set_age(kPlain, std::chrono::hours(1));
  ingest_once();
  const auto before = run_of(kPlain);
  compress(kPlain);
  EXPECT_GT(ingest_once().bytes_read, 0U);
  EXPECT_EQ(run_of(kPlain)->id, before->id);
  EXPECT_EQ(run_of(kPlain)->summary.status, before->summary.status);
  EXPECT_TRUE(run_of(kPlain)->summary.silent_s) << "that it hung stays true";
  EXPECT_EQ(run_of(kPlain)->step_count, before->step_count);
  EXPECT_EQ(ingest_once().bytes_read, 0U);
  // A form that nothing here unpacks is none that could be read.
  std::filesystem::rename(tree_path(kPlain + ".gz"), tree_path(kPlain + ".zip"));
  EXPECT_EQ(ingest_once().bytes_read, 0U);
  EXPECT_TRUE(is_there(kPlain));
}

// It is parked, and --once ends.
TEST_F(IngestPacked, IsParkedWhereItsFormCannotBeOpened) {
  write(kPlain, nemo_lines(0, 20));
  ingest_once();
  append(kPlain, nemo_lines(20, 30));
  compress(kPlain);
  std::filesystem::permissions(tree_path(kPlain + ".gz"), std::filesystem::perms::none);
  std::vector<std::string> paths = {folder_.string(), tree_, database_};
  for (const char* suffix : {".lock", "-wal", "-shm"}) paths.push_back(database_ + suffix);
  for (const std::string& path : paths) {
    if (std::filesystem::exists(path)) {
      std::filesystem::permissions(path, std::filesystem::perms::all);
    }
  }
  // Root may read everything: the threads of this Ingest inherit a lesser identity for files.
  const bool is_root = geteuid() == 0;
  if (is_root) setfsuid(65'534);
  const IngestStatus status = ingest_once();
  if (is_root) setfsuid(0);
  EXPECT_EQ(status.files_parked, 1);
  const auto parked = storage::Reader(database_).parked_files();
  ASSERT_EQ(parked.size(), 1U);
  EXPECT_NE(parked[0].reason.find("Permission"), std::string::npos) << parked[0].reason;
  std::filesystem::permissions(tree_path(kPlain + ".gz"), std::filesystem::perms::owner_all);
  EXPECT_EQ(ingest_once().files_parked, 0);
  ASSERT_TRUE(is_there(kPlain));
  EXPECT_EQ(run_of(kPlain)->step_count, 50);
}

TEST_F(IngestPacked, BringsBackTheRunOfALogThatWasGone) {
  for (const int steps : {20, 50}) {  // a part, and the whole
    const std::string log = std::to_string(steps) + "/" + kPlain;
    write(log, nemo_lines(0, steps));
    ingest_once();
    std::filesystem::remove(tree_path(log));
    ingest_once();
    ASSERT_FALSE(is_there(log));
    write(log + ".gz", gzipped(nemo_lines(0, 50)));
    ingest_once();
    EXPECT_TRUE(is_there(log));
    EXPECT_EQ(run_of(log)->step_count, 50);
    EXPECT_FALSE(run_of(log + ".gz"));
  }
}

TEST_F(IngestPacked, KeepsItsRunWhereItIsCompressedAnew) {
  write(kPlain + ".gz", gzipped(nemo_lines(0, 50)));
  ingest_once();
  std::filesystem::remove(tree_path(kPlain + ".gz"));
  write(kPlain + ".xz", packed_by(Packing::xz, nemo_lines(0, 50)));
  for (int look = 0; look < 2; ++look) {
    ingest_once();
    EXPECT_TRUE(is_there(kPlain + ".gz"));
    EXPECT_FALSE(run_of(kPlain + ".xz"));
  }
  std::filesystem::remove(tree_path(kPlain + ".xz"));
  ingest_once();
  EXPECT_FALSE(is_there(kPlain + ".gz")) << "no form is there";
}

TEST_F(IngestPacked, IsSeenWhileItIsFollowed) {
  write(kPlain, nemo_lines(0, 20));
  Ingest ingest(options(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return is_there(kPlain); }));
  append(kPlain, nemo_lines(20, 30));
  compress(kPlain);
  EXPECT_TRUE(eventually([&] { return is_there(kPlain) && run_of(kPlain)->step_count == 50; }));
  EXPECT_FALSE(run_of(kPlain + ".gz"));
  write("later.out.gz", gzipped(nemo_lines(0, 50)));
  EXPECT_TRUE(eventually([&] { return is_there("later.out.gz"); }));
  write("later.out", nemo_lines(0, 50));
  EXPECT_TRUE(eventually([&] { return is_there("later.out") && !is_there("later.out.gz"); }));
  ingest.stop();
}

TEST_F(IngestPacked, IsParkedUntilItIsWhole) {
  for (const Packing packing : unpacking::kPackings) {
    const std::string log = "of" + suffix_of(packing) + "/" + kPlain + suffix_of(packing);
    const std::string whole = packed_by(packing, nemo_lines(0, 50));
    write(log, whole.substr(0, whole.size() / 2));
    EXPECT_EQ(ingest_once().files_parked, 1) << log;
    EXPECT_FALSE(run_of(log));
    const auto parked = storage::Reader(database_).parked_files();
    ASSERT_EQ(parked.size(), 1U);
    EXPECT_NE(parked[0].reason.find("ends in the middle"), std::string::npos) << parked[0].reason;
    write(log, whole);
    EXPECT_EQ(ingest_once().files_parked, 0);
    EXPECT_TRUE(is_there(log));
  }
}

TEST_F(IngestPacked, StaysRemoved) {
  write(kPlain, nemo_lines(0, 50));
  write("other.out.gz", gzipped(nemo_lines(0, 50)));
  ingest_once();
  storage::RetentionPolicy everything;
  everything.words = "root " + tree_;
  everything.root = std::filesystem::canonical(tree_).string();
  const auto later =
      std::chrono::floor<parser::Instant::duration>(std::chrono::system_clock::now()) +
      std::chrono::hours(24 * 30);
  std::vector<storage::RunId> runs;
  for (const auto& log : storage::Reader(database_).removal_plan(everything, later).logs) {
    runs.push_back(log.run);
  }
  storage::Writer({database_, true}).remove_logs(everything, runs, later);
  compress(kPlain);
  for (int look = 0; look < 2; ++look) {
    ingest_once();
    EXPECT_EQ(storage::Reader(database_).run_count({}), 0);
  }
}

}  // namespace
}  // namespace llmb::ingest
