// Every log of the shared collection holds exactly the steps that grep and awk find in it, read in
// place. A log that is added to the collection has to be added here.
#include <gtest/gtest.h>

#include <map>

#include "log_samples.h"

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
    EXPECT_EQ(log.facts.lines_not_understood, 0);
    EXPECT_EQ(log.facts.bytes_read, std::filesystem::file_size(path));
    if (log.samples.empty()) continue;
    EXPECT_EQ(log.samples.front().iteration, expected.first_iteration);
    EXPECT_EQ(log.samples.back().iteration, expected.last_iteration);
  }
  EXPECT_EQ(seen, expectations().size());
}

}  // namespace
}  // namespace llmb::parser
