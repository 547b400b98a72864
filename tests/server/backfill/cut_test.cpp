// The cut of trees into tasks: every log in one task and only one, balanced by bytes, whole
// launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "server/backfill/cut.h"
#include "server/backfill/measure.h"
#include "server/ingest/tree_parts.h"
#include "tests/temporary_folder.h"

namespace llmb::backfill {
namespace {

struct Log {
  std::int64_t root = 0;
  std::string path;
  std::uint64_t bytes = 0;
};

std::vector<MeasuredFolder> measured(const std::vector<Log>& logs, std::size_t roots) {
  std::vector<MeasuredFolder> folders(roots);
  for (const Log& log : logs) {
    folders[static_cast<std::size_t>(log.root)].add_log(log.path, log.bytes);
  }
  return folders;
}

ingest::TreeParts parts_of(const Share& share, std::int64_t root) {
  std::vector<std::string> folders;
  std::vector<std::string> files_of;
  for (const Part& part : share.parts) {
    if (part.root == root) (part.is_whole ? folders : files_of).push_back(part.folder);
  }
  return {folders, files_of};
}

// Which shares read a log of one of two roots.
class Readers {
 public:
  explicit Readers(const std::vector<Share>& shares) {
    for (const Share& share : shares) {
      parts_.push_back({parts_of(share, 0), parts_of(share, 1)});
    }
  }
  std::vector<std::size_t> of(const Log& log) const {
    std::vector<std::size_t> readers;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i][static_cast<std::size_t>(log.root)].hold(log.path)) readers.push_back(i);
    }
    return readers;
  }

 private:
  std::vector<std::array<ingest::TreeParts, 2>> parts_;
};

