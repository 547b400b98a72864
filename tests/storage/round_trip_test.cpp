// What a Writer is given, a Reader gives back: every field, the awkward values among them.
#include <cmath>
#include <limits>

#include "storage/database.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

parser::StepSample full_step() {
  parser::StepSample sample = make_step(7, 1.0 / 3.0, 2);
  sample.iteration_is_logged = false;
  sample.epoch = 3;
  sample.global_step = 1'007;
  sample.tflops_per_gpu = 1'679.25;
  sample.loss = 0.1;
  sample.learning_rate = 3e-7;
  sample.grad_norm = 5e-324;
  sample.params_norm = 1.7e308;
  sample.loss_scale = 65'536;
  sample.consumed_samples = std::numeric_limits<std::int64_t>::max();
  sample.global_batch_size = 2'048;
  sample.skipped_iterations = 0;
  sample.nan_iterations = 1;
  sample.memory_bytes_max = 1.5e11;
  sample.memory_bytes_allocated = 1.25e11;
  sample.logged_at = "2025-12-22T15:18:33.125";
  sample.byte_offset = std::numeric_limits<std::uint64_t>::max();
  sample.extra_fields = {{"val_loss", 2.5}, {"a'; DROP TABLE run; --", -1}, {"val_loss", 2.75}};
  return sample;
}

parser::WindowStatistics statistics_of(double mean) {
  return {34, mean, 0.1, 0.2, mean + 0.01, mean - 1, mean + 1, mean + 0.5};
}

