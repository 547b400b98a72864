#include "parser/layout/experiment_name.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace llmb::parser {
namespace {

struct NameCase {
  std::string name;
  // "key=value" of all that the name says, in the order of the keys.
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const NameCase& c) {
  return out << c.name;
}

std::string describe(const RunConfiguration& configuration) {
  std::string text;
  for (const auto& [key, values] : configuration.all()) {
    if (key == "workload_type") continue;
    text += (text.empty() ? "" : " ") + key + "=" + values.front().value;
    EXPECT_EQ(values.front().source, ConfigSource::experiment_name);
  }
  return text;
}

class ExperimentName : public ::testing::TestWithParam<NameCase> {};

TEST_P(ExperimentName, SaysItsConfiguration) {
  EXPECT_EQ(describe(parse_experiment_name(GetParam().name)), GetParam().expected);
}

const std::vector<NameCase> kKnownNames = {
    {"pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64",
     "context_parallel=1 dtype=fp8_cs expert_parallel=1 global_batch_size=64 gpu_count=128 "
     "micro_batch_size=1 model=llama3.1 model_recipe_name=llama31_405b model_size=405b "
     "pipeline_parallel=1 tensor_parallel=2 virtual_pipeline=none workload=pretrain_llama3.1"},
    {"pretrain_llama3_70b_fp8_mx_gpus512_tp2_pp4_cp1_vp5_ep1_etpNone_mbs1_gbs256",
     "context_parallel=1 dtype=fp8_mx expert_parallel=1 expert_tensor_parallel=none "
     "global_batch_size=256 gpu_count=512 micro_batch_size=1 model=llama3.1 "
     "model_recipe_name=llama3_70b model_size=70b pipeline_parallel=4 tensor_parallel=2 "
     "virtual_pipeline=5 workload=pretrain_llama3.1"},
    {"pretrain_grok1_314b_bf16_gpus256_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs512_nccltrace",
     "context_parallel=1 dtype=bf16 expert_parallel=8 expert_tensor_parallel=4 "
     "global_batch_size=512 gpu_count=256 micro_batch_size=1 model=grok1 "
     "model_recipe_name=grok1_314b model_size=314b nccl_trace_enabled=true pipeline_parallel=1 "
     "tensor_parallel=4 virtual_pipeline=1 workload=pretrain_grok1"},
    {"pretrain_llama4_e128_bf16_gpus512_tp4_pp1_cp1_vp12_ep128_etp4_mbs1_gbs1024",
     "context_parallel=1 dtype=bf16 expert_parallel=128 expert_tensor_parallel=4 "
     "global_batch_size=1024 gpu_count=512 micro_batch_size=1 model=llama4_maverick "
     "model_recipe_name=llama4_e128 model_size=400b pipeline_parallel=1 tensor_parallel=4 "
     "virtual_pipeline=12 workload=pretrain_llama4_maverick"},
    {"pretrain_llama4_e128_fp8_64nodes_tp4_pp1_cp1_vp1_ep128_etp4_1mbs_1024gbs",
     "context_parallel=1 dtype=fp8 expert_parallel=128 expert_tensor_parallel=4 "
     "global_batch_size=1024 micro_batch_size=1 model=llama4_maverick "
     "model_recipe_name=llama4_e128 model_size=400b node_count=64 pipeline_parallel=1 "
     "tensor_parallel=4 virtual_pipeline=1 workload=pretrain_llama4_maverick"},
    // The tables of the documents print names with the job id behind them.
    {"pretrain_llama4_e128_fp8_64nodes_tp4_pp1_cp1_vp1_ep128_etp4_1mbs_1024gbs_2784318",
     "context_parallel=1 dtype=fp8 expert_parallel=128 expert_tensor_parallel=4 "
     "global_batch_size=1024 micro_batch_size=1 model=llama4_maverick "
     "model_recipe_name=llama4_e128 model_size=400b node_count=64 pipeline_parallel=1 "
     "tensor_parallel=4 virtual_pipeline=1 workload=pretrain_llama4_maverick"},
    {"pretrain_grok1_314b_bf16_256_388660",
     "dtype=bf16 gpu_count=256 model=grok1 model_recipe_name=grok1_314b model_size=314b "
     "workload=pretrain_grok1"},
    {"pretrain_nemotron4_15b_bf16_16",
     "dtype=bf16 gpu_count=16 model=nemotron4 model_recipe_name=nemotron4_15b model_size=15b "
     "workload=pretrain_nemotron4"},
    {"pretrain_nemotron4_15b_bf16_16_nsys",
     "dtype=bf16 gpu_count=16 model=nemotron4 model_recipe_name=nemotron4_15b model_size=15b "
     "profile_enabled=true workload=pretrain_nemotron4"},
    {"pretrain_nemotron4_340b_fp8_gpus256_tp8_pp4_cp1_vp12_mbs1_gbs64",
     "context_parallel=1 dtype=fp8 global_batch_size=64 gpu_count=256 micro_batch_size=1 "
     "model=nemotron4 model_recipe_name=nemotron4_340b model_size=340b pipeline_parallel=4 "
     "tensor_parallel=8 virtual_pipeline=12 workload=pretrain_nemotron4"},
    {"pretrain_llama3.1_405b_bf16_128",
     "dtype=bf16 gpu_count=128 model=llama3.1 model_recipe_name=llama3.1_405b model_size=405b "
     "workload=pretrain_llama3.1"},
    {"pretrain_llama3.1_8b_fp8_16_nccltrace",
     "dtype=fp8 gpu_count=16 model=llama3.1 model_recipe_name=llama3.1_8b model_size=8b "
     "nccl_trace_enabled=true workload=pretrain_llama3.1"},
    {"pretraining_llama4_maverick_400b_bf16_128",
     "dtype=bf16 gpu_count=128 model=llama4_maverick model_recipe_name=llama4_maverick_400b "
     "model_size=400b workload=pretrain_llama4_maverick"},
    {"pretrain_qwen3_30b_a3b_nvfp4_gpus64_tp1_pp1_cp1_vpNone_ep8_etpNone_mbs4_gbs512",
     "context_parallel=1 dtype=nvfp4 expert_parallel=8 expert_tensor_parallel=none "
     "global_batch_size=512 gpu_count=64 micro_batch_size=4 model=qwen3 "
     "model_recipe_name=qwen3_30b_a3b model_size=30b pipeline_parallel=1 tensor_parallel=1 "
     "virtual_pipeline=none workload=pretrain_qwen3"},
    {"pretrain_deepseek_v3_fp8_ds_gpus1024",
     "dtype=fp8_ds gpu_count=1024 model=deepseek_v3 model_recipe_name=deepseek_v3 "
     "workload=pretrain_deepseek_v3"},
    {"lora_llama3_70b_bf16_gpus8_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs32",
     "context_parallel=1 dtype=bf16 expert_parallel=1 global_batch_size=32 gpu_count=8 "
     "micro_batch_size=1 model=llama3.1 model_recipe_name=llama3_70b model_size=70b "
     "pipeline_parallel=1 tensor_parallel=2 virtual_pipeline=none workload=lora_llama3.1"},
    // Kubernetes cut this at 33 characters: gpus51 was gpus512, and says nothing.
    {"pretrain_llama3_70b_fp8_mx_gpus51",
     "dtype=fp8_mx model=llama3.1 model_recipe_name=llama3_70b model_size=70b "
     "workload=pretrain_llama3.1"},
};
INSTANTIATE_TEST_SUITE_P(Known, ExperimentName, ::testing::ValuesIn(kKnownNames));

// Names of other makers: the sample tree's, and those of ../shared/logs.
const std::vector<NameCase> kForeignNames = {
    {"gpt3_175b_megatron_lm_gpus64", "gpu_count=64 model_size=175b"},
    {"gpu-recipes-a4-llama3-8b-8gpu-tp1-pp1-cp1-vp1-gbs128-mbs2-fp8-full-logs-3612218",
     "context_parallel=1 dtype=fp8 global_batch_size=128 gpu_count=8 micro_batch_size=2 "
     "model_size=8b pipeline_parallel=1 tensor_parallel=1 virtual_pipeline=1"},
    {"gpu-recipes-a4-qwen2-5-32b-64gpu-sptrue-tp1-pp2-cp1-vp32-gbs512-mbs1-eb9b621",
     "context_parallel=1 global_batch_size=512 gpu_count=64 micro_batch_size=1 model_size=32b "
     "pipeline_parallel=2 tensor_parallel=1 virtual_pipeline=32"},
    {"gpu-recipes-a4-qwen2-5-7b-8gpu-spfalse-tp1-pp1-cp1-vpnull-gbs512-mbs4-a938891",
     "context_parallel=1 global_batch_size=512 gpu_count=8 micro_batch_size=4 model_size=7b "
     "pipeline_parallel=1 tensor_parallel=1"},
    {"gpu-recipes-a4-qwen3-30b-16gpu-tp1-pp1-cp1-vp1-ep8-gbs256-mbs4-c9893b9",
     "context_parallel=1 expert_parallel=8 global_batch_size=256 gpu_count=16 micro_batch_size=4 "
     "model_size=30b pipeline_parallel=1 tensor_parallel=1 virtual_pipeline=1"},
    {"bigscience-meg_gpt2_base_n4-1809579.out", ""},
    {"meg_gpt2_base_n4_dp1_tp4_pp4-1809579", "pipeline_parallel=4 tensor_parallel=4"},
    {"aws-llama3-8b-a", "model_size=8b"},
    {"mixtral_8b_7b_bf16_fp8", ""},
};
INSTANTIATE_TEST_SUITE_P(Foreign, ExperimentName, ::testing::ValuesIn(kForeignNames));

const std::vector<NameCase> kUnknownNames = {
    {"", ""},
    {"_", ""},
    {"my-experiment", ""},
    {"pretrain", ""},
    {"pretrain_", ""},
    {"pretrain__bf16", "dtype=bf16"},
    {"pretrain_bf16_256", "dtype=bf16"},
    {"bf16_fp8_gpus8", "gpu_count=8"},
    {"esm2_8m_finetune_ep10", ""},
    {"slurm-99", ""},
    {"gpus_8gpusx_gpus-1_gpus99999999999999999999", ""},
    {"import_ckpt_exp", ""},
    {"pretrain_llama3.1_405b", "model_size=405b"},
    {std::string("pretrain\0_x_bf16", 16), "dtype=bf16"},
    {"\xff\xfe_\xff", ""},
};
INSTANTIATE_TEST_SUITE_P(Unknown, ExperimentName, ::testing::ValuesIn(kUnknownNames));

TEST(ExperimentNames, NeverTripOverNumbersThatDoNotFit) {
  const auto configuration =
      parse_experiment_name("pretrain_x_8b_bf16_gpus99999999999999999999999_tp_mbs_gbsNone_4tp4");
  EXPECT_FALSE(configuration.value("gpu_count"));
  EXPECT_FALSE(configuration.value("tensor_parallel"));
  EXPECT_EQ(configuration.value("model_size"), "8b");
}

TEST(ExperimentNames, SurviveEveryCutAndEveryChangedByteOfARealName) {
  const std::string name = kKnownNames.front().name;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    parse_experiment_name(std::string_view(name).substr(0, i));
    parse_experiment_name(std::string_view(name).substr(i));
    for (int byte = 0; i < name.size() && byte < 256; ++byte) {
      std::string changed = name;
      changed[i] = static_cast<char>(byte);
      parse_experiment_name(changed);
    }
  }
}

}  // namespace
}  // namespace llmb::parser
