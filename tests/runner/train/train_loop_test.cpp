// Whole runs on thread ranks: what is logged is what was measured, and llmb-report reads it as a
// complete run.
#include "runner/train_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "parser/dialects/stated_configuration.h"
#include "parser/reader/log_reader.h"
#include "parser/statistics/run_summary.h"
#include "parser/step_interruption.h"
#include "runner/cpu/parallel_for.h"
#include "tests/runner/train/tiny_run.h"

namespace llmb::runner {
namespace {

using testing::HasSubstr;

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

parser::RunSummary verdict_on(const parser::ParsedLog& log) {
  return parser::summarize_run(log.samples, log.facts, parser::default_window(log.facts.dialect),
                               false);
}

// Every number of the log is the measured one, as far as its dialect prints digits.
void expect_log_is_what_was_measured(const TinyRun& run) {
  const parser::ParsedLog log = parser::parse_log(run.log);
  const std::vector<nlohmann::json> measured = json_lines(run.phases);
  ASSERT_EQ(log.samples.size(), 50U);
  ASSERT_EQ(measured.size(), 50U);
  const parser::RunSummary summary = verdict_on(log);
  EXPECT_EQ(summary.status, parser::RunStatus::complete) << summary.status_reason;
  EXPECT_EQ(log.facts.lines_not_understood, 0);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const parser::StepSample& sample = log.samples[i];
    const double step_time_s = measured[i]["step_time_s"];
    EXPECT_NEAR(*sample.step_time_s, step_time_s, sample.step_time_resolution_s + 1e-9);
    EXPECT_NEAR(*sample.loss, measured[i]["loss"].get<double>(), 0.0005);
    EXPECT_NEAR(*sample.grad_norm, measured[i]["grad_norm"].get<double>(), 0.0006);
    const nlohmann::json& phases = measured[i]["phases"];
    EXPECT_LE(phases["total_s"].get<double>(), step_time_s);
  }
  EXPECT_LT(*log.samples.back().loss, *log.samples.front().loss - 0.3);
}

// Notes how many threads the operations of a rank have that writes to the log.
class ThreadsOfWriter : public std::stringbuf {
 public:
  int threads() const { return threads_; }