IngestBatch full_batch(RootId root) {
  IngestBatch batch = make_batch(root, "experiments/ünïcode 'x'/\xff\xfe/log.out");
  batch.size_bytes = 1ULL << 63;
  batch.cursor = {~0ULL, 1ULL << 63, 0x8000000000000001, 1024, ~1ULL, 256, 1ULL << 40, "state 1 2"};
  batch.path.launched_at = "2025-06-25T05:58:06Z";
  batch.path.launch_id = "x_1750831086";
  batch.path.account = "team";
  batch.path.job_id = 4'242;
  batch.path.retry = 1;
  batch.configuration.set("dtype", "fp8", parser::ConfigSource::llmb_config);
  batch.configuration.set("dtype", "fp8_cs", parser::ConfigSource::experiment_name);
  batch.configuration.set("gpu_count", "512", parser::ConfigSource::experiment_name);
  batch.facts.dialect = parser::Dialect::megatron_bridge;
  batch.facts.declared_last_iteration = 50;
  batch.facts.reported_tflops_per_gpu = -1.0;
  batch.facts.segments = {{1, 50, 50, 2, 17, 12}, {1, 7, 7, 0, std::nullopt, 9'000, 1}};
  batch.facts.events = {
      {parser::LogEvent::Kind::failure, "time_limit", "*** CANCELLED ***", 88'000, 49, 368,
       "ALLREDUCE"},
      {parser::LogEvent::Kind::finish_marker, "training_done", "", 1ULL << 50, 50}};
  batch.facts.nccl_trace_seen = true;
  batch.facts.nccl.uses = {{"AllGather", 9, 1LL << 40, 1024, 1LL << 50, 64, false},
                           {"AllReduce", 7, 0, 0, 1, 1, true}};
  batch.facts.nccl.other_calls = 5;
  batch.facts.nccl.other_bytes = 1LL << 60;
  batch.facts.nccl.torn_lines = 6;
  using Source = parser::RankSource;
  using Place = parser::RankPlace;
  batch.facts.ranks.measures = {{Source::straggler_detector, "round_trip_time", "s", Place::highest,
                                 76, "", 5, parser::RankValues{0.7, 0.75, 3.625}, 1ULL << 40},
                                {Source::straggler_detector, "round_trip_time", "s", Place::highest,
                                 std::nullopt, "", 9, parser::RankValues{0.5, 0.625, 5.0}, 7, true},
                                {Source::nvrx, "gpu_relative_performance", "1", Place::flagged, 76,
                                 "n'\xff", 2, std::nullopt, 8}};
  batch.facts.ranks.values_left_out = 11;
  batch.facts.checkpoints = {
      {parser::CheckpointEvent::Kind::load, std::nullopt, 51.25, 0, 1'000},
      {parser::CheckpointEvent::Kind::save, 50, 4.389, std::nullopt, 1ULL << 40},
      {parser::CheckpointEvent::Kind::save_begun, 60, std::nullopt, std::nullopt, 1ULL << 41}};
  batch.facts.checkpoint_count = 1'000;
  batch.profiles = {{"a/nsys_profile/profile_1_2_3.nsys-rep", 1ULL << 40, {{}, 2, 3, {}}},
                    {"a/nsys_profile/profile_77.nsys-rep", 0, {{}, {}, {}, 77}}};
  batch.facts.bytes_read = 1ULL << 41;
  batch.facts.lines_too_long = 3;
  batch.facts.lines_not_understood = 4;
  batch.summary.status = parser::RunStatus::invalid;
  batch.summary.status_reason = "grad norm is NaN at iteration 17";
  batch.summary.failure_cause = "nan_gradient";
  batch.summary.silent_s = 150.5;
  batch.summary.is_function_check = true;
  batch.summary.window = {35, 44};
  batch.window_source = "release 25.08";
  batch.logged_global_batch_size = 512;
  batch.summary.segment = 1;
  batch.summary.segment_count = 2;
  batch.summary.window_is_whole = true;
  batch.summary.iterations_missing_in_window = 2;
  batch.summary.window_interruptions = "checkpoint: 20; evaluation: 30";
  batch.summary.printed_tokens_per_s_per_gpu = 6785.5;
  batch.summary.energy_j_per_gpu_mean = 1992.5;
  batch.summary.last_iteration = 7;
  batch.summary.declared_last_iteration = 51;
  batch.summary.step_time_s = statistics_of(7.382);
  batch.summary.tflops_per_gpu = statistics_of(1'700);
  return batch;
}

TEST(StepRows, GiveEveryFieldBack) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out");
  batch.samples = {make_step(7, 2.5, 0), full_step()};
  const std::vector<RunId> runs = writer.commit({&batch, 1});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(Reader(database.path()).steps(runs[0]), batch.samples);
}

TEST(StepRows, TellTheLatestTimes) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out");
  batch.samples = {make_step(8, 1.0), make_step(9, 2.0), make_step(10, kNan), make_step(3, 4.0)};
  batch.samples[3].segment = 1;
  const RunId run = writer.commit({&batch, 1})[0];
  Reader reader(database.path());
  EXPECT_EQ(reader.latest_step_times_s(run, 3), (std::vector{4.0, 2.0})) << "one has no time";
  EXPECT_EQ(reader.latest_step_times_s(run, 1), std::vector{4.0});
  EXPECT_TRUE(reader.latest_step_times_s(run + 1, 3).empty());
}

TEST(StepRows, KeepNanApartFromAbsent) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out");
  parser::StepSample sample = make_step(1, kNan);
  sample.grad_norm = kNan;
  sample.loss = -kInfinity;
  sample.memory_bytes_allocated = kNan;
  sample.extra_fields = {{"energy", kNan}, {"power", kInfinity}};
  batch.samples = {sample};
  const RunId run = writer.commit({&batch, 1}).at(0);

  const std::vector<parser::StepSample> steps = Reader(database.path()).steps(run);
  ASSERT_EQ(steps.size(), 1U);
  ASSERT_TRUE(steps[0].step_time_s && steps[0].grad_norm && steps[0].memory_bytes_allocated);
  EXPECT_TRUE(std::isnan(*steps[0].step_time_s));
  EXPECT_TRUE(std::isnan(*steps[0].grad_norm));
  EXPECT_TRUE(std::isnan(*steps[0].memory_bytes_allocated));
  EXPECT_EQ(steps[0].loss, -kInfinity);
  EXPECT_FALSE(steps[0].params_norm);
  EXPECT_FALSE(steps[0].tflops_per_gpu);
  ASSERT_EQ(steps[0].extra_fields.size(), 2U);
  EXPECT_TRUE(std::isnan(steps[0].extra_fields[0].second));
  EXPECT_EQ(steps[0].extra_fields[1].second, kInfinity);
}

TEST(StepRows, AWindowIsTakenFromEverySegment) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out", 30);
  for (int i = 5; i < 15; ++i) {
    batch.samples.push_back(make_step(i, 9, 3));
    batch.samples.back().extra_fields = {{"n", i}};
  }
  const RunId run = writer.commit({&batch, 1}).at(0);
  std::vector<std::pair<int, std::int64_t>> seen;
  Reader reader(database.path());
  for (const auto& step : reader.steps(run, parser::Window{12, 16})) {
    seen.emplace_back(step.segment, step.iteration);
    if (step.segment == 3) {
      EXPECT_EQ(step.extra_fields.at(0).second, static_cast<double>(step.iteration));
    }
  }
  const std::vector<std::pair<int, std::int64_t>> wanted = {{0, 12}, {0, 13}, {0, 14}, {0, 15},
                                                            {0, 16}, {3, 12}, {3, 13}, {3, 14}};
  EXPECT_EQ(seen, wanted);
  EXPECT_TRUE(reader.steps(run, parser::Window{100, 200}).empty());
  EXPECT_EQ(reader.steps(run).size(), 40U);
}

