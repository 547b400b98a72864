// Both engines give the same answers, byte for byte: the same changes are made to an SQLite file
// and to a PostgreSQL database, and every resource of the API is asked of both.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "parser/foundation/text.h"
#include "server/ingest/ingest.h"
#include "tests/server/api/sample_database.h"
#include "tests/storage/copied_databases.h"

namespace llmb::api {
namespace {

namespace fs = std::filesystem;

// What tells of the moment or of the process, or asks for what is not there: a cluster's jobs, a
// stream, the log's own file.
const std::set<std::string> kNotAsked = {"/api/v1/events", "/api/v1/status",
                                         "/api/v1/runs/{id}/log", "/api/v1/runs/{id}/log/matches"};

// Runs as ingest makes them of real logs, with their steps, ready to be written anew.
std::vector<storage::IngestBatch> batches_of_real_logs(const fs::path& folder) {
  const fs::path tree = folder / "tree";
  fs::create_directories(tree);
  fs::copy(LLMB_SOURCE_DIR "/deploy/sample-tree", tree / "sample", fs::copy_options::recursive);
  const std::string database = (folder / "read.db").string();
  ingest::IngestOptions options;
  options.database = {database, true};
  options.roots = {{tree.string(), "eos"}};
  ingest::Ingest(std::move(options), {}).run_once([](const auto&) {});

  storage::Reader reader(database);
  storage::RunQuery all;
  all.limit = 500;
  std::vector<storage::IngestBatch> batches;
  for (const storage::RunRecord& listed : reader.runs(all).runs) {
    const storage::RunRecord run = *reader.run(listed.id);
    storage::IngestBatch batch;
    batch.relative_path = run.relative_path;
    batch.observed_at = "2026-05-06T07:08:09.000000Z";
    batch.size_bytes = run.size_bytes;
    batch.cursor = *reader.cursor(run.id);
    batch.path = run.path;
    batch.configuration = run.configuration;
    batch.facts = run.facts;
    batch.summary = run.summary;
    batch.window_source = run.window_source;
    batch.logged_global_batch_size = run.logged_global_batch_size;
    batch.listed = run.listed;
    batch.samples = reader.steps(run.id);
    batch.profiles = run.profiles;
    batches.push_back(std::move(batch));
  }
  return batches;
}

class Engines : public ApiTest {
 protected:
  void SetUp() override {
    if (std::getenv("LLMB_TEST_POSTGRESQL") == nullptr) {
      GTEST_SKIP() << "needs a PostgreSQL server, which tests/postgresql/with_server.sh gives it";
    }
    ApiTest::SetUp();
    other_ = std::make_unique<storage::Writer>(storage::OpenOptions{file_, true});
    on_both([](storage::Writer& writer) {
      writer.upsert_root("/data/w", "");
      writer.upsert_root("/data/second", "eos");
    });
  }

  template <typename Change>
  void on_both(const Change& change) {
    change(*writer_);
    change(*other_);
  }

  std::vector<std::string> ask_all(const std::vector<std::pair<std::string, Pairs>>& questions,
                                   const std::string& database) {
    restart_api([&](ApiOptions& options) { options.database_path = database; });
    std::vector<std::string> bodies;
    for (const auto& [path, query] : questions) {
      const http::Response response = get(path, query);
      bodies.push_back(std::to_string(response.status) + " " + *response.body);
    }
    return bodies;
  }

  void expect_same(const std::vector<std::pair<std::string, Pairs>>& questions) {
    expect_same(questions, file_, database_path_);
  }
  void expect_same(const std::vector<std::pair<std::string, Pairs>>& questions,
                   const std::string& file, const std::string& server) {
    const auto of_file = ask_all(questions, file);
    const auto of_server = ask_all(questions, server);
    for (std::size_t i = 0; i < questions.size(); ++i) {
      std::string question = questions[i].first;
      for (const auto& [name, value] : questions[i].second) question += "&" + name + "=" + value;
      ASSERT_EQ(of_server[i], of_file[i]) << question;
    }
  }

  // Every resource that is described, of every run where it is of one.
  std::vector<std::pair<std::string, Pairs>> all_resources(storage::RunId runs) {
    std::vector<std::pair<std::string, Pairs>> questions;
    const Json description = get_json("/api/v1/openapi.json");
    for (const auto& [path, methods] : description["paths"].items()) {
      if (!methods.contains("get") || !path.starts_with("/api/v1/")) continue;
      if (kNotAsked.contains(path) || path.starts_with("/api/v1/jobs/")) continue;
      const std::size_t id = path.find("{id}");
      if (id == std::string::npos) questions.emplace_back(path, Pairs{});
      for (storage::RunId run = 1; id != std::string::npos && run <= runs; ++run) {
        questions.emplace_back(std::string(path).replace(id, 4, std::to_string(run)), Pairs{});
      }
    }
    return questions;
  }

  // As the description says them: "^-?(id|launched_at|…)$".
  std::vector<std::string_view> sort_keys() {
    const Json description = get_json("/api/v1/openapi.json");
    pattern_ = description["components"]["parameters"]["run_sort"]["schema"]["pattern"];
    const std::size_t begin = pattern_.find('(') + 1;
    const std::string_view keys(pattern_);
    return parser::split(keys.substr(begin, pattern_.find(')') - begin), '|');
  }

