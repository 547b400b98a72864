// Runs and steps as CSV and NDJSON.
#include <algorithm>
#include <limits>
#include <sstream>

#include "server/http/compression.h"
#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

using Exports = ApiTest;

std::vector<std::string> lines_of(const http::Response& response) {
  std::vector<std::string> lines;
  std::istringstream text(*response.body);
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

TEST_F(Exports, HoldEveryRunOfAFilterInItsOrder) {
  fill();
  const http::Response csv = get("/api/v1/runs.csv", {{"sort", "id"}});
  EXPECT_EQ(csv.status, 200);
  EXPECT_EQ(csv.content_type, "text/csv; charset=utf-8");
  const auto lines = lines_of(csv);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_TRUE(lines[0].starts_with("id,root_id,root,relative_path,")) << lines[0];
  EXPECT_NE(lines[0].find(",speed_against_reference,marks"), std::string::npos);
  EXPECT_TRUE(lines[1].starts_with("1,1,/data/w,")) << lines[1];
  const auto cells = std::count(lines[0].begin(), lines[0].end(), ',');
  EXPECT_EQ(static_cast<std::size_t>(cells) + 1, get_json("/api/v1/runs")["runs"][0].size());
  const http::Response ndjson = get("/api/v1/runs.ndjson", {{"sort", "id"}, {"status", "failed"}});
  EXPECT_EQ(ndjson.content_type, "application/x-ndjson");
  const Json list = get_json("/api/v1/runs", {{"sort", "id"}, {"status", "failed"}});
  const auto objects = lines_of(ndjson);
  ASSERT_EQ(objects.size(), list["runs"].size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    EXPECT_EQ(Json::parse(objects[i]), list["runs"][i]);
  }
}

TEST_F(Exports, HaveRoomKeptForThemBeforeTheyAreMade) {
  fill();
  for (const char* path : {"/api/v1/runs.csv", "/api/v1/runs.ndjson", "/api/v1/runs/1/steps.csv",
                           "/api/v1/runs/1/steps.ndjson"}) {
    const http::Response response = get(path);
    const auto packed =
        http::compress(*response.body, http::Encoding::zstd, http::Effort::kept).size();
    EXPECT_GE(response.making_bytes_max, packed) << path;
  }
  EXPECT_EQ(get("/api/v1/runs.ndjson", {{"experiment", "none of them"}}).making_bytes_max, 0U);
}

// More than its answer can hold would be refused for want of room, and not for its steps.
TEST_F(Exports, AndStepsHaveNoMoreRoomKeptThanTheyMayTake) {
  fill();
  const std::vector<std::string> paths = {"/api/v1/runs/1/steps", "/api/v1/runs/1/steps.csv"};
  execute_sql("UPDATE run SET step_count = 1000000 WHERE id = 1");
  std::vector<std::size_t> most;
  for (const std::string& path : paths) most.push_back(get(path).making_bytes_max);
  execute_sql("UPDATE run SET step_count = 30000000, revision = revision + 1 WHERE id = 1");
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(get(paths[i]).making_bytes_max, most[i]) << paths[i];
  }
}

TEST_F(Exports, HaveTheirHeaderWhereNoLineFollows) {
  fill();
  const auto runs = lines_of(get("/api/v1/runs.csv", {{"experiment", "none of them"}}));
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0], lines_of(get("/api/v1/runs.csv"))[0]);
  const auto steps = lines_of(get("/api/v1/runs/1/steps.csv", {{"window", "900-901"}}));
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0], lines_of(get("/api/v1/runs/1/steps.csv"))[0]);
  EXPECT_TRUE(get("/api/v1/runs.ndjson", {{"experiment", "none of them"}}).body->empty());
}

