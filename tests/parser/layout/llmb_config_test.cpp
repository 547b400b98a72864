#include "parser/layout/llmb_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace llmb::parser {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kConfig = R"(job_info:
  job_id: '388660'
  launch_time: '2025-12-22T15:18:33.123456'
  experiment_id: null
workload_info:
  framework: megatron_bridge
  gsw_version: '25.10'
  fw_version: 25.09.00
  workload_type: pretrain
  synthetic_dataset: true
model_info:
  model_name: llama3.1
  model_size: 405b
  dtype: fp8
  scale: 128
  gpu_type: gb200
cluster_info:
  cluster_name: eos
  gpus_per_node: 4
  slurm_account: acct
container_info:
  images:
  - nvidia+nemo+25.09.00.sqsh
  - other.sqsh
job_config:
  profile_enabled: false
  strong_scaling: True
  env_overrides:
    NCCL_DEBUG: INFO
    HF_TOKEN: hf_very_secret
  model_overrides: {}
)";

TEST(LlmbConfig, SaysWhatTheLauncherWrote) {
  const auto config = parse_llmb_config(kConfig);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->job_id, 388660);
  EXPECT_FALSE(config->configuration.value("job_info.launch_time"));
  const RunConfiguration& values = config->configuration;
  EXPECT_EQ(values.get("workload"), (ConfigValue{"pretrain_llama3.1", ConfigSource::llmb_config}));
  EXPECT_EQ(values.value("framework"), "megatron_bridge");
  EXPECT_EQ(values.value("release"), "25.10");
  EXPECT_EQ(values.value("framework_version"), "25.09.00");
  EXPECT_EQ(values.value("model_size"), "405b");
  EXPECT_EQ(values.value("dtype"), "fp8");
  EXPECT_EQ(values.value("gpu_count"), "128");
  EXPECT_EQ(values.value("gpu_type"), "gb200");
  EXPECT_EQ(values.value("cluster"), "eos");
  EXPECT_EQ(values.value("gpus_per_node"), "4");
  EXPECT_EQ(values.value("slurm_account"), "acct");
  EXPECT_EQ(values.value("profile_enabled"), "false");
  EXPECT_EQ(values.value("strong_scaling"), "true");
  EXPECT_EQ(values.value("container_images"), "nvidia+nemo+25.09.00.sqsh, other.sqsh");
  EXPECT_EQ(values.value("job_config.env_overrides.NCCL_DEBUG"), "INFO");
  EXPECT_FALSE(values.value("job_info.experiment_id"));
}

// What a table states has its key, whoever spelled it; other things keep their names.
TEST(LlmbConfig, KnowsWhatIsOverriddenOfTheModel) {
  const auto config = parse_llmb_config(R"(job_config:
  model_overrides:
    num-layers: 32
    hidden-size: 64
    model: {seq_length: 4096}
    tensor_model_parallel_size: 2
)");
  ASSERT_TRUE(config) << config.error().message;
  const RunConfiguration& values = config->configuration;
  EXPECT_EQ(values.value("layer_count"), "32");
  EXPECT_EQ(values.value("sequence_length"), "4096");
  EXPECT_EQ(values.value("tensor_parallel"), "2");
  EXPECT_EQ(values.value("job_config.model_overrides.hidden-size"), "64");
}

TEST(LlmbConfig, ReadsOverriddenFiguresInAnySpelling) {
  const auto with = [](const std::string& overrides, const std::string& dtype = "fp8") {
    const auto config = parse_llmb_config("job_config: {model_overrides: {" + overrides +
                                          "}}\nmodel_info: {scale: 128, dtype: " + dtype + "}\n");
    EXPECT_TRUE(config) << overrides;
    return config ? config->configuration : RunConfiguration();
  };
  for (const char* const spelled : {"64", "'64.0'", "6.4e1", "+64", "6_4"}) {
    EXPECT_EQ(with(std::string("num_layers: ") + spelled).value("layer_count"), "64") << spelled;
  }
  EXPECT_EQ(with("num_layers: 64.5").value("layer_count"), "64.5");
  EXPECT_EQ(with("vp: None").value("virtual_pipeline"), "None");
  // Before the section that they override, and whatever that says.
  EXPECT_EQ(with("num_gpus: 256.0").value("gpu_count"), "256");
  EXPECT_EQ(with("num_gpus: all").value("gpu_count"), "128");
  EXPECT_EQ(with("num_gpus: all").value("job_config.model_overrides.num_gpus"), "all");
  for (const char* const spelled : {"dtype: BF16", "precision: bf16", "dtype: torch.bfloat16"}) {
    EXPECT_EQ(with(spelled).value("dtype"), "bf16") << spelled;
  }
  EXPECT_EQ(with("dtype: fp8", "fp8_cs").value("dtype"), "fp8_cs");
  EXPECT_EQ(with("dtype: FP8-MX").value("dtype"), "fp8_mx");
  const RunConfiguration as_stated = with("precision: bf16-mixed", "bf16");
  EXPECT_EQ(as_stated.value("dtype"), "bf16");
  EXPECT_FALSE(as_stated.value("job_config.model_overrides.precision"));
  const RunConfiguration mixed = with("precision: bf16-mixed");
  EXPECT_EQ(mixed.value("dtype"), "fp8");
  EXPECT_EQ(mixed.value("job_config.model_overrides.precision"), "bf16-mixed");
}

