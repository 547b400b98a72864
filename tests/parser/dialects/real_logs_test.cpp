// Every log of the shared collection holds exactly the steps that grep and awk find in it, read in
// place. A log that is added to the collection has to be added here.
#include <gtest/gtest.h>

#include <map>

#include "log_samples.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

struct Expected {
  Dialect dialect = Dialect::unknown;
  std::size_t step_count = 0;
  std::int64_t first_iteration = 0;
  std::int64_t last_iteration = 0;
  std::optional<std::int64_t> declared;
  std::size_t segment_count = 1;
};

const std::map<std::string, Expected>& expectations() {
  const Expected none{Dialect::unknown, 0, 0, 0, {}, 0};
  static const std::map<std::string, Expected> table = {
      {"checkpoint/dgxc-v25.04-llama3.1-README-329.log", none},
      {"checkpoint/gpu-recipes-fixture-nemo2-nemo1.log", none},
      {"failures/aws-nxd-slurm-cancel.log", {Dialect::neuronx, 3, 28, 30, {}}},
      {"failures/desispec-task-failure.log", none},
      {"failures/dgxc-v25.07-llama4-README-395.log", none},
      {"failures/stas-nccl-watchdog-2999.log", none},
      {"failures/stas-oom-636.log", none},
      {"maxtext/maxtext-docs-10step.log", {Dialect::maxtext, 10, 0, 9, {}}},
      {"megatron_bridge/cloudai-test_report_gen_strategy-megatron_bridge-1.log",
       {Dialect::megatron_bridge, 1, 50, 50, 50}},
      {"megatron_bridge/dgxc-v26.02-llama3.1-README-476.log", {Dialect::megatron_lm, 1, 1, 1, 1}},
      {"megatron_bridge/dsv3-16l-steptime-only-20it.log",
       {Dialect::megatron_bridge, 20, 1, 20, {}}},
      {"megatron_bridge/mbridge-notebook-1.log", {Dialect::megatron_bridge, 1, 1, 1, {}}},
      {"megatron_bridge/mbridge-notebook-5.log", none},
      {"megatron_lm/aws-gpt3-srun-label.log", {Dialect::megatron_lm, 3, 25, 27, 73242187}},
      {"megatron_lm/bigscience-meg_gpt2_base_n4-1809579.out.log",
       {Dialect::megatron_lm, 20, 10, 200, 1000}},
      {"megatron_lm/cloudai-test_report_gen_strategy-megatron_run-1.log",
       {Dialect::megatron_lm, 3, 5, 7, 100}},
      {"nccl/aws-slurm-104-nccl-tests-label.log", none},
      {"nccl/dgxc-v25.05-deepseek_v3-README-299.log", none},
      {"nccl/nccl-issue584-send-recv.log", none},
      {"nccl/torchtitan-issue1369-tp-collectives.log", none},
      {"nemo2_progress/aws-nemo2-skypilot-a.log", {Dialect::nemo, 2, 19, 29, 999}},
      {"nemo2_progress/bionemo-fine-tuning-tutorial-18e29a2-c12-it50of50.log",
       {Dialect::nemo, 50, 0, 49, 49}},
      {"nemo2_progress/bionemo-fine-tuning-tutorial-c58cd08-c12-it100of100.log",
       {Dialect::nemo, 100, 0, 99, 99}},
      {"nemo2_progress/bionemo-finetune-a7aa41d-c40-it50of50.log", {Dialect::nemo, 50, 0, 49, 49}},
      {"nemo2_progress/bionemo-geneformer_cellxgene_tutorial-1bd1c83-c12-it500of500.log",
       {Dialect::nemo, 500, 0, 499, 499}},
      {"nemo2_progress/cloudai-test_report_gen_strategy-nemo_run-1.log",
       {Dialect::nemo, 12, 17, 28, 99}},
      {"nemo2_progress/dgxc-v25.04-nemotron-README-35.log", {Dialect::nemo, 1, 49, 49, 49}},
      {"nemo2_progress/nemo-issue14850-qwen3-30b-srunlabel.log", {Dialect::nemo, 5, 8, 12, 29}},
      {"nemo2_progress/nemo-resiliency-in-pretraining-demo-05bcc4f-c14-it20of20.log",
       {Dialect::nemo, 20, 0, 19, 19}},
      {"nemo2_progress/nemo-resiliency-in-pretraining-demo-118c1d8-c22-it26of20.log",
       {Dialect::nemo, 26, 0, 19, 19, 2}},
      {"nemo_tqdm/dgxc-v24.11.1-grok1-README_314b-29.log",
       {Dialect::nemo_progress_bar, 1, 49, 49, 49}},
      {"nemo_tqdm/gpu-recipes-a4-llama3-8b-8gpu-tp1-pp1-cp1-vp1-gbs128-mbs2-fp8-full-logs-3612218."
       "log",
       {Dialect::nemo_progress_bar, 20, 0, 19, 19}},
      {"nemo_tqdm/gpu-recipes-a4-qwen2-5-32b-64gpu-sptrue-tp1-pp2-cp1-vp32-gbs512-mbs1-eb9b621.log",
       {Dialect::nemo_progress_bar, 20, 0, 19, 19}},
      {"nemo_tqdm/"
       "gpu-recipes-a4-qwen2-5-7b-8gpu-spfalse-tp1-pp1-cp1-vpnull-gbs512-mbs4-a938891.log",
       {Dialect::nemo_progress_bar, 20, 0, 19, 19}},
      {"nemo_tqdm/gpu-recipes-a4-qwen3-30b-16gpu-tp1-pp1-cp1-vp1-ep8-gbs256-mbs4-c9893b9.log",
       {Dialect::nemo_progress_bar, 20, 0, 19, 19}},
      {"torchtitan/aws-llama3-8b-a.log", {Dialect::torchtitan, 1, 1990, 1990, {}}},
  };
  return table;
}

