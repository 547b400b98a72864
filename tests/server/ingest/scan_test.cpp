// What scans find by themselves, where no directory has a watch; and which directories get the
// watches that there are.
#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kOld{100};

using IngestPlan = TreeTest;

// Folders with one log, and with more than are looked at by their paths.
class IngestScan : public TreeTest, public testing::WithParamInterface<int> {
 protected:
  IngestOptions options_without_watches() const {
    IngestOptions chosen = options();
    chosen.directory_watches_max = 0;
    return chosen;
  }
  static std::string log(int number) {
    return fmt::format("experiments/grok1/grok1_1/grok1/log-a.grok1_{}_0.out", 100 + number);
  }
  // Of ten steps each, that nobody has touched for days; nothing of it is listed again.
  void make_old_logs() {
    for (int i = 0; i < GetParam(); ++i) {
      write(log(i), nemo_lines(0, 10));
      set_age(log(i), kOld);
    }
    make_folders_old();
  }
  void make_folders_old() {
    for (fs::path folder = fs::path(log(0)).parent_path(); !folder.empty();
         folder = folder.parent_path()) {
      set_age(folder.string(), kOld);
    }
  }
  bool all_are_read() {
    for (int i = 0; i < GetParam(); ++i) {
      if (steps_of(log(i)).size() != 10) return false;
    }
    return true;
  }
};

TEST_P(IngestScan, FindsOldLogsThatGrow) {
  make_old_logs();
  Ingest ingest(options_without_watches(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return all_are_read(); }));
  for (int i = 0; i < GetParam(); ++i) {
    append(log(i), nemo_lines(10, 1));
    set_age(log(i), kOld);
    EXPECT_TRUE(eventually([&] { return steps_of(log(i)).size() == 11; })) << log(i);
  }
}

TEST_P(IngestScan, FindsALogThatWasWrittenAnewInAsManyBytes) {
  make_old_logs();
  Ingest ingest(options_without_watches(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return all_are_read(); }));
  write(log(0), nemo_lines(0, 10, 49, 8.5));
  EXPECT_TRUE(eventually([&] { return run_of(log(0))->generation == 1; }));
  EXPECT_NEAR(steps_of(log(0)).front().step_time_s.value_or(0), 8.5, 1e-6);
}

TEST_P(IngestScan, FindsALogThatShrank) {
  make_old_logs();
  Ingest ingest(options_without_watches(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return all_are_read(); }));
  fs::resize_file(tree_path(log(0)), nemo_lines(0, 4).size());
  EXPECT_TRUE(eventually([&] { return steps_of(log(0)).size() == 4; }));
}

TEST_P(IngestScan, FindsALogThatIsReplacedRemovedOrNew) {
  make_old_logs();
  Ingest ingest(options_without_watches(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return all_are_read(); }));
  const std::string other = "experiments/grok1/grok1_1/grok1/log-a.grok1_900_0.out";
  write(other, nemo_lines(0, 7));
  EXPECT_TRUE(eventually([&] { return steps_of(other).size() == 7; }));
  fs::rename(tree_path(other), tree_path(log(0)));
  EXPECT_TRUE(eventually([&] { return run_of(other)->vanished_at.has_value(); }));
  EXPECT_TRUE(eventually([&] { return steps_of(log(0)).size() == 7; }));
  fs::remove(tree_path(log(0)));
  EXPECT_TRUE(eventually([&] { return run_of(log(0))->vanished_at.has_value(); }));
}

TEST_P(IngestScan, FindsThatAFolderWasMovedAndIsBack) {
  make_old_logs();
  Ingest ingest(options_without_watches(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return all_are_read(); }));
  fs::rename(tree_path("experiments/grok1/grok1_1"), folder_ / "away");
  EXPECT_TRUE(eventually([&] { return run_of(log(0))->vanished_at.has_value(); }));
  fs::rename(folder_ / "away", tree_path("experiments/grok1/grok1_1"));
  EXPECT_TRUE(eventually([&] { return !run_of(log(0))->vanished_at.has_value(); }));
  EXPECT_EQ(run_of(log(0))->generation, 0);
}