TEST(LlmbConfig, KeepsNoCredentials) {
  const auto config = parse_llmb_config(kConfig);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->configuration.value("job_config.env_overrides.HF_TOKEN"), "(hidden)");
}

TEST(LlmbConfig, HidesSecretsWhereverTheyStand) {
  const auto config = parse_llmb_config(R"(job_info: {job_id: 12}
env_vars: [HF_TOKEN=hf_x, NCCL_DEBUG=INFO]
container_env: 'ALL,HF_TOKEN=hf_x,wandb-api-key="a b" max_tokens=4096 PASSWORD=a,b TOKENIZER=t'
tokens: [abc]
secrets: {hf: abc, deep: {er: [x, y]}}
HFTOKEN: hf_x
hf_token_2: 12
)");
  ASSERT_TRUE(config) << config.error().message;
  const RunConfiguration& values = config->configuration;
  EXPECT_EQ(values.value("env_vars"), "HF_TOKEN=(hidden), NCCL_DEBUG=INFO");
  EXPECT_EQ(values.value("container_env"),
            "ALL,HF_TOKEN=(hidden),wandb-api-key=(hidden) max_tokens=4096 PASSWORD=(hidden) "
            "TOKENIZER=t");
  for (const char* key : {"tokens", "secrets.hf", "HFTOKEN", "hf_token_2"}) {
    EXPECT_EQ(values.value(key), "(hidden)") << key;
  }
  EXPECT_EQ(values.value("secrets.deep.er"), "(hidden), (hidden)");
  EXPECT_TRUE(parse_llmb_config("job_info: {}\ntoken: " + std::string(5000, 'x') + "\n"));
}

TEST(LlmbConfig, ShowsTokenizersAndCountsOfTokens) {
  const auto config = parse_llmb_config(
      "job_info: {job_id: 12}\njob_config: {TOKENIZERS_PARALLELISM: 'false', tokenizer: x,\n"
      "  tokens_per_step: 8192, max_tokens: 1e12, seq_tokens: [4096, 8192]}\n");
  ASSERT_TRUE(config) << config.error().message;
  const RunConfiguration& values = config->configuration;
  EXPECT_EQ(values.value("job_config.TOKENIZERS_PARALLELISM"), "false");
  EXPECT_EQ(values.value("job_config.tokenizer"), "x");
  EXPECT_EQ(values.value("job_config.tokens_per_step"), "8192");
  EXPECT_EQ(values.value("job_config.max_tokens"), "1e12");
  EXPECT_EQ(values.value("job_config.seq_tokens"), "4096, 8192");
}

TEST(LlmbConfig, TakesTheShorterFormOfTheDocuments) {
  const auto config = parse_llmb_config(
      "job_info: {job_id: 12}\nmodel_info: {model_name: grok1, gpus: 3}\nextra: {deep: {er: x}}\n"
      "cluster_info: {gpus_per_node: ''}\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->job_id, 12);
  EXPECT_EQ(config->configuration.value("model"), "grok1");
  EXPECT_EQ(config->configuration.value("model_info.gpus"), "3");
  EXPECT_EQ(config->configuration.value("extra.deep.er"), "x");
  EXPECT_FALSE(config->configuration.value("gpus_per_node"));
  EXPECT_FALSE(config->configuration.value("workload"));
}

TEST(LlmbConfig, NamesTheLineOfWhatItCannotRead) {
  const auto message = [](std::string_view text) {
    const auto config = parse_llmb_config(text);
    return config ? std::string("read") : config.error().message;
  };
  EXPECT_THAT(message("job_info:\n  job_id: [1\n"), HasSubstr("line"));
  EXPECT_THAT(message("job_info: {}\nmodel_info: 7\n"), HasSubstr("model_info at line 2"));
  EXPECT_THAT(message("job_info: {}\nx:\n- [1, 2]\n"), HasSubstr("x at line 3"));
  EXPECT_THAT(message("- a\n- b\n"), HasSubstr("not a map"));
  EXPECT_THAT(message(""), HasSubstr("not a map"));
  EXPECT_THAT(message("a: b\n"), HasSubstr("none of the sections"));
  EXPECT_THAT(message(std::string((1U << 20U) + 1, 'a')), HasSubstr("1 MiB"));
}

TEST(LlmbConfig, RefusesBombs) {
  EXPECT_FALSE(parse_llmb_config("job_info: " + std::string(200'000, '[')));
  EXPECT_FALSE(parse_llmb_config("job_info: " + std::string(200'000, '{')));
  std::string laughs = "job_info: {}\na0: &a0 {x: y}\n";
  for (int i = 1; i < 30; ++i) {
    const std::string previous = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {l: " + previous +
              ", r: " + previous + "}\n";
  }
  EXPECT_FALSE(parse_llmb_config(laughs));
}

TEST(LlmbConfig, SurvivesEveryCutAndRandomBytes) {
  for (std::size_t i = 0; i <= kConfig.size(); ++i) {
    parse_llmb_config(kConfig.substr(0, i));
    std::string changed(kConfig);
    if (i < changed.size()) changed[i] = static_cast<char>(i * 37);
    parse_llmb_config(changed);
  }
}

}  // namespace
}  // namespace llmb::parser
