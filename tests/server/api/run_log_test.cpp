// GET /api/v1/runs/{id}/log and .../log/matches: the lines around a byte, those that hold a text,
// and what is refused.
#include <chrono>
#include <fstream>
#include <future>
#include <thread>
#include <vector>

#include "tests/patience.h"
#include "tests/server/api/sample_database.h"
#include "tests/server/ingest/hanging_file_system.h"
#include "tests/server/unpacking/packed_bytes.h"

namespace llmb::api {
namespace {

class RunLog : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    tree_ = folder_ / "tree";
    tree_root_ = watch(tree_);
    write("first line\nsecond line\nthird line\n");
    storage::IngestBatch batch = sample_batch(tree_root_, "alpha", 1, 49, 7.0);
    batch.relative_path = "log.out";
    batch.cursor = {};
    run_ = writer_->commit({&batch, 1}).at(0);
  }

  void write(const std::string& text) const {
    std::ofstream(tree_ / "log.out", std::ios::binary) << text;
  }
  std::string path(storage::RunId run) const {
    return "/api/v1/runs/" + std::to_string(run) + "/log";
  }

  std::filesystem::path tree_;
  storage::RootId tree_root_ = 0;
  storage::RunId run_ = 0;
};

TEST_F(RunLog, GivesTheLinesAroundAByte) {
  const Json log = get_json(path(run_), {{"offset", "13"}, {"before", "1"}, {"after", "0"}});
  EXPECT_EQ(log["run_id"], run_);
  EXPECT_EQ(log["size_bytes"], 34);
  ASSERT_EQ(log["lines"].size(), 2U);
  EXPECT_EQ(log["lines"][1]["text"], "second line");
  EXPECT_EQ(log["lines"][1]["offset"], 11);
  EXPECT_EQ(log["at"], 1);
  EXPECT_EQ(log["next_offset"], 23);
  EXPECT_EQ(get_json(path(run_))["lines"].size(), 3U);  // around its end
}

TEST_F(RunLog, UnpacksWhatWasCompressedSince) {
  const Json before = get_json(path(run_));
  std::filesystem::remove(tree_ / "log.out");
  for (const unpacking::Packing packing : unpacking::kPackings) {
    const std::filesystem::path packed = tree_ / ("log.out" + unpacking::suffix_of(packing));
    std::ofstream(packed, std::ios::binary)
        << unpacking::packed_by(packing, "first line\nsecond line\nthird line\n");
    EXPECT_EQ(get_json(path(run_)), before) << packed;
    std::filesystem::remove(packed);
  }
  const std::string torn = unpacking::gzipped("first line\nsecond line\nthird line\n");
  std::ofstream(tree_ / "log.out.gz", std::ios::binary) << torn.substr(0, torn.size() - 8);
  EXPECT_EQ(get_json(path(run_)), before) << "it ends in the middle";
  std::ofstream(tree_ / "log.out.gz", std::ios::binary) << "\x1f\x8b\x08 no such file";
  EXPECT_NE(get_detail(path(run_), {}, 503).find("compressed file"), std::string::npos);
}

TEST_F(RunLog, IsDescribedAsItIs) {
  const Json document = get_json("/api/v1/openapi.json");
  const Json& schema = document["components"]["schemas"]["RunLog"];
  const Json log = get_json(path(run_));
  for (const Json& name : schema["required"]) {
    EXPECT_TRUE(log.contains(name.get<std::string>())) << name;
  }
  EXPECT_EQ(log.size(), schema["properties"].size());
  const Json& line = document["components"]["schemas"]["LogLine"];
  EXPECT_EQ(log["lines"][0].size(), line["properties"].size());
  const Json& of_matches = document["components"]["schemas"]["RunLogMatches"];
  EXPECT_EQ(get_json(path(run_) + "/matches", {{"text", "line"}}).size(),
            of_matches["properties"].size());
}

TEST_F(RunLog, FindsLines) {
  const Json found = get_json(path(run_) + "/matches", {{"text", "D LINE"}});
  EXPECT_EQ(found["run_id"], run_);
  EXPECT_EQ(found["size_bytes"], 34);
  ASSERT_EQ(found["lines"].size(), 2U);
  EXPECT_EQ(found["lines"][0]["text"], "second line");
  EXPECT_EQ(found["lines"][1]["offset"], 23);
  EXPECT_TRUE(found["next_offset"].is_null());
  EXPECT_FALSE(found["has_gaps"]);
  const Json one = get_json(path(run_) + "/matches", {{"text", "line"}, {"limit", "1"}});
  EXPECT_EQ(one["lines"].size(), 1U);
  EXPECT_EQ(one["next_offset"], 11);
  const Json rest = get_json(path(run_) + "/matches", {{"pattern", "^t.*e$"}, {"from", "11"}});
  ASSERT_EQ(rest["lines"].size(), 1U);
  EXPECT_EQ(rest["lines"][0]["text"], "third line");
  EXPECT_TRUE(
      get_json(path(run_) + "/matches", {{"text", "line"}, {"from", "99"}})["lines"].empty());
}