TEST_P(IngestScan, ReadsNothingThroughALinkInTheWay) {
  make_old_logs();
  write("elsewhere/log-a.grok1_1_0.out", nemo_lines(0, 10));
  Ingest ingest(options_without_watches(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return all_are_read(); }));
  const fs::path launch = tree_path("experiments/grok1/grok1_1");
  fs::rename(launch, folder_ / "outside");
  fs::create_directory_symlink(folder_ / "outside", launch);
  append(log(0), nemo_lines(10, 5));
  // By then every scan that saw the link has done what it would.
  for (int i = 0; i < 3; ++i) {
    append("elsewhere/log-a.grok1_1_0.out", nemo_lines(10 + i, 1));
    ASSERT_TRUE(eventually([&] {
      return steps_of("elsewhere/log-a.grok1_1_0.out").size() == static_cast<std::size_t>(11 + i);
    }));
  }
  EXPECT_EQ(steps_of(log(0)).size(), 10U);
  fs::remove(launch);
  fs::rename(folder_ / "outside", launch);
  EXPECT_TRUE(eventually([&] { return steps_of(log(0)).size() == 15; }));
}

TEST_F(IngestPlan, FindsNewFoldersInSilentLaunchesByTheNextScan) {
  constexpr int kLaunches = 12;
  const auto launch = [](int i) { return fmt::format("experiments/grok1/grok1_{}", i); };
  const auto log = [&](int i) {
    return fmt::format("{}/grok1/log-a.grok1_{}_0.out", launch(i), i);
  };
  const auto later = [&](int i) {
    return fmt::format("{}/again/log-a.grok1_9{}_0.out", launch(i), i);
  };
  for (int i = 0; i < kLaunches; ++i) {
    write(log(i), nemo_lines(0, 10));
    for (fs::path path = log(i); !path.empty(); path = path.parent_path()) {
      set_age(path.string(), kOld);
    }
  }
  const auto clock = std::make_shared<ManualClock>();
  IngestOptions chosen = options();
  chosen.directory_watches_max = 0;
  chosen.scan_interval = std::chrono::seconds(10);  // of the clock, which stands still
  chosen.clock = clock;
  Ingest ingest(chosen, {});
  ingest.start();
  ASSERT_TRUE(eventually([&] { return steps_of(log(kLaunches - 1)).size() == 10; }));
  ASSERT_TRUE(eventually([&] { return ingest.status().first_scan_done; }));
  for (int i = 0; i < kLaunches; ++i) write(later(i), nemo_lines(0, 3));
  clock->move(std::chrono::seconds(10));
  for (int i = 0; i < kLaunches; ++i) {
    ASSERT_TRUE(eventually([&] { return steps_of(later(i)).size() == 3; })) << later(i);
  }
}

INSTANTIATE_TEST_SUITE_P(LogsOfAFolder, IngestScan, testing::Values(1, 5));

// The inodes that this process has inotify watches of.
std::set<ino_t> watched_inodes() {
  std::set<ino_t> inodes;
  for (const auto& entry : fs::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const std::size_t at = line.find("ino:");
      if (!line.starts_with("inotify ") || at == std::string::npos) continue;
      inodes.insert(std::stoull(line.substr(at + 4), nullptr, 16));
    }
  }
  return inodes;
}

class IngestWatches : public TreeTest {
 protected:
  ino_t inode_of(const std::string& relative) const {
    struct stat status {};
    EXPECT_EQ(stat(tree_path(relative).c_str(), &status), 0) << relative;
    return status.st_ino;
  }
};

TEST_F(IngestWatches, GoToTheFoldersOfOldLogsBeforeTheFoldersAroundThem) {
  constexpr int kLaunches = 6;
  const auto launch = [](int i) { return fmt::format("experiments/grok1/grok1_{}", i); };
  for (int i = 0; i < kLaunches; ++i) {
    const std::string log = fmt::format("{}/grok1/log-a.grok1_{}_0.out", launch(i), 100 + i);
    write(log, nemo_lines(0, 10));
    set_age(log, kOld);
    set_age(launch(i) + "/grok1", kOld);
    // They were active last.
    set_age(launch(i), kOld - std::chrono::hours(1));
  }
  set_age("experiments/grok1", kOld);
  set_age("experiments", kOld);
  IngestOptions few_watches = options();
  // The root, `experiments`, the experiment, and one for each log.
  few_watches.directory_watches_max = 3 + kLaunches;
  Ingest ingest(few_watches, {});
  ingest.start();
  EXPECT_TRUE(eventually([&] {
    const std::set<ino_t> watched = watched_inodes();
    for (int i = 0; i < kLaunches; ++i) {
      if (!watched.contains(inode_of(launch(i) + "/grok1"))) return false;
    }
    return watched.contains(inode_of("experiments")) && watched.contains(inode_of(""));
  }));
  // A folder that comes to life takes a watch back.
  write(launch(2) + "/again/log-a.grok1_200_0.out", nemo_lines(0, 3));
  EXPECT_TRUE(eventually([&] { return watched_inodes().contains(inode_of(launch(2))); }));
}

}  // namespace
}  // namespace llmb::ingest