TEST(StepRows, AnAmendedSampleReplacesTheStoredOne) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out", 3);
  batch.samples[1].extra_fields = {{"x", 1}, {"y", 2}};
  const RunId run = writer.commit({&batch, 1}).at(0);

  IngestBatch later = make_batch(batch.root_id, "a.out");
  later.samples = {make_step(1, 5.5), make_step(3, 6)};
  later.samples[0].tflops_per_gpu = 800;
  later.samples[0].extra_fields = {{"z", 3}};
  ASSERT_EQ(writer.commit({&later, 1}).at(0), run);

  Reader reader(database.path());
  const auto steps = reader.steps(run);
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[1], later.samples[0]);
  EXPECT_EQ(steps[3], later.samples[1]);
  EXPECT_EQ(reader.run(run)->step_count, 4);
}

TEST(StepRows, ALogReadAnewDropsWhatWasStoredBefore) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out", 9);
  batch.samples[8].extra_fields = {{"x", 1}};
  const RunId run = writer.commit({&batch, 1}).at(0);
  IngestBatch anew = make_batch(batch.root_id, "a.out", 2);
  anew.replaces_all_samples = true;
  ASSERT_EQ(writer.commit({&anew, 1}).at(0), run);
  Reader reader(database.path());
  EXPECT_EQ(reader.steps(run), anew.samples);
  EXPECT_EQ(reader.run(run)->step_count, 2);
}

TEST(RunRows, GiveEveryFieldBack) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "eos");
  IngestBatch batch = full_batch(root);
  batch.samples = {full_step()};
  const RunId id = writer.commit({&batch, 1}).at(0);

  Reader reader(database.path());
  const std::optional<RunRecord> run = reader.run(id);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->relative_path, batch.relative_path);
  EXPECT_EQ(run->size_bytes, batch.size_bytes);
  EXPECT_EQ(run->first_seen_at, batch.observed_at);
  EXPECT_EQ(run->grown_at, batch.observed_at);
  EXPECT_EQ(run->step_count, 1);
  EXPECT_EQ(run->cluster, "eos");
  EXPECT_EQ(run->path, batch.path);
  EXPECT_EQ(run->configuration, batch.configuration);
  EXPECT_EQ(run->facts, batch.facts);
  EXPECT_EQ(run->profiles, batch.profiles);
  EXPECT_TRUE(run->is_profiled);
  EXPECT_EQ(run->summary, batch.summary);
  EXPECT_EQ(run->window_source, batch.window_source);
  EXPECT_EQ(run->logged_global_batch_size, batch.logged_global_batch_size);
  EXPECT_EQ(reader.cursor(id), batch.cursor);
  ASSERT_TRUE(reader.run_at(root, batch.relative_path));
  EXPECT_EQ(reader.run_at(root, batch.relative_path)->id, id);

  const RunPage page = reader.runs({});
  ASSERT_EQ(page.runs.size(), 1U);
  EXPECT_EQ(page.runs[0].configuration, batch.configuration);
  EXPECT_EQ(page.runs[0].summary, batch.summary);
  EXPECT_EQ(page.runs[0].facts.segments, batch.facts.segments);

  const auto known = reader.known_files();
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].cursor, batch.cursor);
  EXPECT_EQ(known[0].relative_path, batch.relative_path);
  EXPECT_EQ(known[0].status, parser::RunStatus::invalid);
}

TEST(RunRows, KeepAReportedNan) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = make_batch(writer.upsert_root("/logs", ""), "a.out");
  batch.facts.reported_tflops_per_gpu = kNan;
  const RunId id = writer.commit({&batch, 1}).at(0);
  const auto run = Reader(database.path()).run(id);
  ASSERT_TRUE(run->facts.reported_tflops_per_gpu);
  EXPECT_TRUE(std::isnan(*run->facts.reported_tflops_per_gpu));
}

TEST(RunRows, FollowALogThatLosesSegmentsAndEvents) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  IngestBatch batch = full_batch(writer.upsert_root("/logs", ""));
  const RunId id = writer.commit({&batch, 1}).at(0);
  batch.facts.segments.pop_back();
  batch.facts.events.clear();
  batch.configuration = {};
  batch.summary.step_time_s.reset();
  writer.commit({&batch, 1});
  const auto run = Reader(database.path()).run(id);
  EXPECT_EQ(run->facts, batch.facts);
  EXPECT_EQ(run->configuration, batch.configuration);
  EXPECT_EQ(run->summary, batch.summary);
}

}  // namespace
}  // namespace llmb::storage