class RealLogs : public testing::Test {
 protected:
  void SetUp() override {
    if (shared_logs().empty()) {
      GTEST_SKIP() << "the shared collection of logs is not on this machine (LLMB_SHARED_DIR)";
    }
  }

  static ParsedLog parse(const std::string& name) {
    return parse_log(read_file(shared_logs() / name));
  }

  static const StepSample& step(const ParsedLog& log, std::int64_t iteration,
                                std::int32_t segment = 0) {
    for (const StepSample& sample : log.samples) {
      if (sample.iteration == iteration && sample.segment == segment) return sample;
    }
    throw std::runtime_error("no step " + std::to_string(iteration));
  }
};

TEST_F(RealLogs, HoldExactlyTheirSteps) {
  std::size_t seen = 0;
  for (const auto& path : all_shared_logs()) {
    const std::string name = std::filesystem::relative(path, shared_logs()).string();
    SCOPED_TRACE(name);
    const auto found = expectations().find(name);
    ASSERT_NE(found, expectations().end()) << "no expectation for this log";
    ++seen;
    const Expected& expected = found->second;
    const ParsedLog log = parse_log(read_file(path));
    EXPECT_EQ(dialect_name(log.facts.dialect), dialect_name(expected.dialect));
    EXPECT_EQ(log.samples.size(), expected.step_count);
    EXPECT_EQ(log.facts.declared_last_iteration, expected.declared);
    EXPECT_EQ(log.facts.segments.size(), expected.segment_count);
    // Whoever copied it cut its last line before the step time.
    const bool is_cut = name.ends_with("nemo-issue14850-qwen3-30b-srunlabel.log");
    EXPECT_EQ(log.facts.lines_not_understood, is_cut ? 1 : 0);
    EXPECT_EQ(log.facts.bytes_read, std::filesystem::file_size(path));
    if (log.samples.empty()) continue;
    EXPECT_EQ(log.samples.front().iteration, expected.first_iteration);
    EXPECT_EQ(log.samples.back().iteration, expected.last_iteration);
  }
  EXPECT_EQ(seen, expectations().size());
}

// The values below were read off the logs by eye and grep.

TEST_F(RealLogs, NemoRestartWithinTheJobIsTwoSegments) {
  const ParsedLog log =
      parse("nemo2_progress/nemo-resiliency-in-pretraining-demo-118c1d8-c22-it26of20.log");
  ASSERT_EQ(log.facts.segments.size(), 2U);
  EXPECT_EQ(log.facts.segments[0].first_iteration, 0);
  EXPECT_EQ(log.facts.segments[0].last_iteration, 15);
  EXPECT_EQ(log.facts.segments[0].step_count, 16);
  EXPECT_EQ(log.facts.segments[1].first_iteration, 10);
  EXPECT_EQ(log.facts.segments[1].last_iteration, 19);
  EXPECT_EQ(log.facts.segments[1].step_count, 10);
  EXPECT_EQ(step(log, 10, 0).step_time_s, 7.589);
  EXPECT_EQ(step(log, 10, 1).step_time_s, 10.26);
  EXPECT_EQ(step(log, 10, 1).consumed_samples, 5632);
  EXPECT_EQ(log.facts.events.back().cause, "max_steps_reached");
  EXPECT_EQ(log.facts.events.back().steps_before, 26);
}

