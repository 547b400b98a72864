// A pushed run is at the server what it is where its log was read: every stored value, found by the
// schema, and every answer of the API, found by its description. Whoever stores a new field and
// does not tell it fails here, and so does who does not fill it in these runs.
#include <gmock/gmock.h>

#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>

#include "parser/catalog/catalog.h"
#include "parser/layout/experiment_name.h"
#include "parser/step_fields.h"
#include "server/ingest/ingest.h"
#include "server/ingest/listed_result.h"
#include "server/push/push_request.h"
#include "storage/push_store.h"
#include "tests/server/api/sample_database.h"
#include "tests/storage/stored_values.h"

namespace llmb::api {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

// A step with all that a step can have.
parser::StepSample fullest_step(parser::StepSample step) {
  parser::for_each_step_field([&](const auto& field) {
    auto& value = step.*field.member;
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::optional<double>>) {
      if (!value) value = 0.125;
    }
  });
  step.segment = 1;
  step.byte_offset = 77;
  step.skipped_iterations = 2;
  step.nan_iterations = 1;
  step.epoch = 3;
  return step;
}

class PushedRun : public ApiTest {
 protected:
  // A run with every kind of evidence, everything filled.
  void add_fullest_run() {
    storage::Writer writer({agent_path_, true});
    const storage::RootId root = writer.upsert_root("/lustre/w", "eos");
    auto batch = sample_batch(root, "pretrain_nemotron4_15b_bf16_64", 7, 49, 2.693);
    batch.path.retry = 2;
    batch.configuration = parser::parse_experiment_name(batch.path.experiment);
    for (const auto& [key, value] : {std::pair("gpu_type", "h100"), std::pair("release", "25.07"),
                                     std::pair("cluster", "eos")}) {
      batch.configuration.set(key, value, parser::ConfigSource::llmb_config);
    }
    batch.configuration.set("cluster", "selene", parser::ConfigSource::log_content);
    *batch.samples[20].step_time_s += 0.5;
    train_with_batch(batch, 256);
    batch.samples[20].extra_fields.emplace_back("eval_loss", 1.5);
    parser::StepSample torn = fullest_step(batch.samples.back());
    torn.loss = std::numeric_limits<double>::quiet_NaN();
    batch.samples.push_back(torn);
    auto& facts = batch.facts;
    facts.segments.push_back({49, 49, 1, 1, 49, 8'000, 1});
    facts.reported_tflops_per_gpu = 1'678.5;
    facts.events = {
        {parser::LogEvent::Kind::failure, "nccl_timeout", "a \xff line", 9'000, 3, 5, "ALLREDUCE"},
        {parser::LogEvent::Kind::finish_marker, "", "done", 9'500, 4}};
    facts.lines_too_long = 3;
    facts.lines_not_understood = 4;
    facts.ranks.measures.front().is_of_other_ranks = true;
    facts.checkpoints.front().rank = 6;
    facts.checkpoints.push_back({parser::CheckpointEvent::Kind::load, {}, {}, {}, 4'000});
    batch.profiles->front().name = {7, 1, 3, 12'345};
    auto& summary = batch.summary;
    summary = parser::summarize_run(batch.samples, facts, summary.window, false);
    summary.failure_cause = "nccl_timeout";
    summary.silent_s = 151.5;
    summary.segment = 1;
    summary.iterations_missing_in_window = 5;
    summary.window_interruptions = "a checkpoint";
    summary.printed_tokens_per_s_per_gpu = 1'234.5;
    summary.energy_j_per_gpu_mean = 1'500.25;
    batch.cursor.head_hash = 0xfedcba9876543210U;
    batch.cursor.head_length = 1'024;
    batch.reading = 1;
    const auto commit = [&] {
      const storage::RunId run = writer.commit({&batch, 1}).front();
      const auto stored = *storage::Reader(agent_path_).run(run);
      writer.update_configuration(run, batch.configuration,
                                  ingest::listed_result(catalog_, stored));
    };
    for (batch.generation = 0; batch.generation < 2; ++batch.generation) {  // one is superseded
      commit();
      facts.reported_tflops_per_gpu = std::numeric_limits<double>::quiet_NaN();
      summary.is_function_check = true;
    }
    writer.mark_vanished(root, batch.relative_path, "2026-01-02T03:04:05Z");
    batch.relative_path += "-settled.out";
    batch.generation = 0;
    batch.is_settled = true;
    commit();
  }

  // What the tests' own logs and the sample tree hold, read as ingest reads it.
  void read_real_logs() const {
    const fs::path tree = folder_ / "tree";
    fs::create_directories(tree);
    fs::copy(LLMB_SOURCE_DIR "/deploy/sample-tree", tree / "sample", fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(LLMB_SOURCE_DIR "/tests/logs")) {
      if (entry.path().extension() != ".log") continue;
      const fs::path name = entry.path().parent_path().filename();
      fs::create_directories(tree / name);
      fs::copy_file(entry.path(), tree / name / (entry.path().stem().string() + ".out"));
    }
    ingest::IngestOptions options;
    options.database = {agent_path_, true};
    options.roots = {{tree.string(), "eos"}};
    ingest::Ingest(std::move(options), {}).run_once([](const auto&) {});
  }

  // All of the agent's database, in pieces of a few steps, by way of the bytes that travel.
  void push_everything() {
    storage::PushStore store(agent_path_);
    const storage::PushSender sender{store.store_id(), "eos", parser::Instant()};
    while (store.pending_count() > 0) {
      storage::RunId after = 0;
      for (auto runs = store.pending(after, 100); !runs.empty(); runs = store.pending(after, 100)) {
        for (after = runs.back(); const storage::RunId run : runs) push(store, sender, run);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
  void push(storage::PushStore& store, const storage::PushSender& sender, storage::RunId run) {
    const storage::LogTelling told = *store.tell(run, 200);
    const std::string body =
        push::packed_request({"eos", sender.store_id}, {push::packed_log(told)});
    storage::LogTelling read = push::unpack_request(body, 1).logs.front();
    read.run.listed = ingest::listed_result(catalog_, read.run);
    const auto results = writer_->commit_pushed(sender, {read});
    ASSERT_EQ(results.front().verdict, storage::PushVerdict::taken) << told.run.relative_path;
    const storage::PushStore::Answer answer{run, told.run.revision, told.end(), results.front()};
    store.keep_answers({&answer, 1});
  }

  // The answers of all resources of a run, by what the API says of itself.
  std::map<std::string, std::string> answers_of(const std::string& database, storage::RunId run) {
    restart_api([&](ApiOptions& options) { options.database_path = database; });
    std::map<std::string, std::string> answers;
    const Json description = get_json("/api/v1/openapi.json");
    const std::string prefix = "/api/v1/runs/{id}";
    for (const auto& [path, methods] : description["paths"].items()) {
      const bool is_of_log = path.find("/log") != std::string::npos;  // that stays where it is
      if (!path.starts_with(prefix) || is_of_log) continue;
      const http::Response response =
          get("/api/v1/runs/" + std::to_string(run) + path.substr(prefix.size()));
      EXPECT_EQ(response.status, 200) << path;
      std::string body = *response.body;
      if (Json json = Json::parse(body, nullptr, false); json.is_object()) {
        for (const char* name : {"id", "run_id", "root_id", "revision"}) json.erase(name);
        body = json.dump(1);
      }
      answers[path] = body;
    }
    return answers;
  }
  void expect_same_answers() {
    storage::RunQuery all;
    all.filter.include_superseded = true;
    all.limit = 500;
    for (const auto& run : storage::Reader(agent_path_).runs(all).runs) {
      SCOPED_TRACE(run.relative_path);
      std::optional<storage::RunId> pushed;
      for (const auto& other : storage::Reader(database_path_).runs(all).runs) {
        const bool is_it =
            other.relative_path == run.relative_path && other.generation == run.generation;
        if (is_it) pushed = other.id;
      }
      ASSERT_TRUE(pushed);
      const auto answers = answers_of(agent_path_, run.id);
      EXPECT_GE(answers.size(), 11U);
      EXPECT_EQ(answers_of(database_path_, *pushed), answers);
    }
  }

  const parser::Catalog& catalog_ = parser::embedded_catalog();
  const std::string agent_path_ = (folder_ / "agent.db").string();
};

TEST_F(PushedRun, HasEveryValueAndGivesEveryAnswer) {
  add_fullest_run();
  push_everything();
  storage::expect_same_values(database_path_, agent_path_);
  EXPECT_THAT(storage::read_stored_values(agent_path_).empty_columns, IsEmpty())
      << "fill them here: what is empty on both sides shows nothing";
  expect_same_answers();
}

TEST_F(PushedRun, OfEveryDialectHasEveryValue) {
  read_real_logs();
  EXPECT_GT(storage::Reader(agent_path_).totals().runs, 150);
  push_everything();
  storage::expect_same_values(database_path_, agent_path_);
}

}  // namespace
}  // namespace llmb::api
