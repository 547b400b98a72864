// An agent's database and a server's: two real databases, and the handlers between them.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "server/dispatch/wall_clock.h"
#include "server/http/bearer_token.h"
#include "server/http/compression.h"
#include "server/push/log_text_request.h"
#include "server/push/packed_telling.h"
#include "server/push/push_request.h"
#include "storage/push_store.h"
#include "tests/server/api/sample_database.h"

namespace llmb::api {

// A login node: its own database, and what it sends.
class Spool {
 public:
  explicit Spool(const std::string& path)
      : writer_(std::make_unique<storage::Writer>(storage::OpenOptions{path, true})),
        root_(writer_->upsert_root("/lustre/w", "eos")),
        path_(path),
        store(path) {}

  storage::RunId commit(const storage::IngestBatch& batch) {
    return writer_->commit({&batch, 1}).front();
  }
  storage::IngestBatch batch(const std::string& experiment, std::int64_t last_iteration) const {
    auto made = sample_batch(root_, experiment, 7, last_iteration, 2.0);
    made.size_bytes = made.facts.bytes_read = static_cast<std::uint64_t>(last_iteration + 1) * 100;
    made.cursor.head_hash = std::hash<std::string>()(experiment);
    made.cursor.head_length = 1024;
    made.summary.energy_j_per_gpu_mean = 1234.5;
    for (auto& step : made.samples) {
      step.byte_offset = static_cast<std::uint64_t>(step.iteration) * 100;
    }
    return made;
  }