TEST_F(RealLogs, NemoSecondEpochGoesOn) {
  const ParsedLog log =
      parse("nemo2_progress/nemo-resiliency-in-pretraining-demo-05bcc4f-c14-it20of20.log");
  EXPECT_EQ(step(log, 18).epoch, 0);
  EXPECT_EQ(step(log, 19).epoch, 1);
  EXPECT_EQ(step(log, 19).step_time_s, 17.32);
  const ParsedLog sky = parse("nemo2_progress/aws-nemo2-skypilot-a.log");
  EXPECT_EQ(step(sky, 29).step_time_s, 46.84);
  EXPECT_EQ(step(sky, 29).global_step, 29);
}

TEST_F(RealLogs, NemoValues) {
  const ParsedLog label = parse("nemo2_progress/nemo-issue14850-qwen3-30b-srunlabel.log");
  EXPECT_EQ(step(label, 8).tflops_per_gpu, 48.58);
  EXPECT_EQ(step(label, 11).tflops_per_gpu, 85.8);
  EXPECT_EQ(step(label, 11).memory_bytes_max, 57675874304);
  EXPECT_EQ(step(label, 11).memory_bytes_allocated, 53930270720);
  EXPECT_EQ(step(label, 12).step_time_s, std::nullopt);  // the log is cut there
  const ParsedLog peak = parse("nemo2_progress/dgxc-v25.04-nemotron-README-35.log");
  EXPECT_EQ(step(peak, 49).memory_bytes_max, 72972500992);
  EXPECT_EQ(step(peak, 49).step_time_s, 2.693);
  const ParsedLog tutorial =
      parse("nemo2_progress/bionemo-fine-tuning-tutorial-18e29a2-c12-it50of50.log");
  // awk's sum over all 50 lines.
  double sum_s = 0;
  for (const StepSample& sample : tutorial.samples) sum_s += sample.step_time_s.value();
  EXPECT_NEAR(sum_s, 176.934, 1e-9);
  EXPECT_EQ(step(tutorial, 49).extra_fields.at(0), std::pair(std::string("val_loss"), 0.8311));
}

TEST_F(RealLogs, ProgressBarValues) {
  const ParsedLog log = parse(
      "nemo_tqdm/gpu-recipes-a4-llama3-8b-8gpu-tp1-pp1-cp1-vp1-gbs128-mbs2-fp8-full-logs-3612218."
      "log");
  EXPECT_EQ(log.facts.reported_tflops_per_gpu, 1753.06);
  EXPECT_EQ(step(log, 0).step_time_s, 21.367358684539795);
  EXPECT_EQ(step(log, 19).step_time_s, 4.32860221862793);
  EXPECT_EQ(step(log, 19).grad_norm, 28.077587127685547);
  EXPECT_EQ(step(log, 19).learning_rate, 1.4250000504034688e-06);
  EXPECT_EQ(step(log, 19).logged_at, "2025-06-12T00:03:35.740568");
  double sum_s = 0;
  for (const StepSample& sample : log.samples) sum_s += sample.step_time_s.value();
  EXPECT_NEAR(sum_s, 125.331599875291, 1e-9);
  const ParsedLog bar = parse("nemo_tqdm/dgxc-v24.11.1-grok1-README_314b-29.log");
  EXPECT_EQ(step(bar, 49).step_time_s, 24.0);
  EXPECT_EQ(step(bar, 49).consumed_samples, 51200);
  const ParsedLog unknown =
      parse("nemo_tqdm/gpu-recipes-a4-qwen3-30b-16gpu-tp1-pp1-cp1-vp1-ep8-gbs256-mbs4-c9893b9.log");
  EXPECT_EQ(unknown.facts.reported_tflops_per_gpu, std::nullopt);
}