TEST_F(Exports, NeutraliseFormulasAndForeignBytes) {
  auto batch = sample_batch(root_, "=HYPERLINK(\"x\")", 1, 49, 7.0);
  batch.path.account = "@a\xff\nb";
  batch.facts.checkpoint_count = 0;
  writer_->commit({&batch, 1});
  const auto lines = lines_of(get("/api/v1/runs.csv"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[1].find(",\"'=HYPERLINK(\"\"x\"\")\","), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find(",'@a\\xff\\x0ab,"), std::string::npos) << lines[1];
}

TEST_F(Exports, HoldTheStepsOfAWindow) {
  const auto id = std::to_string(add_run("alpha", 1, 49, 7.5));
  const auto csv = lines_of(get("/api/v1/runs/" + id + "/steps.csv", {{"window", "11-12"}}));
  ASSERT_EQ(csv.size(), 3U);
  EXPECT_TRUE(csv[0].starts_with("segment,iteration,step_time_s,tflops_per_gpu,loss,")) << csv[0];
  EXPECT_TRUE(csv[1].starts_with("0,11,7.5,411,2.5,")) << csv[1];
  const auto steps = lines_of(get("/api/v1/runs/" + id + "/steps.ndjson"));
  ASSERT_EQ(steps.size(), 50U);
  const Json step = Json::parse(steps[7]);
  EXPECT_EQ(step["iteration"], 7);
  EXPECT_EQ(step["extra_fields"]["val_loss"], 2.25);
  EXPECT_NE(get_detail("/api/v1/runs/999/steps.csv", {}, 404).find("999"), std::string::npos);
}

TEST_F(Exports, NameTheInterruptionsOfSteps) {
  auto batch = sample_batch(root_, "alpha", 1, 5, 7.5);
  batch.samples[4].extra_fields = {{"after_checkpoint", 1.0}, {"is_profiled", 1.0}};
  const auto id = std::to_string(writer_->commit({&batch, 1}).at(0));
  const auto csv = lines_of(get("/api/v1/runs/" + id + "/steps.csv", {{"window", "4-5"}}));
  ASSERT_EQ(csv.size(), 3U);
  EXPECT_TRUE(csv[0].ends_with(",byte_offset,interruptions")) << csv[0];
  EXPECT_TRUE(csv[1].ends_with(",\"checkpoint,profile\"")) << csv[1];
  EXPECT_TRUE(csv[2].ends_with(",")) << csv[2];
  const auto steps = lines_of(get("/api/v1/runs/" + id + "/steps.ndjson", {{"window", "4-5"}}));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(Json::parse(steps[0])["interruptions"], "checkpoint,profile");
  EXPECT_FALSE(Json::parse(steps[0]).contains("extra_fields")) << steps[0];
  EXPECT_FALSE(Json::parse(steps[1]).contains("interruptions")) << steps[1];
}

TEST_F(Exports, HoldTheStepsOfASegment) {
  auto batch = sample_batch(root_, "alpha", 1, 5, 7.5);
  for (std::size_t i = 3; i < batch.samples.size(); ++i) batch.samples[i].segment = 1;
  auto second = batch.facts.segments.front();
  second.segment = 1;
  batch.facts.segments.push_back(second);
  batch.summary.segment_count = 2;
  const auto id = std::to_string(writer_->commit({&batch, 1}).at(0));
  const std::string run = "/api/v1/runs/" + id;
  EXPECT_EQ(lines_of(get(run + "/steps.ndjson", {{"segment", "0"}})).size(), 3U);
  EXPECT_EQ(lines_of(get(run + "/steps.csv", {{"segment", "1"}})).size(), 1U + 3U);
  for (const char* const path : {"/steps", "/steps.csv", "/steps.ndjson", "/insight"}) {
    EXPECT_EQ(get_detail(run + path, {{"segment", "2"}}, 404),
              "Run " + id + " has no segment 2: its last one is 1.");
  }
}

TEST_F(Exports, TellNaNAndInfinityFromWhatWasNotPrinted) {
  auto batch = sample_batch(root_, "diverged", 1, 2, 7.5);
  ASSERT_EQ(batch.samples.size(), 3U);
  batch.samples[0].loss = -std::numeric_limits<double>::quiet_NaN();
  batch.samples[1].loss = std::numeric_limits<double>::infinity();
  batch.samples[2].loss.reset();
  batch.samples[2].logged_at.clear();
  const auto id = std::to_string(writer_->commit({&batch, 1}).at(0));
  const auto csv = lines_of(get("/api/v1/runs/" + id + "/steps.csv"));
  ASSERT_EQ(csv.size(), 4U);
  EXPECT_TRUE(csv[1].starts_with("0,0,7.5,400,nan,")) << csv[1];
  EXPECT_TRUE(csv[2].starts_with("0,1,7.5,401,inf,")) << csv[2];
  EXPECT_TRUE(csv[3].starts_with("0,2,7.5,402,,")) << csv[3];
  const auto lines = lines_of(get("/api/v1/runs/" + id + "/steps.ndjson"));
  ASSERT_EQ(lines.size(), 3U);
  for (const std::size_t i : {0U, 1U}) {
    const Json step = Json::parse(lines[i]);
    ASSERT_TRUE(step.contains("loss")) << lines[i];
    EXPECT_TRUE(step["loss"].is_null()) << lines[i];
  }
  EXPECT_TRUE(Json::parse(lines[0]).contains("logged_at")) << lines[0];
  EXPECT_FALSE(Json::parse(lines[2]).contains("loss")) << lines[2];
  EXPECT_FALSE(Json::parse(lines[2]).contains("logged_at")) << lines[2];
}

}  // namespace
}  // namespace llmb::api