std::string launch(const std::string& name, int number) {
  return "experiments/" + name + "/" + name + "_" + std::to_string(1'700'000'000 + number);
}

// Launches of two kinds with logs of all sizes, results of 2024 in flat folders, and odd places.
std::vector<Log> random_logs(unsigned seed, int count) {
  std::mt19937 random(seed);
  std::vector<Log> logs;
  for (int i = 0; i < count; ++i) {
    const auto root = static_cast<std::int64_t>(random() % 2);
    const std::string name = "pretrain_" + std::to_string(random() % 7);
    const std::string log = "log-a." + name + "_" + std::to_string(i) + "_0.out";
    std::string path;
    switch (random() % 6) {
      case 0:
        path = "results/24.11/bf16/8b/" + std::to_string(8 << random() % 4) + "/" + log;
        break;
      case 1:
        path = "experiments/" + name + "/" + std::to_string(1'700'000'000 + random() % 50) +
               "/slurm-" + std::to_string(i) + ".out";
        break;
      case 2:
        path = random() % 2 == 0 ? log : "odd/" + log;
        break;
      default:
        path = launch(name, static_cast<int>(random() % 50)) + "/" + name + "/" + log;
    }
    logs.push_back({root, path, random() % 3 == 0 ? random() % 1'000'000 : random() % 3'000});
  }
  return logs;
}

TEST(Cut, GivesEveryLogToOneTaskAndKeepsTheBound) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto logs = random_logs(seed, 400);
    const auto folders = measured(logs, 2);
    const std::int64_t tasks = 1 + seed % 9;
    const auto shares = cut(folders, tasks);
    ASSERT_LE(shares.size(), static_cast<std::size_t>(tasks));
    const Readers all(shares);
    std::vector<Measure> found(shares.size());
    std::uint64_t bytes = 0;
    for (const Log& log : logs) {
      const auto readers = all.of(log);
      ASSERT_EQ(readers.size(), 1U) << log.path;
      found[readers.front()].add({log.bytes, 1});
      bytes += log.bytes;
    }
    std::uint64_t largest_part = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      EXPECT_EQ(shares[i].measure, found[i]);
      for (const Part& part : shares[i].parts) {
        largest_part = std::max(largest_part, part.measure.bytes);
      }
    }
    for (const Share& share : shares) {
      EXPECT_LE(share.measure.bytes, bytes / static_cast<std::uint64_t>(tasks) + largest_part);
    }
  }
}

TEST(Cut, IsTheSameInWhateverOrderTheLogsAreMet) {
  auto logs = random_logs(7, 300);
  const auto shares = cut(measured(logs, 2), 5);
  std::shuffle(logs.begin(), logs.end(), std::mt19937(1));
  EXPECT_EQ(cut(measured(logs, 2), 5), shares);
}

TEST(Cut, SplitsNoLaunch) {
  const auto logs = random_logs(3, 600);
  const auto shares = cut(measured(logs, 2), 8);
  const Readers readers(shares);
  std::map<std::string, std::size_t> reader_of_launch;
  for (const Log& log : logs) {
    if (!log.path.starts_with("experiments/")) continue;
    // experiments/<name>/<launch>
    const std::size_t end = log.path.find('/', log.path.find('/', 12) + 1);
    const std::string key = std::to_string(log.root) + log.path.substr(0, end);
    const std::size_t reader = readers.of(log).front();
    EXPECT_EQ(reader_of_launch.emplace(key, reader).first->second, reader) << key;
  }
  EXPECT_GT(reader_of_launch.size(), 100U);
}

TEST(Cut, CutsTheOnlyFolderOfARootDeeper) {
  std::vector<Log> logs;
  for (int i = 0; i < 64; ++i) logs.push_back({0, launch("a", i) + "/a/log-a_1_0.out", 1'000});
  const auto shares = cut(measured(logs, 1), 4);
  ASSERT_EQ(shares.size(), 4U);
  for (const Share& share : shares) EXPECT_EQ(share.measure, (Measure{16'000, 16}));
}

TEST(Cut, LeavesOneGiantLaunchToATaskOfItsOwn) {
  std::vector<Log> logs = {{0, launch("a", 0) + "/a/log-a_1_0.out", 1'000'000'000}};
  for (int i = 1; i < 100; ++i) logs.push_back({0, launch("a", i) + "/a/log-a_1_0.out", 1'000});
  const auto shares = cut(measured(logs, 1), 4);
  ASSERT_EQ(shares.size(), 4U);
  EXPECT_EQ(shares[0].parts.size(), 1U);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(shares[i].measure.logs, 33);
}

TEST(Cut, TakesASmallFolderAsAWholeWithWhatWillComeInIt) {
  std::vector<Log> logs = {{0, launch("small", 0) + "/small/log-a_1_0.out", 10},
                           {0, launch("small", 1) + "/small/log-a_1_0.out", 10}};
  for (int i = 0; i < 9; ++i) logs.push_back({0, launch("big", i) + "/big/log-a.out", 10'000});
  const auto shares = cut(measured(logs, 1), 3);
  EXPECT_EQ(Readers(shares).of({0, launch("small", 77) + "/small/log-b.out", 0}).size(), 1U);
}

TEST(Cut, HasNoTaskWithoutALog) {
  EXPECT_TRUE(cut(measured({}, 1), 4).empty());
  const auto of_one = cut(measured({{0, "a.out", 5}}, 1), 4);
  ASSERT_EQ(of_one.size(), 1U);
  EXPECT_EQ(of_one[0].parts, (std::vector<Part>{{0, "", true, {5, 1}}}));
  EXPECT_EQ(cut(measured({{0, "a/a.out", 0}, {1, "a.out", 0}}, 2), 4).size(), 2U);
}

TEST(MeasureRoot, CountsWhatIngestWouldRead) {
  const TemporaryFolder tree;
  tree.write("experiments/a/a_1700000000/a/log-x.a_1_0.out", "12345");
  tree.write("experiments/a/a_1700000000/a/sbatch_x.a_1.out", "no training log");
  tree.write("experiments/a/a_1700000000/llmb-config_1.yaml", "a: b");
  tree.write("other.out", "123");
  tree.write("other.out.gz", "beside its log");
  tree.write("another.out.zst", "1234567");
  tree.write("third.out.lz4", "not unpacked");
  std::filesystem::create_symlink(tree.file("experiments"), tree.file("link"));
  const auto measured = measure_root(tree.path(), [] { return true; });
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->folder.all, (Measure{5 + 3 + 8 * 7, 3}));
  EXPECT_EQ(measured->folder.own, (Measure{3 + 8 * 7, 2}));
  EXPECT_TRUE(
      measured->folder.below.at("experiments").below.at("a").below.at("a_1700000000").is_launch);
  EXPECT_FALSE(measure_root(tree.file("absent"), [] { return true; }));
  EXPECT_FALSE(measure_root(tree.path(), [] { return false; }));
}

}  // namespace
}  // namespace llmb::backfill
