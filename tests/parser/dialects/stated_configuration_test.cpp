#include "parser/dialects/stated_configuration.h"

#include <gtest/gtest.h>

#include <map>

#include "log_samples.h"

namespace llmb::parser {
namespace {

std::string describe(const LogFacts& facts) {
  std::string text;
  for (const StatedValue& value : facts.stated) {
    text += (text.empty() ? "" : " ") + value.key + "=" + value.value;
  }
  return text;
}
std::string stated_by(const std::string& text) {
  return describe(parse_log(text).facts);
}

// As configure.sh of grok1, release 25.01, prints it.
TEST(StatedConfiguration, IsWhatTheLauncherEchoes) {
  const std::string line =
      "GSW: MODEL=grok1 FRAMEWORK=nemo MODEL_SIZE=314b JOB_NUM_NODES=64 GPUS_PER_NODE=8 DTYPE=fp8 "
      "SYNTHETIC_DATA=True GSW_VERSION=25.01 IMAGE=/lustre/nvidia+nemo+dev.sqsh FW_VERSION=24.09 "
      "JOB_ID=4155437 JOB_MODE=training BASE_CONFIG= model.global_batch_size=1024 MODEL=x";
  const std::string expected =
      "model=grok1 workload=grok1 framework=nemo model_size=314b node_count=64 gpus_per_node=8 "
      "dtype=fp8 release=25.01 framework_version=24.09";
  EXPECT_EQ(stated_by(line + "\n"), expected);
  EXPECT_EQ(stated_by("0: " + line + "\r\n" + line), expected);
}

TEST(StatedConfiguration, KeepsTheFirstOfEachKeyAndItsSource) {
  const ParsedLog log = parse_log(
      "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/512\n"
      "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/256\n"
      "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-f07d0061)\n");
  EXPECT_EQ(describe(log.facts), "gpu_count=512 gpu_type=h100");
  const RunConfiguration configuration = stated_configuration(log.facts);
  EXPECT_EQ(configuration.get("gpu_count"), (ConfigValue{"512", ConfigSource::log_content}));
}

TEST(StatedConfiguration, ReadsMegatronsWorldSize) {
  EXPECT_EQ(stated_by("using world size: 64, data-parallel size: 8, context-parallel size: 2, "
                      "hierarchical context-parallel sizes: None, tensor-model-parallel size: 4, "
                      "pipeline-model-parallel size: 1\n"),
            "gpu_count=64 tensor_parallel=4 pipeline_parallel=1 context_parallel=2");
}

TEST(StatedConfiguration, ClaimsNothingOfLinesThatOnlyLookLikeIt) {
  EXPECT_EQ(stated_by("GSW: MODEL=${MODEL} FRAMEWORK=\"\" MODEL_SIZE= DTYPE\n"), "");
  EXPECT_EQ(stated_by("GPU 0: NVIDIA GeForce RTX 4090 (UUID: B200)\n"), "");
  EXPECT_EQ(stated_by("MEMBER: 1/0\nMEMBER: 1/x\nMEMBER: 1/-8\nMEMBER: 1/\n"), "");
  EXPECT_EQ(stated_by("using world size: , tensor-model-parallel size: 99999999999999999999\n"),
            "");
}

TEST(StatedConfiguration, SurvivesARestartOfTheReader) {
  const std::string text = "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/512\nmore\n";
  LogReader reader;
  reader.feed(text);
  auto restored = LogReader::restore(reader.save_state());
  ASSERT_TRUE(restored);
  EXPECT_EQ(describe(restored->facts()), "gpu_count=512");
}

// What the lines of the collection state, by hand; all its other logs state nothing.
TEST(StatedConfiguration, OfTheSharedLogsIsWhatTheySay) {
  const auto logs = all_shared_logs();
  if (logs.empty()) GTEST_SKIP() << "this machine has no collection of real logs";
  const std::map<std::string, std::string> expected = {
      {"bigscience-meg_gpt2_base_n4-1809579.out.log",
       "gpu_count=16 tensor_parallel=4 pipeline_parallel=4"},
      {"bionemo-geneformer_cellxgene_tutorial-1bd1c83-c12-it500of500.log", "gpu_count=1"},
      {"nemo-resiliency-in-pretraining-demo-05bcc4f-c14-it20of20.log", "gpu_count=8"},
      {"nemo-resiliency-in-pretraining-demo-118c1d8-c22-it26of20.log", "gpu_count=8"},
      {"gpu-recipes-a4-llama3-8b-8gpu-tp1-pp1-cp1-vp1-gbs128-mbs2-fp8-full-logs-3612218.log",
       "gpu_type=b200 gpu_count=8"},
      {"gpu-recipes-a4-qwen2-5-32b-64gpu-sptrue-tp1-pp2-cp1-vp32-gbs512-mbs1-eb9b621.log",
       "gpu_type=b200 gpu_count=64"},
      {"gpu-recipes-a4-qwen2-5-7b-8gpu-spfalse-tp1-pp1-cp1-vpnull-gbs512-mbs4-a938891.log",
       "gpu_type=b200 gpu_count=8"},
      {"gpu-recipes-a4-qwen3-30b-16gpu-tp1-pp1-cp1-vp1-ep8-gbs256-mbs4-c9893b9.log",
       "gpu_type=b200 gpu_count=16"},
  };
  for (const auto& path : logs) {
    const auto entry = expected.find(path.filename().string());
    EXPECT_EQ(stated_by(read_file(path)), entry == expected.end() ? "" : entry->second) << path;
  }
}

}  // namespace
}  // namespace llmb::parser
