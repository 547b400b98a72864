#include "server/backfill/manifest.h"

#include <gmock/gmock.h>

#include "server/backfill/work_folder.h"
#include "tests/temporary_folder.h"

namespace llmb::backfill {
namespace {

using testing::HasSubstr;

Manifest manifest_of(const std::vector<Part>& first, const std::vector<Part>& second) {
  Manifest manifest;
  manifest.id = "llmb-0123456789abcdef0123456789abcdef";
  manifest.server = "https://reports.example:8642";
  manifest.cluster = "eos";
  manifest.token_file = "/home/me/eos.token";
  manifest.database_folder = "/var/tmp";
  manifest.sends_text = true;
  manifest.roots = {"/lustre/w", "/lustre/\xff of another"};
  for (const auto& parts : {first, second}) {
    Share& share = manifest.tasks.emplace_back();
    share.parts = parts;
    for (const Part& part : parts) share.measure.add(part.measure);
  }
  return manifest;
}

Manifest good() {
  return manifest_of(
      {{0, "experiments/a", true, {7, 1}}, {1, "", true, {9, 3}}},
      {{0, "experiments", false, {2, 1}}, {0, "experiments/b \xc3\n", true, {5, 1}}});
}

std::string refusal_of(const std::string& text) {
  const auto read = read_manifest(text);
  return read ? "it was read" : read.error().message;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Manifest, IsReadAsItWasWritten) {
  const auto read = read_manifest(manifest_text(good()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, good());
  EXPECT_EQ(read->measure(), (Measure{23, 6}));
}

TEST(Manifest, GivesATaskItsPartsOfEachRoot) {
  const auto roots = roots_of_task(good(), 2);
  ASSERT_EQ(roots.size(), 1U);
  EXPECT_EQ(roots[0].path, "/lustre/w");
  EXPECT_EQ(roots[0].cluster, "eos");
  EXPECT_TRUE(roots[0].parts.hold("experiments/a.out"));
  EXPECT_FALSE(roots[0].parts.hold("experiments/a/a.out"));
  EXPECT_EQ(roots_of_task(good(), 1).size(), 2U);
}

TEST(Manifest, RefusesWhatIsCutOffOrOfAnotherFormat) {
  const std::string text = manifest_text(good());
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    EXPECT_NE(refusal_of(text.substr(0, length)), "it was read") << length;
  }
  EXPECT_THAT(refusal_of(with(text, "\"format\": 2", "\"format\": 3")),
              HasSubstr("of the format 3, and this program reads 2"));
  EXPECT_THAT(refusal_of(with(text, "\"cluster\"", "\"clusters\"")), HasSubstr("'cluster'"));
  EXPECT_THAT(refusal_of(with(text, "\"logs\": 1", "\"logs\": \"1\"")), HasSubstr("'logs'"));
}

TEST(Manifest, RefusesFoldersOutsideOfItsRoots) {
  const std::string text = manifest_text(good());
  for (const char* folder : {"/etc", "..", "a/../..", "a//b", "a/", "./a"}) {
    const std::string bad = with(text, "\"experiments/a\"", '"' + std::string(folder) + '"');
    EXPECT_THAT(refusal_of(bad), HasSubstr("'folder'")) << folder;
  }
  EXPECT_THAT(refusal_of(with(text, "\"root\": 1", "\"root\": 2")), HasSubstr("'root'"));
  EXPECT_THAT(refusal_of(with(text, "\"root\": 1", "\"root\": -1")), HasSubstr("'root'"));
  EXPECT_THAT(refusal_of(with(text, "\"/lustre/w\"", "\"w\"")), HasSubstr("'roots'"));
  EXPECT_THAT(refusal_of(with(text, "\"/home/me/eos.token\"", "\"eos.token\"")),
              HasSubstr("'token_file'"));
}

TEST(Manifest, RefusesAFolderInTwoPlaces) {
  const Part whole{0, "a", true, {1, 1}};
  const std::vector<Part> others = {whole, {0, "a", false, {1, 1}}, {0, "a/b/c", true, {1, 1}}};
  for (const Part& other : others) {
    EXPECT_THAT(refusal_of(manifest_text(manifest_of({whole}, {other}))),
                HasSubstr("in one place only"));
  }
  const Part beside{1, "a", true, {1, 1}};
  EXPECT_EQ(refusal_of(manifest_text(manifest_of({whole}, {beside}))), "it was read");
  EXPECT_THAT(refusal_of(manifest_text(manifest_of({whole}, {}))), HasSubstr("'parts'"));
}

TEST(WorkFolder, KeepsTheManifestAndTheStates) {
  const TemporaryFolder folder;
  const WorkFolder work(folder.file("work"));
  EXPECT_FALSE(*work.manifest());
  ASSERT_TRUE(work.make());
  ASSERT_TRUE(work.make()) << "again";
  ASSERT_TRUE(work.write_manifest(good()));
  EXPECT_EQ(**work.manifest(), good());
  EXPECT_FALSE(*work.state(7));
  TaskState state{TaskPhase::pushing, 12, 3, "why \xff", "node1", "41_7", 1'700'000'000};
  ASSERT_TRUE(work.write_state(7, state));
  EXPECT_EQ(**work.state(7), state);
  folder.write("work/tasks/7.json", "{\"phase\": \"sleeping\"}");
  EXPECT_THAT(work.state(7).error().message, HasSubstr("tasks/7.json cannot be read: 'phase'"));
  folder.write("work/manifest.json", "{");
  EXPECT_THAT(work.manifest().error().message, HasSubstr("manifest.json is no manifest"));
}

TEST(WorkFolder, NamesTheLastWordsOfATask) {
  const TemporaryFolder folder;
  const WorkFolder work(folder.path());
  EXPECT_EQ(work.last_words(3), "");
  folder.write("tasks/3.out", "first\n  slurmstepd: error: killed  \n\n \n");
  EXPECT_EQ(work.last_words(3), "slurmstepd: error: killed");
  folder.write("tasks/3.out", "\n");
  EXPECT_EQ(work.last_words(3), "");
  folder.write("tasks/3.out", "only");
  EXPECT_EQ(work.last_words(3), "only");
}

TEST(TaskLock, IsHeldByOne) {
  const TemporaryFolder folder;
  const WorkFolder work(folder.path());
  ASSERT_TRUE(work.make());
  EXPECT_FALSE(work.is_locked(1));
  {
    const TaskLock lock(work.lock_file(1));
    EXPECT_TRUE(lock.is_held());
    EXPECT_TRUE(work.is_locked(1));
    EXPECT_FALSE(TaskLock(work.lock_file(1)).is_held());
  }
  EXPECT_FALSE(work.is_locked(1));
}

}  // namespace
}  // namespace llmb::backfill
