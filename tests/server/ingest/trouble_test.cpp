// What breaks: files that cannot be read, a disk that is full, a second program on the database.
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class IngestTrouble : public TreeTest {};

TEST_F(IngestTrouble, ParksAFileThatCannotBeReadAndTriesAgain) {
  write("broken.out", nemo_lines(0, 5));
  write("fine.out", nemo_lines(0, 5));
  chmod(tree_path("broken.out").c_str(), 0);
  for (const auto& path : {folder_.string(), tree_}) chmod(path.c_str(), 0777);
  // Root may read everything: the threads of this Ingest inherit a lesser identity for files.
  const bool is_root = geteuid() == 0;
  if (is_root) setfsuid(65'534);
  auto quick = options();
  quick.park_first = milliseconds(20);
  quick.park_longest = milliseconds(40);
  {
    Ingest ingest(quick, {});
    ingest.start();
    EXPECT_TRUE(eventually([&] { return ingest.status().files_parked == 1; }));
    EXPECT_TRUE(eventually([&] { return steps_of("fine.out").size() == 5; }));
    EXPECT_TRUE(eventually([&] {
      const auto parked = storage::Reader(database_).parked_files();
      return parked.size() == 1 && parked[0].relative_path == "broken.out" &&
             parked[0].failures >= 2 && parked[0].reason.find("Permission") != std::string::npos;
    }));
    if (is_root) setfsuid(0);
    chmod(tree_path("broken.out").c_str(), 0644);
    EXPECT_TRUE(eventually([&] { return steps_of("broken.out").size() == 5; }));
    EXPECT_TRUE(eventually([&] { return storage::Reader(database_).parked_files().empty(); }));
    EXPECT_EQ(ingest.status().files_parked, 0);
  }
  if (is_root) setfsuid(0);
}

TEST_F(IngestTrouble, HaltsWhileTheDiskIsFullAndResumesByItself) {
  const std::string small = folder_.string() + "/small";
  fs::create_directory(small);
  if (mount("none", small.c_str(), "tmpfs", 0, "size=2m") != 0) {
    GTEST_SKIP() << "mounting a small file system needs root: " << std::strerror(errno);
  }
  auto on_small = options();
  on_small.database.path = database_ = small + "/runs.db";
  {
    Ingest ingest(on_small, {});
    ingest.start();
    write("first.out", nemo_lines(0, 5));
    EXPECT_TRUE(eventually([&] { return steps_of("first.out").size() == 5; }));
    std::ofstream ballast(small + "/ballast");
    const std::string block(64 * 1024, 'x');
    while (ballast.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
    ballast.close();
    write("second.out", nemo_lines(0, 4'000, 3'999));
    EXPECT_TRUE(eventually([&] { return !ingest.status().halted_reason.empty(); }));
    EXPECT_EQ(steps_of("first.out").size(), 5U) << "reading goes on";
    fs::remove(small + "/ballast");
    EXPECT_TRUE(eventually([&] { return steps_of("second.out").size() == 4'000; }));
    EXPECT_TRUE(eventually([&] { return ingest.status().halted_reason.empty(); }));
  }
  umount2(small.c_str(), MNT_DETACH);
}

TEST_F(IngestTrouble, SaysThatARootIsUnmountedAndLosesNoLog) {
  const auto mounted = [this] { return mount("none", tree_.c_str(), "tmpfs", 0, "size=2m") == 0; };
  if (!mounted()) GTEST_SKIP() << "mounting needs root: " << std::strerror(errno);
  {
    write("run.out", nemo_lines(0, 5));
    Ingest ingest(options(), {});
    ingest.start();
    EXPECT_TRUE(eventually([&] { return steps_of("run.out").size() == 5; }));
    EXPECT_EQ(umount2(tree_.c_str(), MNT_DETACH), 0);
    EXPECT_TRUE(eventually([&] {
      const auto errors = ingest.status().root_errors;
      return errors.size() == 1 && errors[0].find("not mounted any more") != std::string::npos;
    }));
    EXPECT_FALSE(run_of("run.out")->vanished_at) << "a tree that is not there has lost no file";
    EXPECT_TRUE(mounted());
    write("run.out", nemo_lines(0, 7));
    EXPECT_TRUE(eventually([&] { return steps_of("run.out").size() == 7; }));
    EXPECT_TRUE(eventually([&] { return ingest.status().root_errors.empty(); }));
  }
  umount2(tree_.c_str(), MNT_DETACH);
}

TEST_F(IngestTrouble, SaysThatAMountBelowARootIsMissingAndLosesNoLog) {
  const std::string inner = tree_path("inner");
  fs::create_directory(inner);
  const auto mounted = [&] { return mount("none", inner.c_str(), "tmpfs", 0, "size=2m") == 0; };
  if (!mounted()) GTEST_SKIP() << "mounting needs root: " << std::strerror(errno);
  write("beside.out", nemo_lines(0, 5));
  write("inner/near.out", nemo_lines(0, 5));
  write("inner/deep/run.out", nemo_lines(0, 5));
  {
    Ingest ingest(options(), {});
    ingest.start();
    EXPECT_TRUE(eventually([&] { return steps_of("inner/deep/run.out").size() == 5; }));
    EXPECT_TRUE(eventually([&] { return steps_of("inner/near.out").size() == 5; }));
    EXPECT_EQ(umount2(inner.c_str(), MNT_DETACH), 0);
    EXPECT_TRUE(eventually([&] {
      const auto errors = ingest.status().root_errors;
      return errors.size() == 1 &&
             errors[0].find("nothing is mounted any more at inner;") != std::string::npos;
    }));
    // The rest of the root is read on, and a log that goes there is gone.
    write("new.out", nemo_lines(0, 3));
    fs::remove(tree_path("beside.out"));
    EXPECT_TRUE(eventually([&] { return steps_of("new.out").size() == 3; }));
    EXPECT_TRUE(eventually([&] { return run_of("beside.out")->vanished_at.has_value(); }));
    EXPECT_FALSE(run_of("inner/near.out")->vanished_at);
    EXPECT_FALSE(run_of("inner/deep/run.out")->vanished_at);
    EXPECT_TRUE(mounted());
    write("inner/deep/run.out", nemo_lines(0, 7));
    EXPECT_TRUE(eventually([&] { return steps_of("inner/deep/run.out").size() == 7; }));
    EXPECT_TRUE(eventually([&] { return ingest.status().root_errors.empty(); }));
    EXPECT_TRUE(eventually([&] { return run_of("inner/near.out")->vanished_at.has_value(); }))
        << "what another file system there does not hold is gone";
  }
  umount2(inner.c_str(), MNT_DETACH);
}

TEST_F(IngestTrouble, SaysThatARootWasUnmountedBeforeTheStart) {
  const auto mounted = [this] { return mount("none", tree_.c_str(), "tmpfs", 0, "size=2m") == 0; };
  if (!mounted()) GTEST_SKIP() << "mounting needs root: " << std::strerror(errno);
  write("a/run.out", nemo_lines(0, 5));
  ingest_once();
  EXPECT_EQ(umount2(tree_.c_str(), MNT_DETACH), 0);
  std::ofstream(tree_path("NOT_MOUNTED")) << "nothing is here\n";
  EXPECT_EQ(ingest_once().root_errors.size(), 1U);
  {
    Ingest ingest(options(), {});
    ingest.start();
    EXPECT_TRUE(eventually([&] {
      const auto errors = ingest.status().root_errors;
      return errors.size() == 1 && errors[0].find("not mounted?") != std::string::npos &&
             errors[0].find("(1 of them)") != std::string::npos;
    }));
    EXPECT_FALSE(run_of("a/run.out")->vanished_at);
    EXPECT_TRUE(mounted());
    write("a/run.out", nemo_lines(0, 7));
    EXPECT_TRUE(eventually([&] { return steps_of("a/run.out").size() == 7; }));
    EXPECT_TRUE(eventually([&] { return ingest.status().root_errors.empty(); }));
  }
  umount2(tree_.c_str(), MNT_DETACH);
}

TEST_F(IngestTrouble, TakesARootThatWasEmptiedForEmptyOnceALogIsInIt) {
  write("a/run.out", nemo_lines(0, 5));
  ingest_once();
  fs::remove_all(tree_path("a"));
  Ingest ingest(options(), {});
  ingest.start();
  EXPECT_TRUE(eventually([&] { return ingest.status().root_errors.size() == 1; }));
  EXPECT_FALSE(run_of("a/run.out")->vanished_at);
  write("b/run.out", nemo_lines(0, 5));
  EXPECT_TRUE(eventually([&] { return run_of("a/run.out")->vanished_at.has_value(); }));
  EXPECT_TRUE(eventually([&] { return steps_of("b/run.out").size() == 5; }));
  EXPECT_TRUE(ingest.status().root_errors.empty());
}

// It may be a mount of its own, of which an earlier process knew.
TEST_F(IngestTrouble, LosesNoLogOfAFolderThatIsEmptyAtTheStart) {
  for (const char* const folder : {"experiments", "results", "others"}) {
    write(std::string(folder) + "/a/run.out", nemo_lines(0, 5));
  }
  ingest_once();
  const auto is_gone = [&](const char* folder) {
    return run_of(std::string(folder) + "/a/run.out")->vanished_at.has_value();
  };
  for (const char* const folder : {"experiments", "others"}) {
    fs::remove_all(tree_path(std::string(folder) + "/a"));
  }
  for (int look = 0; look < 2; ++look) {
    const auto errors = ingest_once().root_errors;
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_NE(errors[0].find("experiments is empty"), std::string::npos) << errors[0];
    EXPECT_NE(errors[0].find("remove the empty folder"), std::string::npos) << errors[0];
    EXPECT_FALSE(is_gone("experiments"));
    EXPECT_FALSE(is_gone("results"));
    EXPECT_TRUE(is_gone("others")) << "anybody may empty such a folder";
  }
  write("experiments/b/run.out", nemo_lines(0, 5));
  EXPECT_TRUE(ingest_once().root_errors.empty());
  EXPECT_TRUE(is_gone("experiments"));
  fs::remove_all(tree_path("results"));
  EXPECT_TRUE(ingest_once().root_errors.empty());
  EXPECT_TRUE(is_gone("results")) << "there is no folder that it could be mounted at";
}

TEST_F(IngestTrouble, StopsAtOnceWhileItIsHalted) {
  const std::string small = folder_.string() + "/small";
  fs::create_directory(small);
  if (mount("none", small.c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "mounting a small file system needs root: " << std::strerror(errno);
  }
  auto on_small = options();
  on_small.database.path = database_ = small + "/runs.db";
  for (int i = 0; i < 8; ++i) {
    write("large" + std::to_string(i) + ".out", nemo_lines(0, 20'000, 19'999));
  }
  {
    Ingest ingest(on_small, {});
    ingest.start();
    EXPECT_TRUE(eventually([&] { return !ingest.status().halted_reason.empty(); }));
    ingest.stop();  // and does not wait for space
  }
  EXPECT_THROW(ingest_once(on_small), std::runtime_error) << "--once does not wait for space";
  umount2(small.c_str(), MNT_DETACH);
}

TEST_F(IngestTrouble, RefusesASecondIngestOnTheSameDatabase) {
  Ingest first(options(), {});
  try {
    Ingest second(options(), {});
    FAIL() << "two writers on one database";
  } catch (const storage::StorageError& error) {
    EXPECT_EQ(error.kind, storage::StorageError::Kind::busy_elsewhere);
  }
}

TEST_F(IngestTrouble, SurvivesLogsThatVanishWhileItWorks) {
  auto quick = options();
  quick.scan_interval = milliseconds(1);
  Ingest ingest(quick, {});
  ingest.start();
  for (int round = 0; round < 100; ++round) {
    const std::string log = "a/run" + std::to_string(round % 7) + ".out";
    write(log, nemo_lines(0, 3 + round % 5));
    if (round % 3 == 0) fs::remove_all(tree_path("a"));
  }
  write("last.out", nemo_lines(0, 5));
  EXPECT_TRUE(eventually([&] { return steps_of("last.out").size() == 5; }));
  EXPECT_EQ(ingest.status().files_parked, 0);
}

TEST_F(IngestTrouble, FindsALogGoneThatWentAwayWhileItsRunWasWritten) {
  auto quick = options();
  quick.scan_interval = milliseconds(1);
  Ingest* following = nullptr;
  bool was_missed = false;
  // Called when the run is written, and nobody knows of it yet.
  Ingest ingest(quick, [&](const storage::RunChange& change) {
    if (change.kind != storage::RunChange::Kind::added) return;
    const bool was_seen = eventually([&] { return following->status().files_seen == 1; });
    fs::remove(tree_path("run.out"));
    was_missed = was_seen && eventually([&] { return following->status().files_seen == 0; });
  });
  following = &ingest;
  write("run.out", nemo_lines(0, 5));
  ingest.start();
  EXPECT_TRUE(eventually([&] {
    const auto run = run_of("run.out");
    return run && run->vanished_at.has_value();
  }));
  EXPECT_TRUE(was_missed);
}

}  // namespace
}  // namespace llmb::ingest
