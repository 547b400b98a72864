// A database of many runs for the benchmarks of the API: made-up figures in real rows.
#pragma once

#include <array>
#include <cstdint>

#include "storage/database.h"

namespace llmb::bench {

inline constexpr std::array kExperiments = {
    "pretrain_grok1_314b_fp8_gpus128_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs256",
    "pretrain_grok1_314b_bf16_gpus256_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs512",
    "pretrain_grok1_314b_fp8_gpus512_tp4_pp8_cp2_vp8_ep8_etp1_mbs1_gbs1024",
    "pretrain_nemotron4_15b_bf16_gpus16_tp2_pp1_cp1_vp1_mbs2_gbs64",
    "pretrain_nemotron4_15b_bf16_gpus32_tp2_pp1_cp1_vp1_mbs2_gbs128",
    "pretrain_nemotron4_15b_bf16_gpus64_tp2_pp1_cp1_vp1_mbs2_gbs256",
    "pretrain_nemotron4_340b_fp8_gpus256_tp8_pp8_cp1_vp12_mbs1_gbs64",
    "pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vp1_mbs1_gbs64",
    "pretrain_llama3_70b_fp8_cs_gpus64_tp1_pp1_cp1_vp1_mbs1_gbs128",
    "pretrain_llama3_8b_fp8_cs_gpus8_tp1_pp1_cp1_vp1_mbs4_gbs128",
    "pretrain_llama4_e128_fp8_gpus512_tp4_pp1_cp1_vp1_ep128_etp4_mbs1_gbs1024",
    "pretrain_qwen3_30b_a3b_bf16_gpus64_tp1_pp1_cp1_vp1_mbs1_gbs512",
};

storage::RootId root_of_many_runs(storage::Writer& writer);

// Run i, from 1 on, is of kExperiments[i % kExperiments.size()], with the Slurm job 4,000,000 + i.
// Prints how long the writing took.
void write_many_runs(storage::Writer& writer, int runs, std::int64_t steps_per_run);

// Writes a run of these anew, with other times of its steps for each `attempt`; 0: those it had.
void write_run_again(storage::Writer& writer, storage::RootId root, int run,
                     std::int64_t steps_per_run, int attempt);

}  // namespace llmb::bench
