// What can be reached through a root, with openat2 and without.
#include "server/ingest/root_directory.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

#include "server/ingest/file_system_kind.h"
#include "server/ingest/tree_walk.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

namespace fs = std::filesystem;

class RootDirectoryTest : public TreeTest,
                          public testing::WithParamInterface<RootDirectory::Method> {
 protected:
  RootDirectory root() const {
    auto opened = RootDirectory::open(tree_, GetParam());
    EXPECT_TRUE(opened.has_value());
    return std::move(*opened);
  }
  int error_of(const std::string& path) const { return root().open_file(path).error; }
};

TEST_P(RootDirectoryTest, OpensFilesBelowIt) {
  write("a/b/run.out", "x");
  EXPECT_EQ(error_of("a/b/run.out"), 0);
  EXPECT_EQ(error_of("a/b/none.out"), ENOENT);
  EXPECT_EQ(error_of("a/b"), EISDIR);
  EXPECT_EQ(root().stat_file("a/b/run.out")->size_bytes, 1U);
}

TEST_P(RootDirectoryTest, NeverLeavesItself) {
  write("../outside.out", "secret");
  write("inside.out", "x");
  write("real/run.out", "x");
  fs::create_symlink(folder_ / "outside.out", tree_path("absolute.out"));
  fs::create_symlink("../outside.out", tree_path("relative.out"));
  fs::create_symlink("inside.out", tree_path("harmless.out"));
  fs::create_directory_symlink(folder_, tree_path("up"));
  fs::create_directory_symlink("real", tree_path("sideways"));
  EXPECT_EQ(error_of("absolute.out"), ELOOP);
  EXPECT_EQ(error_of("relative.out"), ELOOP);
  EXPECT_EQ(error_of("harmless.out"), ELOOP);
  EXPECT_EQ(error_of("../outside.out"), EXDEV);
  EXPECT_EQ(error_of("real/../../outside.out"), EXDEV);
  EXPECT_NE(error_of(tree_path("inside.out")), 0) << "an absolute path";
  for (const char* path : {"up/outside.out", "sideways/run.out"}) {
    const int error = error_of(path);
    EXPECT_TRUE(error == ELOOP || error == ENOTDIR) << path << ": " << error;
  }
  EXPECT_NE(root().open_directory("up").error, 0);
}

TEST_P(RootDirectoryTest, NeverOpensFifosSocketsOrDevices) {
  ASSERT_EQ(mkfifo(tree_path("pipe.out").c_str(), 0600), 0);
  ASSERT_EQ(mknod(tree_path("socket.out").c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_EQ(error_of("pipe.out"), ENXIO);
  EXPECT_EQ(error_of("socket.out"), ENXIO);
  // A writer that would be let in by a reader is still alone.
  EXPECT_EQ(open(tree_path("pipe.out").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC), -1);
  EXPECT_EQ(errno, ENXIO);
}

INSTANTIATE_TEST_SUITE_P(Methods, RootDirectoryTest,
                         testing::Values(RootDirectory::Method::detect,
                                         RootDirectory::Method::components));

class TreeWalkTest : public TreeTest {
 protected:
  std::vector<std::string> walk(std::vector<std::string> pruned = {}) {
    std::vector<std::string> found;
    auto root = RootDirectory::open(tree_);
    TreeWalk walk(std::make_shared<const RootDirectory>(std::move(*root)), std::move(pruned));
    walk.add_directory("");
    while (!walk.is_done()) {
      walk.step([&](const Candidate& candidate) { found.push_back(candidate.relative_path); });
    }
    std::sort(found.begin(), found.end());
    return found;
  }
};

TEST_F(TreeWalkTest, FindsLogsAndConfigsOnly) {
  for (const char* file : {"a/run.out", "a/b/c/log-1.out", "a/llmb-config_12.yaml", "a/run.err",
                           "sbatch_x.out", "vboost.out", "notes.txt"}) {
    write(file, "x");
  }
  fs::create_directory(tree_path("folder.out"));
  EXPECT_EQ(walk(),
            (std::vector<std::string>{"a/b/c/log-1.out", "a/llmb-config_12.yaml", "a/run.out"}));
}

TEST_F(TreeWalkTest, EndsWhereLinksLoop) {
  write("a/run.out", "x");
  fs::create_directory_symlink("..", tree_path("a/up"));
  fs::create_directory_symlink(".", tree_path("self"));
  EXPECT_EQ(walk(), std::vector<std::string>{"a/run.out"});
}

TEST_F(TreeWalkTest, NamesALinkOutOfTheRoot) {
  const auto link_of_tree = [&] {
    auto root = RootDirectory::open(tree_path());
    TreeWalk walk(std::make_shared<const RootDirectory>(std::move(*root)));
    walk.add_directory("");
    std::string link;
    while (!walk.is_done()) {
      walk.step([](const Candidate&) {});
      if (link.empty()) link = walk.take_link();
    }
    return link;
  };
  std::filesystem::create_directories(folder_ / "scratch/x");
  write("a/log.out", "");
  for (const char* const inside : {"latest", "a/self", "a/log_1.out"}) {
    std::filesystem::create_symlink(tree_path("a"), tree_path(inside));
  }
  std::filesystem::create_symlink("nowhere", tree_path("a/log_2.out"));
  std::filesystem::create_symlink(folder_ / "scratch", tree_path("experiments"));
  std::ofstream(folder_ / "scratch/notes.txt") << "";
  std::filesystem::create_symlink(folder_ / "scratch/notes.txt", tree_path("a/notes.txt"));
  EXPECT_EQ(link_of_tree(), "") << "met in the tree, no log, or a root of its own";
  std::filesystem::create_symlink(folder_ / "scratch/x", tree_path("a/x"));
  EXPECT_EQ(link_of_tree(), "a/x");
}

TEST_F(TreeWalkTest, LeavesOutOtherRoots) {
  write("a/run.out", "x");
  write("b/run.out", "x");
  EXPECT_EQ(walk({"b"}), std::vector<std::string>{"a/run.out"});
}

TEST_F(TreeWalkTest, SurvivesABottomlessTree) {
  std::string path = "d";
  for (int i = 0; i < 80; ++i) path += "/d";
  write(path + "/run.out", "x");
  write("run.out", "x");
  EXPECT_EQ(walk(), std::vector<std::string>{"run.out"});
}

TEST(FileSystemKind, TrustsOnlyWhatItKnowsToBeLocal) {
  EXPECT_EQ(file_system_kind_of_magic(0xEF53), FileSystemKind::local);
  EXPECT_EQ(file_system_kind_of_magic(0x6969), FileSystemKind::remote) << "nfs";
  EXPECT_EQ(file_system_kind_of_magic(0x0BD00BD0), FileSystemKind::remote) << "lustre";
  EXPECT_EQ(file_system_kind_of_magic(0x12345678), FileSystemKind::remote) << "unknown";
}

}  // namespace
}  // namespace llmb::ingest