TEST_F(RunLog, FindsLinesThatLieFarBehind) {
  std::string text;
  while (text.size() < (3U << 20U)) text += std::string(1'023, '.') + "\n";
  write(text + "the one\n");
  Json found = get_json(path(run_) + "/matches", {{"text", "one"}});
  // A slow machine looks through a part of it in the time of one question.
  while (found["lines"].empty() && found["next_offset"].is_number()) {
    found =
        get_json(path(run_) + "/matches", {{"text", "one"}, {"from", found["next_offset"].dump()}});
  }
  ASSERT_EQ(found["lines"].size(), 1U);
  EXPECT_EQ(found["lines"][0]["offset"], text.size());
}

TEST_F(RunLog, RefusesToLookForWhatIsNoPattern) {
  const std::string matches = path(run_) + "/matches";
  EXPECT_NE(get_detail(matches, {}, 400).find("Give `text`"), std::string::npos);
  get_detail(matches, {{"text", "a"}, {"pattern", "b"}}, 400);
  EXPECT_NE(get_detail(matches, {{"pattern", "a("}}, 400).find("missing )"), std::string::npos);
  EXPECT_NE(get_detail(matches, {{"text", std::string(501, 'a')}}, 400).find("500"),
            std::string::npos);
  get_detail("/api/v1/runs/999/log/matches", {{"text", "a"}}, 404);
}

TEST_F(RunLog, RefusesWhatCannotBeRead) {
  EXPECT_NE(get_detail(path(run_), {{"offset", "-1"}}, 400).find("offset"), std::string::npos);
  EXPECT_NE(get_detail(path(run_), {{"after", "501"}}, 400).find("500"), std::string::npos);
  get_detail(path(999), {}, 404);
  const storage::RunId elsewhere = add_run("beta", 2, 49, 7.0);  // its root is not watched
  EXPECT_NE(get_detail(path(elsewhere), {}, 404).find("not watched"), std::string::npos);
  std::filesystem::remove(tree_ / "log.out");
  EXPECT_NE(get_detail(path(run_), {}, 404).find("gone"), std::string::npos);
}

TEST_F(RunLog, FollowsNoLinkOutOfTheTree) {
  std::ofstream(folder_ / "secret.txt") << "secret\n";
  std::filesystem::remove(tree_ / "log.out");
  std::filesystem::create_symlink(folder_ / "secret.txt", tree_ / "log.out");
  const std::string detail = get_detail(path(run_), {}, 404);
  EXPECT_EQ(detail.find("secret"), std::string::npos) << detail;
}

TEST_F(RunLog, IsNotWaitedForWhereItsFileSystemHangs) {
  storage::IngestBatch batch = sample_batch(watch(folder_ / "other"), "beta", 2, 49, 7.0);
  batch.relative_path = "log.out";
  batch.cursor = {};
  const storage::RunId elsewhere = writer_->commit({&batch, 1}).at(0);
  std::ofstream(folder_ / "other" / "log.out") << "answers\n";
  ingest::HangingFileSystem hanging(tree_.string(), ingest::HangingFileSystem::Calls::reads);
  std::vector<std::future<http::Response>> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(std::async(std::launch::async, [this] { return get(path(run_)); }));
  }
  for (auto& answer : waiting) {
    const http::Response response = answer.get();
    EXPECT_EQ(response.status, 503);
    EXPECT_NE(response.body->find("has not answered"), std::string::npos) << *response.body;
  }
  // Four threads hang: there is no fifth. Another tree does not hear of it.
  const std::string detail = get_detail(path(run_), {}, 503);
  EXPECT_NE(detail.find("has not been answered"), std::string::npos) << detail;
  EXPECT_EQ(ingest::HangingFileSystem::calls_that_hang(), 4);
  EXPECT_EQ(get_json(path(elsewhere))["lines"][0]["text"], "answers");
  hanging.answer_again();
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  while (get(path(run_)).status != 200 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(get_json(path(run_))["lines"].size(), 3U);
}

TEST_F(RunLog, RefusesALogThatHoldsOtherBytesThanWereRead) {
  storage::IngestBatch batch = sample_batch(tree_root_, "alpha", 1, 49, 7.0);
  batch.relative_path = "log.out";
  batch.cursor.offset = 34;
  batch.cursor.head_length = 34;
  batch.cursor.head_hash = 1;
  writer_->commit({&batch, 1});
  EXPECT_NE(get_detail(path(run_), {}, 409).find("read anew"), std::string::npos);
  batch.generation = 1;
  writer_->commit({&batch, 1});
  EXPECT_NE(get_detail(path(run_), {}, 410).find("rewritten"), std::string::npos);
}

}  // namespace
}  // namespace llmb::api