 private:
  int sync() override {
    if (view().find("iteration") != std::string_view::npos) threads_ = cpu::threads_per_rank();
    return 0;
  }
  int threads_ = 0;
};

TEST(TrainLoop, GivesARankItsShareOfTheCores) {
  const Arguments arguments = tiny_llama({"--virtual-ranks", "1", "--steps", "1"});
  const ParsedOptions parsed = parse_options(arguments, {});
  const auto settings = make_run_settings(parsed.options, parser::embedded_catalog());
  ASSERT_TRUE(settings);
  ThreadsOfWriter buffer;
  std::ostream log(&buffer);
  LogSink sink(log);
  setenv("OMP_NUM_THREADS", "3", 1);
  train_on_cpu(parsed.options, *settings, {sink});
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(buffer.threads(), 3) << buffer.view();
}

// Every family does so through the program: program_test.cpp.
TEST(TrainLoop, LogsWhatWasMeasuredOnEightRanks) {
  expect_log_is_what_was_measured(
      run_tiny(tiny_grok({"--virtual-ranks", "8", "--global-batch-size", "4", "--tp", "2", "--pp",
                          "2", "--vp", "2", "--cp", "2", "--ep", "2", "--etp", "2"})));
}

TEST(TrainLoop, BothLogFormatsTellTheSameRun) {
  const Arguments arguments = tiny_llama(
      {"--virtual-ranks", "2", "--tp", "2", "--steps", "12", "--global-batch-size", "2"});
  const auto nemo = parser::parse_log(run_tiny(joined(arguments, {"--log-format", "nemo"})).log);
  const TinyRun bridge = run_tiny(joined(arguments, {"--log-format", "megatron-bridge"}));
  const auto megatron = parser::parse_log(bridge.log);
  const std::vector<nlohmann::json> measured = json_lines(bridge.phases);
  EXPECT_EQ(nemo.facts.dialect, parser::Dialect::nemo);
  EXPECT_EQ(megatron.facts.dialect, parser::Dialect::megatron_bridge);
  ASSERT_EQ(nemo.samples.size(), 12U);
  ASSERT_EQ(megatron.samples.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(nemo.samples[i].iteration + 1, megatron.samples[i].iteration);
    EXPECT_NEAR(*nemo.samples[i].loss, *megatron.samples[i].loss, 0.0006);
    ASSERT_TRUE(megatron.samples[i].tflops_per_gpu.has_value());
    EXPECT_NEAR(*megatron.samples[i].tflops_per_gpu, measured[i]["tflops_per_gpu"].get<double>(),
                1e-6);
  }
}

TEST(TrainLoop, SaysWhatItIs) {
  const TinyRun run =
      run_tiny(tiny_grok({"--virtual-ranks", "1", "--steps", "1", "--global-batch-size", "1"}));
  EXPECT_THAT(run.log, HasSubstr("backend=cpu"));
  EXPECT_THAT(run.log, HasSubstr("times and TFLOPS are theirs, not a GPU's"));
  EXPECT_THAT(run.log, HasSubstr("proxy: layer_count 64 -> 4"));
  const auto configuration = parser::stated_configuration(parser::parse_log(run.log).facts);
  EXPECT_EQ(configuration.value("proxy"), "true");
  EXPECT_EQ(configuration.value("gpu_type"), "cpu");
}

TEST(TrainLoop, TracesTheFirstFiveStepsAsNcclDoes) {
  const TinyRun run = run_tiny(
      tiny_llama({"--virtual-ranks", "2", "--tp", "2", "--steps", "7", "--global-batch-size", "2"}),
      {{"ENABLE_NCCLTRACE", "true"}});
  const parser::LogFacts facts = parser::parse_log(run.log).facts;
  EXPECT_TRUE(facts.nccl_trace_seen);
  EXPECT_EQ(facts.nccl.torn_lines, 0);
  // The gradient norm: one a rank and step.
  std::int64_t norms = 0;
  for (const parser::NcclUse& use : facts.nccl.uses) {
    if (use.operation == "AllReduce" && use.datatype == 8 && use.element_count == 1) {
      norms = use.calls;
    }
  }
  EXPECT_EQ(norms, 2 * 5);
  EXPECT_EQ(run.log.find("NCCL INFO", run.log.find("iteration        6/")), std::string::npos);
}

TEST(TrainLoop, ANanEndsTheRunAfterItsLine) {
  const Arguments arguments = tiny_llama({"--virtual-ranks", "2", "--dp", "2", "--steps", "50",
                                          "--global-batch-size", "2", "--learning-rate", "1e30"});
  EXPECT_THROW(run_tiny(arguments), NotANumber);
}

TEST(TrainLoop, ProfilesAWindowOperationByOperation) {
  const TinyRun run = run_tiny(
      tiny_grok({"--virtual-ranks", "2", "--ep", "2", "--steps", "6", "--global-batch-size", "2"}),
      {{"ENABLE_PROFILE", "true"},
       {"RUN_CONF_PROFILE_START_STEP", "2"},
       {"RUN_CONF_PROFILE_STOP_STEP", "4"}});
  EXPECT_THAT(run.log, HasSubstr("profile: steps 2 to 4 (before 4), rank 0"));
  // 4 layers of 1 micro-batch, 2 steps.
  EXPECT_THAT(run.log, testing::ContainsRegex("attention.forward +8 "));
  EXPECT_THAT(run.log, testing::ContainsRegex("router.backward +8 "));
  EXPECT_THAT(run.log, HasSubstr("communication and other"));
  const auto configuration = parser::stated_configuration(parser::parse_log(run.log).facts);
  EXPECT_EQ(configuration.value("profile_enabled"), "true");
  // The parser knows them, and the step that the table is written in.
  std::vector<std::int64_t> profiled;
  for (const parser::StepSample& sample : parser::parse_log(run.log).samples) {
    if (!interruptions_of(sample).empty()) profiled.push_back(sample.iteration);
  }
  EXPECT_THAT(profiled, testing::ElementsAre(2, 3, 4));
}

TEST(TrainLoop, RepeatsToTheBit) {
  const Arguments arguments =
      tiny_nemotron({"--virtual-ranks", "1", "--steps", "3", "--global-batch-size", "2"});
  const auto losses = [&] {
    std::vector<double> all;
    for (const auto& line : json_lines(run_tiny(arguments).phases)) all.push_back(line["loss"]);
    return all;
  };
  EXPECT_EQ(losses(), losses());
}

}  // namespace
}  // namespace llmb::runner