  std::unique_ptr<storage::Writer> writer_;
  storage::RootId root_;
  std::string path_;
  storage::PushStore store;
};

class Push : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    tokens_ = std::make_unique<storage::JobStore>(storage_options_);
    start_server();
    authorization_ = token_for("eos");
  }
  void TearDown() override {
    api_.reset();
    tokens_.reset();
    ApiTest::TearDown();
  }
  void start_server() {
    restart_api([this](ApiOptions& options) {
      options.tokens = tokens_.get();
      options.write = [this](const std::function<void(storage::Writer&)>& task) {
        if (writer_is_busy_) return false;
        if (writer_has_gone_) return true;  // before its turn came
        task(*writer_);
        return true;
      };
    });
  }

  std::string token_for(const std::string& cluster, const std::string& formerly = "") {
    const std::string token = http::new_token();
    storage::TokenRecord record;
    record.name = "agent-" + std::to_string(++token_count_);
    record.sha256 = http::token_sha256(token);
    record.scopes = {"ingest"};
    record.cluster = cluster;
    record.former_cluster = formerly;
    record.created_at = "2025-01-01T00:00:00Z";
    record.expires_at = "2999-01-01T00:00:00Z";
    tokens_->insert_token(record);
    return "Bearer " + token;
  }

  http::Request request_of(const std::string& store_id,
                           const std::vector<storage::LogTelling>& logs) const {
    std::vector<std::string> packed;
    for (const auto& log : logs) packed.push_back(push::packed_log(log));
    http::Request request;
    request.method = "POST";
    request.path = request.target = "/api/v1/push";
    request.headers = {{"authorization", authorization_}, {"content-type", push::kContentType}};
    request.body = push::packed_request(
        {cluster_, store_id, "login1", "1.2.3", static_cast<std::int64_t>(logs.size()), "",
         parser::instant_text(dispatch::wall_now() + clock_ahead_)},
        packed);
    return request;
  }
  http::Response post(Spool& spool, const std::vector<storage::LogTelling>& logs) {
    http::Request request = request_of(spool.store.store_id(), logs);
    request.headers.emplace_back("content-encoding", "zstd");
    request.body = http::compress(request.body, http::Encoding::zstd, http::Effort::once);
    return answer(request);
  }

  http::Request text_request_of(const std::string& store_id,
                                const std::vector<storage::LogBlockTelling>& blocks) const {
    http::Request request;
    request.method = "POST";
    request.path = request.target = "/api/v1/push/text";
    request.headers = {{"authorization", authorization_}, {"content-type", push::kTextContentType}};
    request.body = push::packed_text_request({cluster_, store_id}, blocks);
    return request;
  }
  // Where the text of each block's log ends.
  Json post_text(const std::string& store_id, const std::vector<storage::LogBlockTelling>& blocks) {
    http::Request request = text_request_of(store_id, blocks);
    const http::Response response = answer(request);
    EXPECT_EQ(response.status, 200) << *response.body;
    return Json::parse(*response.body)["text_bytes"];
  }

  // One request of all that is pending, whose answers are kept unless `loses_answer`.
  std::vector<std::string> push_all(Spool& spool, std::int64_t steps_max = 1'000,
                                    bool loses_answer = false) {
    std::vector<storage::LogTelling> logs;
    for (const storage::RunId run : spool.store.pending(0, 100)) {
      logs.push_back(*spool.store.tell(run, steps_max));
    }
    if (logs.empty()) return {};
    const http::Response response = post(spool, logs);
    EXPECT_EQ(response.status, 200) << *response.body;
    if (response.status != 200) return {"refused"};
    if (loses_answer) return {};
    const Json json = Json::parse(*response.body);
    std::vector<std::string> verdicts;
    std::vector<storage::PushStore::Answer> answers;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const Json& result = json["results"][i];
      verdicts.push_back(result["verdict"]);
      storage::PushStore::Answer kept{logs[i].run.id, logs[i].run.revision, logs[i].end(), {}};
      kept.result.verdict = *push::push_verdict_from_name(verdicts.back());
      kept.result.revision = result["revision"];
      kept.result.step_count = result["step_count"];
      answers.push_back(kept);
    }
    spool.store.keep_answers(answers);
    return verdicts;
  }
  // A log that is written anew again and again, each time with another head; all is pushed.
  void push_rewritten(Spool& spool, int generations) {
    for (int generation = 0; generation < generations; ++generation) {
      auto batch = spool.batch("alpha", 40 + generation);
      batch.generation = generation;
      batch.cursor.head_hash = static_cast<std::uint64_t>(100 + generation);
      spool.commit(batch);
      push_all(spool);
    }
  }
  // What is here was told long ago, as far as the server knows.
  void fall_silent() {
    execute_sql("UPDATE pushed_run SET told_at = '2020-01-01T00:00:00.000000Z'");
  }
  void compare(Spool& spool) {
    const auto held =
        storage::Reader(database_path_).held_logs(spool.store.store_id(), cluster_, 0, 1'000);
    spool.store.begin_comparison();
    spool.store.compare(held);
    spool.store.end_comparison();
  }

  // Everything but ids, roots and revisions, which each database counts by itself.
  void expect_same_runs(const std::string& agent_path) {
    storage::Reader server(database_path_);
    storage::Reader agent(agent_path);
    storage::RunQuery all;
    all.filter.include_superseded = true;
    all.limit = 500;
    const auto told = agent.runs(all).runs;
    ASSERT_EQ(server.runs(all).runs.size(), told.size()) << "a run was lost or doubled";
    for (const auto& listed : told) {
      SCOPED_TRACE(listed.relative_path);
      storage::RunRecord run = *agent.run(listed.id);
      const auto runs = server.runs(all).runs;
      const auto found = std::find_if(runs.begin(), runs.end(), [&](const auto& one) {
        return one.relative_path == run.relative_path && one.generation == run.generation;
      });
      ASSERT_NE(found, runs.end());
      const storage::RunRecord copy = *server.run(found->id);
      EXPECT_EQ(copy.cluster, cluster_);
      EXPECT_EQ(copy.is_superseded, run.is_superseded);
      EXPECT_EQ(copy.first_seen_at, run.first_seen_at);
      EXPECT_EQ(copy.grown_at, run.grown_at);
      EXPECT_EQ(copy.vanished_at, run.vanished_at);
      EXPECT_EQ(copy.size_bytes, run.size_bytes);
      EXPECT_EQ(copy.path, run.path);
      EXPECT_EQ(copy.configuration, run.configuration);
      EXPECT_EQ(copy.facts, run.facts);
      EXPECT_EQ(copy.summary, run.summary);
      EXPECT_EQ(copy.window_source, run.window_source);
      EXPECT_EQ(copy.logged_global_batch_size, run.logged_global_batch_size);
      EXPECT_EQ(copy.profiles, run.profiles);
      EXPECT_EQ(copy.is_profiled, run.is_profiled);
      EXPECT_EQ(copy.step_count, run.step_count);
      EXPECT_EQ(server.steps(copy.id), agent.steps(run.id));
    }
  }

  std::string agent_path(const std::string& name = "agent") const {
    return (folder_ / (name + ".db")).string();
  }

  std::unique_ptr<storage::JobStore> tokens_;
  std::string authorization_;
  std::string cluster_ = "eos";
  std::chrono::hours clock_ahead_{0};  // of the agents
  bool writer_is_busy_ = false;
  bool writer_has_gone_ = false;
  int token_count_ = 0;
};

}  // namespace llmb::api