  // Pages in every order, with filters that few, many and all runs have.
  std::vector<std::pair<std::string, Pairs>> all_lists() {
    std::vector<std::pair<std::string, Pairs>> questions;
    const std::vector<Pairs> filters = {{},
                                        {{"status", "complete"}},
                                        {{"status", "failed"}, {"status", "running"}},
                                        {{"workload", "pretrain_grok1"}},
                                        {{"q", "NEMOTRON"}},
                                        {{"q", "%_\\"}},
                                        {{"gpu_count", "64"}, {"dtype", "bf16"}, {"dtype", "fp8"}},
                                        {{"include_superseded", "true"}}};
    for (const std::string_view sort : sort_keys()) {
      for (const char* const direction : {"", "-"}) {
        for (Pairs query : filters) {
          query.emplace_back("sort", std::string(direction).append(sort));
          query.emplace_back("limit", "7");
          questions.emplace_back("/api/v1/runs", query);
        }
      }
    }
    for (const Pairs& filter : filters) {
      questions.emplace_back("/api/v1/experiments", filter);
      questions.emplace_back("/api/v1/failures", filter);
    }
    questions.emplace_back("/api/v1/choices", Pairs{});
    return questions;
  }

  const std::string file_ = (folder_ / "file.db").string();
  std::unique_ptr<storage::Writer> other_;
  std::string pattern_;
};

TEST_F(Engines, GiveTheSameAnswersOfRealLogs) {
  std::vector<storage::IngestBatch> batches = batches_of_real_logs(folder_);
  ASSERT_GT(batches.size(), 20U);
  on_both([&](storage::Writer& writer) {
    for (storage::IngestBatch& batch : batches) {
      batch.root_id = 1 + static_cast<storage::RootId>(batch.relative_path.size() % 2);
      writer.commit({&batch, 1});
    }
  });
  const auto runs = static_cast<storage::RunId>(batches.size());
  auto questions = all_resources(runs);
  EXPECT_GT(questions.size(), batches.size() * 10);
  for (auto& question : all_lists()) questions.push_back(std::move(question));
  for (const char* pair : {"1,2", "3,4,5", "2,7"}) {
    questions.emplace_back("/api/v1/compare", Pairs{{"runs", pair}});
  }
  expect_same(questions);
}

TEST_F(Engines, GiveTheSameAnswersOfACopyAndOfACopyOfThat) {
  std::vector<storage::IngestBatch> batches = batches_of_real_logs(folder_);
  for (storage::IngestBatch& batch : batches) batch.root_id = 1;
  other_->commit(batches);
  other_->park(
      {2, "odd \xff", "cannot be read", "2026-05-06T07:08:09Z", "2026-05-06T08:08:09Z", 3});
  const storage::NewPlace server(storage::Engine::postgresql);
  const storage::NewPlace back(storage::Engine::sqlite);
  storage::copy_all(file_, server.options());
  storage::copy_all(server.path(), back.options());
  auto questions = all_resources(static_cast<storage::RunId>(batches.size()));
  for (auto& question : all_lists()) questions.push_back(std::move(question));
  questions.emplace_back("/api/v1/compare", Pairs{{"runs", "3,4,5"}});
  expect_same(questions, file_, server.path());
  expect_same(questions, file_, back.path());
}

// Logs grow, are rewritten, cut, lost and found, in an order that a seed gives.
TEST_F(Engines, StayTheSameThroughAnyChanges) {
  std::mt19937 random(20'261'123);
  const auto draw = [&](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  constexpr int kLogs = 12;
  for (int i = 0; i < 300; ++i) {
    const int log = draw(kLogs);
    const std::string path = "exp" + std::to_string(log % 5) + "/l\xff" + std::to_string(log);
    const std::string at = "2026-05-06T07:00:" + std::to_string(10 + i % 50) + "Z";
    auto batch = sample_batch(1, "pretrain_grok1_fp8_" + std::to_string(64 << draw(3)), log,
                              draw(50), 1.0 + draw(100) * 0.01);
    batch.relative_path = path;
    batch.observed_at = at;
    batch.generation = draw(3);
    batch.replaces_all_samples = draw(4) == 0;
    if (draw(4) == 0) batch.drops_steps_from = static_cast<std::uint64_t>(draw(5'000));
    const std::string odd("nul \0 one \x01 torn \xc3", 17);
    batch.summary.status_reason = draw(3) == 0 ? odd : "as it is";
    const int change = draw(8);
    on_both([&](storage::Writer& writer) {
      switch (change) {
        case 0:
          return writer.mark_vanished(1, path, at);
        case 1:
          return writer.mark_returned(1, path);
        case 2:
          return writer.park({1, path, odd, at, at, i});
        case 3:
          return writer.unpark(1, path);
        case 4:
          return writer.record_scan(1, at, 0.1 * i, i, i % 2 == 0 ? odd : "");
        default:
          writer.commit({&batch, 1});
      }
    });
  }
  storage::RunQuery all;
  all.filter.include_superseded = true;
  all.limit = 500;
  const auto runs = storage::Reader(file_).runs(all).runs;
  EXPECT_GT(runs.size(), 20U);
  storage::RunId last = 0;
  for (const auto& run : runs) last = std::max(last, run.id);
  auto questions = all_resources(last);
  for (auto& question : all_lists()) questions.push_back(std::move(question));
  expect_same(questions);
}

}  // namespace
}  // namespace llmb::api
