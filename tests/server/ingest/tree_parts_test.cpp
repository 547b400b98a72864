// Several programs that share a root: each reads its parts, and together they store what one stores
// that reads all of it.
#include "server/ingest/tree_parts.h"

#include <gmock/gmock.h>

#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST(TreeParts, HoldWhatLiesInThem) {
  const TreeParts parts({"a/b", "c"}, {"", "a"});
  EXPECT_TRUE(parts.hold("top.out"));
  EXPECT_TRUE(parts.hold("a/x.out"));
  EXPECT_TRUE(parts.hold("a/b/x.out"));
  EXPECT_TRUE(parts.hold("a/b/c/d/x.out"));
  EXPECT_FALSE(parts.hold("a/bb/x.out"));
  EXPECT_FALSE(parts.hold("d/x.out"));
  EXPECT_TRUE(parts.descend_to("c/d"));
  EXPECT_FALSE(parts.descend_to("c")) << "it is begun at by itself";
  EXPECT_FALSE(parts.descend_to("a/x"));
  EXPECT_THAT(parts.starts(), ElementsAre("", "a", "a/b", "c"));
  EXPECT_FALSE(parts.is_whole());
}

TEST(TreeParts, AreTheWholeRootWhereNothingIsSaid) {
  EXPECT_TRUE(TreeParts().is_whole());
  EXPECT_TRUE(TreeParts().hold("a/b.out"));
  EXPECT_TRUE(TreeParts().descend_to("a"));
  const TreeParts root({""}, {});
  EXPECT_TRUE(root.hold("a/b.out"));
  EXPECT_TRUE(root.descend_to("a/b"));
  EXPECT_THAT(root.starts(), ElementsAre(""));
}

class ReadInParts : public TreeTest {
 protected:
  IngestStatus read(const TreeParts& parts) {
    IngestOptions wanted = options();
    wanted.roots = {{.path = tree_, .cluster = {}, .parts = parts}};
    return ingest_once(std::move(wanted));
  }
  std::vector<std::string> stored() {
    std::vector<std::string> paths;
    for (const auto& run : storage::Reader(database_).runs({}).runs) {
      paths.push_back(run.relative_path + (run.vanished_at ? " is gone" : ""));
    }
    return paths;
  }
};

TEST_F(ReadInParts, StoresTheLogsOfThePartUnderThePathsOfTheRoot) {
  for (const char* log : {"top.out", "a/x.out", "a/b/y.out", "a/b/c/z.out", "d/w.out"}) {
    write(log, nemo_lines(0, 50));
  }
  write("a/llmb-config_7.yaml", "job_info: {}\n");
  EXPECT_EQ(read(TreeParts({"a/b"}, {})).files_seen, 2);
  EXPECT_THAT(stored(), UnorderedElementsAre("a/b/y.out", "a/b/c/z.out"));
  // The other parts, and a log of the first that is not looked at counts as there.
  std::filesystem::remove(tree_path("a/b/y.out"));
  read(TreeParts({"d"}, {"", "a"}));
  EXPECT_THAT(stored(),
              UnorderedElementsAre("a/b/y.out", "a/b/c/z.out", "top.out", "a/x.out", "d/w.out"));
  read(TreeParts());
  EXPECT_THAT(stored(), testing::Contains("a/b/y.out is gone"));
}

TEST_F(ReadInParts, FindsTheConfigurationAboveThePart) {
  const std::string config =
      "job_info:\n  job_id: '4711'\nmodel_info:\n  model_name: grok1\nworkload_info:\n"
      "  framework: nemo2\n  gsw_version: '25.05'\n";
  write("top/llmb-config_4711.yaml", config);
  write("top/launch/log-a.x_4711_0.out", nemo_lines(0, 50));
  read(TreeParts({"top/launch"}, {}));
  const auto in_parts = run_of("top/launch/log-a.x_4711_0.out");
  ASSERT_TRUE(in_parts);
  const auto configuration = in_parts->configuration;
  std::filesystem::remove(database_);
  ingest_once();
  EXPECT_EQ(run_of("top/launch/log-a.x_4711_0.out")->configuration, configuration);
  EXPECT_TRUE(configuration.value("release")) << "else this shows nothing";
}

}  // namespace
}  // namespace llmb::ingest
