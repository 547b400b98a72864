#include "tests/bench/many_runs.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/layout/experiment_name.h"
#include "parser/statistics/judge_run.h"

namespace llmb::bench {
namespace {

using parser::ConfigSource;
using parser::StepSample;
using storage::IngestBatch;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

StepSample make_step(int run, std::int64_t iteration, std::int64_t global_batch_size) {
  StepSample step;
  step.iteration = iteration;
  step.global_step = iteration;
  step.step_time_s = 7.3 + static_cast<double>((run * 31LL + iteration * 17) % 1'000) / 1e4;
  step.step_time_resolution_s = 0.0005;
  step.tflops_per_gpu = 850.5 + run % 100;
  step.loss = 11.2;
  step.learning_rate = 3e-5;
  step.grad_norm = 0.25;
  step.consumed_samples = iteration * global_batch_size;
  step.global_batch_size = global_batch_size;
  step.logged_at = "2025-12-22T15:18:33";
  step.byte_offset = static_cast<std::uint64_t>(iteration) * 310;
  return step;
}

void configure(IngestBatch& batch, int run) {
  auto& configuration = batch.configuration;
  configuration = parser::parse_experiment_name(batch.path.experiment);
  configuration.set("gpu_type", run % 3 == 0 ? "h100" : "gb200", ConfigSource::llmb_config);
  configuration.set("release", run % 2 == 0 ? "25.05" : "25.08", ConfigSource::llmb_config);
  configuration.set("cluster", "cluster_" + std::to_string(run % 4), ConfigSource::llmb_config);
  for (int i = 0; i < 12; ++i) {
    configuration.set("key_" + std::to_string(i), std::to_string(run % 9),
                      ConfigSource::llmb_config);
  }
}

// Every tenth log ends early, every fiftieth before its first step: runs without a mean, which
// lists put last.
std::int64_t steps_of(int run, std::int64_t step_count) {
  if (run % 50 == 0) return 0;
  return run % 10 == 0 ? step_count / 2 : step_count;
}

std::string instant_of(int run) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "2026-%02d-%02dT%02d:%02d:%02dZ", 1 + run % 12,
                1 + run % 28, run % 24, run % 60, run / 60 % 60);
  return text.data();
}

IngestBatch make_batch(storage::RootId root, int run, std::int64_t step_count, int attempt = 0) {
  IngestBatch batch;
  batch.root_id = root;
  batch.path.experiment = kExperiments[static_cast<std::size_t>(run) % kExperiments.size()];
  batch.path.launch_id = std::to_string(1'751'000'000 + run);
  batch.path.job_id = 4'000'000 + run;
  batch.path.launched_at = instant_of(run);
  batch.relative_path = "experiments/" + batch.path.experiment + "/" + batch.path.experiment + "_" +
                        *batch.path.launch_id + "/" + batch.path.experiment + "/log-account_" +
                        std::to_string(*batch.path.job_id) + "_0.out";
  batch.observed_at = instant_of(run * 7);
  configure(batch, run);
  const std::string batch_size = batch.configuration.value("global_batch_size").value_or("0");
  const std::int64_t count = steps_of(run, step_count);
  batch.facts.dialect = parser::Dialect::nemo;
  batch.facts.declared_last_iteration = step_count - 1;
  if (count > 0) batch.facts.segments.push_back({0, count - 1, count, 0, std::nullopt, 0, 0});
  batch.samples.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    batch.samples.push_back(make_step(run + attempt, i, std::stoll(batch_size)));
  }
  const auto& catalog = parser::embedded_catalog();
  auto judgement =
      parser::judge_run(catalog,
                        {.facts = batch.facts,
                         .configuration = batch.configuration,
                         .samples =
                             [&](const parser::Window&) {
                               return std::span<const parser::StepSample>(batch.samples);
                             }},
                        {.tokens_to_train = parser::kTokensToTrainDefault});
  const parser::DerivedMetrics& derived = judgement.metrics.derived;
  batch.listed.tokens_per_s_per_gpu = derived.tokens_per_s_per_gpu.value;
  batch.listed.mfu = derived.mfu.value;
  batch.listed.speed_against_reference = judgement.metrics.speed_against_reference;
  if (run % 7 == 0) batch.listed.marks = {parser::RunMark::traced};
  batch.summary = std::move(judgement.summary);
  batch.window_source = std::move(judgement.window_source);
  batch.logged_global_batch_size = judgement.logged_global_batch_size;
  batch.is_settled = true;
  return batch;
}

}  // namespace

storage::RootId root_of_many_runs(storage::Writer& writer) {
  return writer.upsert_root("/bench", "");
}

void write_many_runs(storage::Writer& writer, int runs, std::int64_t steps_per_run) {
  const auto root = root_of_many_runs(writer);
  const auto runs_a_commit = static_cast<std::size_t>(
      std::max<std::int64_t>(1, 16'384 / std::max<std::int64_t>(1, steps_per_run)));
  std::vector<IngestBatch> batches;
  batches.reserve(runs_a_commit);
  double writing_s = 0;
  std::size_t steps = 0;
  for (int run = 1; run <= runs; ++run) {
    batches.push_back(make_batch(root, run, steps_per_run));
    steps += batches.back().samples.size();
    if (batches.size() < runs_a_commit && run < runs) continue;
    const auto began = Clock::now();
    writer.commit(batches);
    writing_s += seconds_since(began);
    batches.clear();
  }
  std::printf("%d runs and %zu steps written in %.1f s\n", runs, steps, writing_s);
}

void write_run_again(storage::Writer& writer, storage::RootId root, int run,
                     std::int64_t steps_per_run, int attempt) {
  IngestBatch batch = make_batch(root, run, steps_per_run, attempt);
  batch.replaces_all_samples = true;
  writer.commit({&batch, 1});
}

}  // namespace llmb::bench
