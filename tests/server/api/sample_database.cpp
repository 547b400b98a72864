#include "tests/server/api/sample_database.h"

#include <stdlib.h>

#include "parser/layout/experiment_name.h"
#include "parser/statistics/window_choice.h"
#include "parser/step_interruption.h"
#include "tests/storage/execute_sql.h"

namespace llmb::api {
namespace {

using parser::ConfigSource;

constexpr const char* kObservedAt = "2025-12-22T16:00:00Z";

parser::StepSample sample_step(std::int64_t iteration, double step_time_s) {
  parser::StepSample step;
  step.iteration = iteration;
  step.epoch = 0;
  step.global_step = iteration;
  step.step_time_s = step_time_s;
  step.step_time_resolution_s = 0.0005;
  step.tflops_per_gpu = 400.0 + static_cast<double>(iteration);
  step.loss = 2.5;
  step.learning_rate = 1e-5;
  step.grad_norm = 0.5;
  step.params_norm = 10.0;
  step.loss_scale = 1.0;
  step.consumed_samples = (iteration + 1) * 128;
  step.global_batch_size = 128;
  step.skipped_iterations = 0;
  step.nan_iterations = 0;
  step.memory_bytes_max = 7e10;
  step.memory_bytes_allocated = 6e10;
  step.logged_at = "2025-12-22T15:18:33";
  step.extra_fields = {{"val_loss", 2.25}};
  return step;
}

// A checkpoint after iteration 2, a trace, reports on ranks and a profile; in the experiment
// `varied` a slow first step, every fifth step slow, and one outlier.
void add_evidence(storage::IngestBatch& batch) {
  for (parser::StepSample& step : batch.samples) {
    if (step.iteration == 3) step.extra_fields.emplace_back(parser::kAfterCheckpoint, 1);
  }
  for (parser::StepSample& step : batch.samples) {
    if (batch.path.experiment != "varied") break;
    if (step.iteration % 5 == 0) *step.step_time_s *= 1.5;
    if (step.iteration == 0) *step.step_time_s *= 10;
    if (step.iteration == 33) *step.step_time_s *= 3;
  }
  batch.facts.nccl_trace_seen = true;
  batch.facts.nccl.uses = {{"AllReduce", 9, 1024, 8, 100, 16, true},
                           {"Unheard", 99, 7, 0, 1, 64, false}};
  batch.facts.nccl.torn_lines = 3;
  batch.facts.nccl.other_calls = 2;
  batch.facts.nccl.other_bytes = 64;
  batch.facts.ranks.measures = {
      {parser::RankSource::straggler_detector, "round_trip_time", "s", parser::RankPlace::highest,
       7, "", 4, parser::RankValues{2.0, 3.0, 10.0}, 6'000},
      {parser::RankSource::nvrx, "gpu_relative_performance", "1", parser::RankPlace::flagged, 7,
       "node-1", 1, std::nullopt, 7'000}};
  batch.facts.ranks.values_left_out = 5;
  batch.facts.checkpoints = {{parser::CheckpointEvent::Kind::save, 2, 4.389, 0, 5'000}};
  batch.facts.checkpoint_count = 1;
  batch.profiles = {{"experiments/nsys_profile/profile_5_1_7.nsys-rep", 4096, {{}, 1, 7, {}}}};
}

// What ingest says beside summarize_run().
void say_window(storage::IngestBatch& batch) {
  batch.window_source = "default of nemo";
  batch.logged_global_batch_size =
      parser::logged_global_batch_size(batch.samples, parser::batch_evidence_window(batch.facts));
}

}  // namespace

storage::IngestBatch sample_batch(storage::RootId root, const std::string& experiment,
                                  std::int64_t job_id, std::int64_t last_iteration,
                                  double step_time_s) {
  storage::IngestBatch batch;
  batch.root_id = root;
  batch.relative_path = "experiments/" + experiment + "/log-a." + experiment + "_" +
                        std::to_string(job_id) + "_0.out";
  batch.observed_at = kObservedAt;
  batch.size_bytes = 10'000;
  batch.cursor.offset = 10'000;
  batch.path.experiment = experiment;
  batch.path.launched_at = "2025-12-22T15:00:0" + std::to_string(job_id % 10) + "Z";
  batch.path.launch_id = experiment + "_1766415600";
  batch.path.account = "team";
  batch.path.job_id = job_id;
  batch.path.retry = 0;
  auto& configuration = batch.configuration;
  configuration.set("workload", "pretrain_grok1", ConfigSource::llmb_config);
  configuration.set("model_size", "314b", ConfigSource::experiment_name);
  configuration.set("model_size", "70b", ConfigSource::llmb_config);
  configuration.set("dtype", "fp8_cs", ConfigSource::experiment_name);
  configuration.set("dtype", "fp8", ConfigSource::llmb_config);
  configuration.set("gpu_type", "h100", ConfigSource::llmb_config);
  configuration.set("gpu_count", "128", ConfigSource::experiment_name);
  configuration.set("release", "25.07", ConfigSource::llmb_config);
  configuration.set("cluster", "eos", ConfigSource::llmb_config);
  batch.facts.dialect = parser::Dialect::nemo;
  batch.facts.declared_last_iteration = 49;
  batch.facts.bytes_read = 10'000;
  for (std::int64_t i = 0; i <= last_iteration; ++i) {
    batch.samples.push_back(sample_step(i, step_time_s));
  }
  if (last_iteration >= 0) {
    batch.facts.segments.push_back({0, last_iteration, last_iteration + 1, 0, std::nullopt, 0});
  }
  if (last_iteration < 49) {
    batch.facts.events.push_back({parser::LogEvent::Kind::failure, "time_limit",
                                  "slurmstepd: error: *** JOB CANCELLED DUE TO TIME LIMIT ***",
                                  9'000, last_iteration + 1});
  }
  add_evidence(batch);
  batch.summary = parser::summarize_run(batch.samples, batch.facts,
                                        parser::default_window(batch.facts.dialect), false);
  say_window(batch);
  return batch;
}

void train_with_batch(storage::IngestBatch& batch, std::int64_t global_batch_size) {
  for (parser::StepSample& step : batch.samples) step.global_batch_size = global_batch_size;
  say_window(batch);
}

void ApiTest::SetUp() {
  database_path_ = database_.path();
  storage_options_.path = database_path_;
  storage_options_.allow_network_file_system = true;
  writer_ = std::make_unique<storage::Writer>(storage_options_);
  root_ = writer_->upsert_root("/data/w", "");
  status_.first_scan_done = true;
  restart_api([](ApiOptions&) {});
}

void ApiTest::restart_api(const std::function<void(ApiOptions&)>& change) {
  ApiOptions api_options;
  api_options.database_path = database_path_;
  api_options.ingest_status = [this] { return status_; };
  api_options.server_counters = [this] { return counters_; };
  api_options.events = &events_;
  api_options.version = "1.2.3";
  change(api_options);
  api_ = std::make_unique<Api>(std::move(api_options));
  router_ = http::Router();
  api_->add_routes(router_);
  service_ = std::make_unique<http::Service>(http::ServerOptions(), router_);
}

void ApiTest::TearDown() {
  service_.reset();
  api_.reset();
  writer_.reset();
}

http::Response ApiTest::get(const std::string& path, const Pairs& query, const Pairs& headers) {
  http::Request request;
  request.method = "GET";
  request.path = path;
  request.target = path;
  request.query = query;
  request.headers = headers;
  return answer(request);
}

http::Response ApiTest::answer(http::Request& request) {
  http::Response response = service_->handle_request(request);
  const http::WireResponse wire = service_->finish(request, response, {});
  response.status = wire.status;
  response.body = wire.body;
  if (wire.packed_body) {
    std::string text;
    auto blocks = wire.blocks();
    for (auto block = blocks.next(); !block.empty(); block = blocks.next()) text += block;
    response.body = std::make_shared<const std::string>(std::move(text));
  }
  if (wire.streamed_body) {
    const auto text = rest_of(response);
    EXPECT_TRUE(text) << request.path << " is broken off";
    response.body = std::make_shared<const std::string>(text.value_or(""));
  }
  return response;
}

http::Response ApiTest::begin(const std::string& path) {
  http::Request request;
  request.method = "GET";
  request.path = request.target = path;
  http::Response response = service_->handle_request(request);
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(response.stream.next);
  return response;
}

std::optional<std::string> ApiTest::rest_of(const http::Response& response) {
  std::string text;
  try {
    for (auto piece = response.stream.next(); !piece.empty(); piece = response.stream.next()) {
      text += piece;
    }
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return text;
}

std::string ApiTest::header_of(const http::Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

storage::RootId ApiTest::watch(const std::filesystem::path& tree) {
  std::filesystem::create_directories(tree);
  ingest::RootStatus watched;
  watched.id = writer_->upsert_root(tree.string(), "");
  watched.path = tree.string();
  status_.roots.push_back(watched);
  return watched.id;
}

Json ApiTest::get_json(const std::string& path, const Pairs& query, int status) {
  const http::Response response = get(path, query);
  EXPECT_EQ(response.status, status) << path << " " << (response.body ? *response.body : "");
  return response.body ? Json::parse(*response.body) : Json();
}

std::string ApiTest::get_detail(const std::string& path, const Pairs& query, int status) {
  const http::Response response = get(path, query);
  EXPECT_EQ(response.status, status) << path;
  EXPECT_EQ(response.content_type, "application/problem+json");
  const Json json = Json::parse(*response.body);
  EXPECT_EQ(json["status"], status);
  return json["detail"].get<std::string>();
}

storage::RunId ApiTest::add_run(const std::string& experiment, std::int64_t job_id,
                                std::int64_t last_iteration, double step_time_s) {
  const auto batch = sample_batch(root_, experiment, job_id, last_iteration, step_time_s);
  return writer_->commit({&batch, 1}).front();
}

storage::IngestBatch ApiTest::published_batch(std::int64_t global_batch_size) const {
  const std::string experiment = "pretrain_nemotron4_15b_bf16_64";
  auto batch = sample_batch(root_, experiment, global_batch_size, 49, 2.693);
  train_with_batch(batch, global_batch_size);
  batch.configuration = parser::parse_experiment_name(experiment);
  batch.configuration.set("gpu_type", "h100", ConfigSource::llmb_config);
  return batch;
}

storage::RunId ApiTest::add_published_run(std::int64_t global_batch_size) {
  const auto batch = published_batch(global_batch_size);
  return writer_->commit({&batch, 1}).front();
}

storage::JobRecord ApiTest::add_job(storage::JobStore& jobs, const std::string& experiment,
                                    std::int64_t job_id) {
  storage::JobRecord job;
  job.submission_id = "llmb-" + std::to_string(job_id);
  job.cluster = "dev";
  job.job_id = job_id;
  job.state = storage::JobState::running;
  job.experiment = experiment;
  job.launch_id = experiment + "_1766415600";
  return *jobs.job(jobs.insert(job));
}

void ApiTest::fill() {
  add_run("alpha", 1, 49, 7.0);
  add_run("alpha", 2, 49, 6.5);
  add_run("beta", 3, 20, 3.0);
  add_run("gamma", 4, -1, 0.0);
  auto restarted = sample_batch(root_, "beta", 5, 49, 4.0);
  auto again = sample_batch(root_, "beta", 5, 49, 5.0);
  for (parser::StepSample& step : again.samples) step.segment = 1;
  restarted.samples.insert(restarted.samples.end(), again.samples.begin(), again.samples.end());
  restarted.facts.segments.push_back(again.facts.segments.front());
  restarted.facts.segments.back().segment = 1;
  restarted.facts.reported_tflops_per_gpu = 1678.6;
  restarted.summary = parser::summarize_run(restarted.samples, restarted.facts, {11, 44}, false);
  say_window(restarted);
  writer_->commit({&restarted, 1});
  writer_->record_scan(root_, "2025-12-22T16:00:01Z", 0.25, 5, "");
  storage::ParkedFile parked;
  parked.root_id = root_;
  parked.relative_path = "experiments/x/log.out";
  parked.reason = "permission denied";
  parked.parked_at = kObservedAt;
  parked.retry_at = "2025-12-22T16:00:05Z";
  parked.failures = 1;
  writer_->park(parked);
}

void ApiTest::execute_sql(const std::string& sql) {
  storage::execute_sql(database_path_, sql);
}

}  // namespace llmb::api