TEST_F(RealLogs, MegatronValues) {
  const ParsedLog old = parse("megatron_lm/bigscience-meg_gpt2_base_n4-1809579.out.log");
  EXPECT_EQ(step(old, 10).skipped_iterations, 10);
  EXPECT_EQ(step(old, 10).loss, std::nullopt);
  EXPECT_EQ(step(old, 200).loss, 7.365868);
  double sum_s = 0;
  for (const StepSample& sample : old.samples) sum_s += sample.step_time_s.value();
  EXPECT_NEAR(sum_s, 28.5369, 1e-9);
  EXPECT_EQ(old.facts.events.at(0).cause, "cancelled");
  const ParsedLog run = parse("megatron_lm/cloudai-test_report_gen_strategy-megatron_run-1.log");
  EXPECT_EQ(step(run, 7).tflops_per_gpu, 500.6);
  EXPECT_EQ(step(run, 7).params_norm, 8660.605);
  EXPECT_EQ(step(run, 7).logged_at, "2026-01-16T07:32:54");
  const ParsedLog broken =
      parse("megatron_bridge/cloudai-test_report_gen_strategy-megatron_bridge-1.log");
  EXPECT_EQ(step(broken, 50).tflops_per_gpu, 663.5);
  EXPECT_EQ(step(broken, 50).step_time_s, 9.089);
  EXPECT_EQ(step(broken, 50).grad_norm, 0.042);
  EXPECT_EQ(step(broken, 50).nan_iterations, 0);
  const ParsedLog alone = parse("megatron_bridge/dsv3-16l-steptime-only-20it.log");
  EXPECT_EQ(step(alone, 4).step_time_s, 10.69);
  EXPECT_EQ(step(alone, 8).tflops_per_gpu, 1179.6);
  EXPECT_FALSE(step(alone, 20).iteration_is_logged);
}

TEST_F(RealLogs, OtherDialectsValues) {
  const ParsedLog maxtext = parse("maxtext/maxtext-docs-10step.log");
  EXPECT_EQ(step(maxtext, 1).tflops_per_gpu, 2400.734);
  EXPECT_EQ(step(maxtext, 9).step_time_s, 5.667);
  const ParsedLog titan = parse("torchtitan/aws-llama3-8b-a.log");
  EXPECT_EQ(step(titan, 1990).extra_fields.at(0), std::pair(std::string("tps"), 6785.0));
  const ParsedLog neuronx = parse("failures/aws-nxd-slurm-cancel.log");
  EXPECT_EQ(step(neuronx, 29).step_time_s, 6.021969318389893);
  EXPECT_EQ(step(neuronx, 29).grad_norm, 17.25);
}

TEST_F(RealLogs, FailuresAreNamed) {
  const auto causes = [&](const std::string& name) {
    std::vector<std::string> result;
    for (const LogEvent& event : parse(name).facts.events) result.push_back(event.cause);
    return result;
  };
  using Causes = std::vector<std::string>;
  EXPECT_EQ(causes("failures/aws-nxd-slurm-cancel.log"),
            (Causes{"segmentation_fault", "task_exited", "cancelled"}));
  EXPECT_EQ(causes("failures/desispec-task-failure.log"),
            (Causes{"task_failure", "task_killed", "time_limit"}));
  EXPECT_EQ(causes("failures/dgxc-v25.07-llama4-README-395.log"), Causes{"time_limit"});
  EXPECT_EQ(causes("failures/stas-nccl-watchdog-2999.log"), Causes{"nccl_timeout"});
  EXPECT_EQ(causes("failures/stas-oom-636.log"), Causes{"cuda_oom"});
}

TEST_F(RealLogs, FirstCausesAreFound) {
  const auto cause = [&](const std::string& name) {
    const ParsedLog log = parse(name);
    return summarize_run(log.samples, log.facts, {11, 44}, false).failure_cause;
  };
  EXPECT_EQ(cause("failures/aws-nxd-slurm-cancel.log"), "segmentation_fault");
  EXPECT_EQ(cause("failures/desispec-task-failure.log"), "time_limit");
  EXPECT_EQ(cause("failures/dgxc-v25.07-llama4-README-395.log"), "time_limit");
  EXPECT_EQ(cause("failures/stas-nccl-watchdog-2999.log"), "nccl_timeout");
  EXPECT_EQ(cause("failures/stas-oom-636.log"), "cuda_oom");
  const auto timeout = parse("failures/stas-nccl-watchdog-2999.log").facts.events.at(0);
  EXPECT_EQ(timeout.rank, 0);
  EXPECT_EQ(timeout.operation, "ALLREDUCE");
}

TEST_F(RealLogs, NcclTracesAreSeen) {
  EXPECT_TRUE(parse("nccl/dgxc-v25.05-deepseek_v3-README-299.log").facts.nccl_trace_seen);
  EXPECT_TRUE(parse("nccl/nccl-issue584-send-recv.log").facts.nccl_trace_seen);
  EXPECT_TRUE(parse("nccl/torchtitan-issue1369-tp-collectives.log").facts.nccl_trace_seen);
  EXPECT_FALSE(parse("nccl/aws-slurm-104-nccl-tests-label.log").facts.nccl_trace_seen);
}

}  // namespace
}  // namespace llmb::parser
