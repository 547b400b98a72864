// What the runner writes is what llmb-report reads: every line goes through LogReader.
#include "runner/step_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "parser/dialects/stated_configuration.h"
#include "parser/reader/log_reader.h"
#include "parser/statistics/run_marks.h"
#include "parser/statistics/run_summary.h"

namespace llmb::runner {
namespace {

using parser::Dialect;
using parser::ParsedLog;
using parser::StepSample;

constexpr const char* kDateTime = "2026-11-21 14:25:01";

StepRecord record(std::int64_t step) {
  StepRecord made;
  made.step = step;
  made.step_time_s = 0.0375 + 0.001 * static_cast<double>(step % 7);
  made.tflops_per_gpu = 612.34;
  made.learning_rate = 3e-4;
  made.loss = 11.25 - 0.01 * static_cast<double>(step);
  made.grad_norm = 1.5;
  made.memory_bytes_max = 68'719'476'736;
  made.memory_bytes_allocated = 51'539'607'552;
  return made;
}

std::string log_of(LogFormat format, std::int64_t first_step, std::int64_t step_count) {
  const StepLogHead head{format, first_step, step_count, 256};
  std::string log;
  for (std::int64_t step = first_step; step < first_step + step_count; ++step) {
    log += step_lines(head, record(step), kDateTime);
  }
  return log + finish_line(head, kDateTime);
}

parser::RunSummary verdict_on(const ParsedLog& log) {
  return parser::summarize_run(log.samples, log.facts, parser::default_window(log.facts.dialect),
                               false);
}

TEST(StepLog, NemoLinesAreReadAsTheyWereMeasured) {
  const ParsedLog log = parser::parse_log(log_of(LogFormat::nemo, 0, 50));
  EXPECT_EQ(log.facts.dialect, Dialect::nemo);
  EXPECT_EQ(log.facts.declared_last_iteration, 49);
  EXPECT_EQ(log.facts.lines_not_understood, 0);
  ASSERT_EQ(log.samples.size(), 50U);
  for (const StepSample& sample : log.samples) {
    const StepRecord made = record(sample.iteration);
    EXPECT_NEAR(*sample.step_time_s, made.step_time_s, sample.step_time_resolution_s);
    EXPECT_NEAR(*sample.tflops_per_gpu, made.tflops_per_gpu, 0.05);
    EXPECT_NEAR(*sample.loss, made.loss, 0.005);
    EXPECT_EQ(*sample.learning_rate, made.learning_rate);
    EXPECT_EQ(*sample.grad_norm, made.grad_norm);
    EXPECT_EQ(*sample.memory_bytes_max, static_cast<double>(made.memory_bytes_max));
    EXPECT_EQ(*sample.memory_bytes_allocated, static_cast<double>(made.memory_bytes_allocated));
    EXPECT_EQ(sample.consumed_samples, (sample.iteration + 1) * 256);
    EXPECT_EQ(sample.global_batch_size, 256);
    EXPECT_EQ(sample.global_step, sample.iteration);
    EXPECT_THAT(sample.extra_fields, testing::IsEmpty());
  }
  const parser::RunSummary summary = verdict_on(log);
  EXPECT_EQ(summary.status, parser::RunStatus::complete) << summary.status_reason;
}

TEST(StepLog, MegatronBridgeLinesAreReadAsTheyWereMeasured) {
  const ParsedLog log = parser::parse_log(log_of(LogFormat::megatron_bridge, 0, 50));
  EXPECT_EQ(log.facts.dialect, Dialect::megatron_bridge);
  EXPECT_EQ(log.facts.declared_last_iteration, 50);
  ASSERT_EQ(log.samples.size(), 50U);
  for (const StepSample& sample : log.samples) {
    const StepRecord made = record(sample.iteration - 1);
    EXPECT_NEAR(*sample.step_time_s, made.step_time_s, 0.00005 + 1e-12);
    ASSERT_TRUE(sample.tflops_per_gpu.has_value()) << sample.iteration;
    EXPECT_NEAR(*sample.tflops_per_gpu, made.tflops_per_gpu, 0.05);
    EXPECT_NEAR(*sample.loss, made.loss, 1e-5);
    EXPECT_EQ(*sample.grad_norm, made.grad_norm);
    EXPECT_EQ(*sample.loss_scale, 1.0);
    EXPECT_EQ(sample.nan_iterations, 0);
    EXPECT_EQ(sample.logged_at, "2026-11-21T14:25:01");
  }
  const parser::RunSummary summary = verdict_on(log);
  EXPECT_EQ(summary.status, parser::RunStatus::complete) << summary.status_reason;
}

TEST(StepLog, EnergyOfAGpuIsReadFromBothForms) {
  for (const LogFormat format : {LogFormat::nemo, LogFormat::megatron_bridge}) {
    const StepLogHead head{format, 0, 50, 256};
    std::string text;
    for (std::int64_t step = 0; step < 50; ++step) {
      StepRecord made = record(step);
      made.step_time_s = 2;
      made.energy_j_per_gpu = 1250;
      text += step_lines(head, made, kDateTime);
    }
    const ParsedLog log = parser::parse_log(text + finish_line(head, kDateTime));
    EXPECT_EQ(log.facts.lines_not_understood, 0);
    EXPECT_EQ(verdict_on(log).energy_j_per_gpu_mean, 1250) << text;
    EXPECT_THAT(log.samples.at(7).extra_fields,
                testing::Contains(testing::Pair("power per GPU (W/GPU)", 625)));
  }
}

TEST(StepLog, ANanMakesTheRunInvalidInBothForms) {
  for (const LogFormat format : {LogFormat::nemo, LogFormat::megatron_bridge}) {
    const StepLogHead head{format, 0, 1, 8};
    StepRecord broken = record(0);
    broken.loss = std::nan("");
    const ParsedLog log = parser::parse_log(step_lines(head, broken, kDateTime));
    ASSERT_EQ(log.facts.segments.size(), 1U);
    EXPECT_EQ(log.facts.segments[0].nan_step_count, 1);
  }
}

TEST(StepLog, ARunThatGoesOnNumbersItsStepsOn) {
  const ParsedLog nemo = parser::parse_log(log_of(LogFormat::nemo, 50, 1));
  EXPECT_EQ(nemo.samples.at(0).iteration, 50);
  EXPECT_EQ(nemo.facts.declared_last_iteration, 50);
  const ParsedLog megatron = parser::parse_log(log_of(LogFormat::megatron_bridge, 50, 1));
  EXPECT_EQ(megatron.samples.at(0).iteration, 51);
}

// Values as Python's "{:.4}" gives them, which NeMo uses for all that is not whole.
TEST(StepLog, FormatsNumbersAsNemoDoes) {
  EXPECT_EQ(nemo_number(0.0), "0");
  EXPECT_EQ(nemo_number(1700.0), "1700");
  EXPECT_EQ(nemo_number(999.94), "999.9");
  EXPECT_EQ(nemo_number(999.96), "1e+03");
  EXPECT_EQ(nemo_number(1678.6), "1.679e+03");
  EXPECT_EQ(nemo_number(0.0001234), "0.0001234");
  EXPECT_EQ(nemo_number(1.0000001e-5), "1e-05");
  EXPECT_EQ(nemo_number(1.00001), "1.0");
  EXPECT_EQ(nemo_number(-3.14159), "-3.142");
  EXPECT_EQ(nemo_number(std::nan("")), "nan");
  EXPECT_EQ(nemo_number(-INFINITY), "-inf");
}

TEST(StepLog, CheckpointLinesAreReadAsTheDocumentsHaveThem) {
  const std::string log = checkpoint_load_line(0, 1744407969.27, 9.712, kDateTime) +
                          checkpoint_save_line(0, 50, 1744408121.151, 4.389, kDateTime);
  EXPECT_THAT(log, testing::HasSubstr("Global Checkpoint Save : Rank: 0 : Iteration: 50 : Start "
                                      "time: 1744408121.151s : Save duration: 4.389s\n"));
  const auto& events = parser::parse_log(log).facts.checkpoints;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, parser::CheckpointEvent::Kind::load);
  EXPECT_EQ(events[0].duration_s, 9.712);
  EXPECT_EQ(events[1].kind, parser::CheckpointEvent::Kind::save);
  EXPECT_EQ(events[1].iteration, 50);
  EXPECT_EQ(events[1].duration_s, 4.389);
}

RunSettings settings_for(Backend backend) {
  Options options;
  options.workload = "pretrain_grok1";
  options.model_size = "314b";
  options.gpu_type = "h100";
  options.backend = backend;
  options.scale = 512;
  return *make_run_settings(options, parser::embedded_catalog());
}

std::vector<parser::RunMarkReason> marks_of_log(const std::string& log) {
  const ParsedLog parsed = parser::parse_log(log);
  const parser::RunSummary summary = verdict_on(parsed);
  const parser::RunConfiguration configuration = parser::stated_configuration(parsed.facts);
  return parser::marks_of({.summary = summary, .configuration = configuration});
}

TEST(ConfigurationLine, IsTheRunsConfiguration) {
  const ParsedLog log = parser::parse_log(configuration_line(settings_for(Backend::cuda)));
  const parser::RunConfiguration configuration = parser::stated_configuration(log.facts);
  EXPECT_EQ(configuration.value("workload"), "pretrain_grok1");
  EXPECT_EQ(configuration.value("gpu_type"), "h100");
  EXPECT_EQ(configuration.value("gpu_count"), "512");
  EXPECT_EQ(configuration.value("expert_parallel"), "8");
  EXPECT_EQ(configuration.value("sequence_length"), "8192");
  EXPECT_EQ(configuration.value("proxy"), "false");
}

// Where the row's own program keeps less: choose_by_memory() of 70b on 64 GB200.
TEST(ConfigurationLine, SaysWhatIsRecomputedThatTheRowDoesNot) {
  RunSettings settings = settings_for(Backend::cuda);
  EXPECT_EQ(configuration_line(settings).find("recompute_layers"), std::string::npos);
  settings.recompute_layers = 6;
  const ParsedLog log = parser::parse_log(configuration_line(settings));
  EXPECT_EQ(parser::stated_configuration(log.facts).value("recompute_layers"), "6");
}

TEST(ConfigurationLine, ACpuRunIsNeverAGpusResult) {
  const std::string steps = log_of(LogFormat::nemo, 0, 50);
  const std::string cpu = configuration_line(settings_for(Backend::cpu));
  const auto marks = marks_of_log(cpu + steps);
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].mark, parser::RunMark::on_cpu);
  EXPECT_THAT(parser::exclusion_reason(marks, {}), testing::HasSubstr("no GPU's"));
  const parser::RunConfiguration configuration =
      parser::stated_configuration(parser::parse_log(cpu).facts);
  EXPECT_EQ(configuration.value("gpu_type"), "cpu");
  EXPECT_EQ(configuration.value("gpu_count"), std::nullopt);
  EXPECT_THAT(marks_of_log(configuration_line(settings_for(Backend::cuda)) + steps),
              testing::IsEmpty());
}

}  // namespace
}  // namespace llmb::runner
