#include "server/sample/sample_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmb::sample {
namespace {

constexpr std::int64_t kStepCount = 50;

// Uniform in [-1, 1), the same for the same key on every machine (SplitMix64's finalizer).
double noise(std::uint64_t key) {
  key += 0x9E3779B97F4A7C15ULL;
  key = (key ^ (key >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  key = (key ^ (key >> 27U)) * 0x94D049BB133111EBULL;
  key ^= key >> 31U;
  return static_cast<double>(key >> 11U) * 0x1p-52 - 1.0;
}

std::string crash_text(const SampleRun& run) {
  const std::string job = std::to_string(run.job_id);
  switch (run.trouble) {
    case Trouble::out_of_memory_at_start:
      return "[rank3]: Traceback (most recent call last):\n"
             "[rank3]:   File \"train.py\", line 212, in <module>\n"
             "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.31 GiB. GPU "
             "3 has a total capacity of 79.11 GiB of which 1.02 GiB is free.\n"
             "srun: error: node0007: task 3: Exited with exit code 1\n";
    case Trouble::time_limit:
    case Trouble::time_limit_teardown:
      return "slurmstepd: error: *** STEP " + job +
             ".0 ON node0001 CANCELLED AT 2025-12-22T11:58:06 DUE TO TIME LIMIT ***\n";
    case Trouble::node_failure:
      return "slurmstepd: error: *** JOB " + job +
             " ON node0001 CANCELLED AT 2025-12-22T10:02:44 DUE TO NODE FAILURE ***\n";
    case Trouble::restart_inside:
      return "[rank5]: Traceback (most recent call last):\n"
             "[rank5]: RuntimeError: NCCL communicator was aborted on rank 5.\n"
             "[2025-12-22 09:31:12,036] [WARNING] Worker group FAILED. 3/3 attempts left; will "
             "restart worker group\n";
    default:
      return "";
  }
}

// One row of the table below: everything but the trouble.
SampleRun row(std::string experiment, std::int64_t launched_at_s, std::int64_t job_id,
              Producer producer, double step_time_s, double tflops_per_gpu,
              std::int64_t global_batch_size) {
  SampleRun run;
  run.experiment = std::move(experiment);
  run.launched_at_s = launched_at_s;
  run.job_id = job_id;
  run.producer = producer;
  run.step_time_s = step_time_s;
  run.tflops_per_gpu = tflops_per_gpu;
  run.global_batch_size = global_batch_size;
  return run;
}

SampleRun with_config(SampleRun run, std::string model_name, std::string model_size,
                      std::string dtype, std::string gpu_type, std::int64_t gpu_count) {
  run.model_name = std::move(model_name);
  run.model_size = std::move(model_size);
  run.dtype = std::move(dtype);
  run.gpu_type = std::move(gpu_type);
  run.gpu_count = gpu_count;
  return run;
}

SampleRun with_trouble(SampleRun run, Trouble trouble, std::int64_t step = 0) {
  run.trouble = trouble;
  run.trouble_step = step;
  return run;
}

void add_nemo_runs(std::vector<SampleRun>& runs) {
  const std::string grok_bf16 =
      "pretrain_grok1_314b_bf16_gpus256_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs512";
  for (int repeat = 0; repeat < 3; ++repeat) {
    runs.push_back(with_config(row(grok_bf16, 1750000000 + repeat * 5400, 388660 + repeat,
                                   Producer::nemo, 7.382 + 0.012 * repeat, 1192.9, 512),
                               "grok1", "314b", "bf16", "gb200", 256));
  }
  runs.push_back(
      with_config(row("pretrain_grok1_314b_fp8_gpus128_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs256",
                      1750090000, 388702, Producer::nemo, 5.298, 1612.4, 256),
                  "grok1", "314b", "fp8", "gb200", 128));
  runs.push_back(with_trouble(
      with_config(row("pretrain_llama4_e128_fp8_gpus512_tp4_pp1_cp1_vp1_ep128_etp4_mbs1_gbs1024",
                      1750180000, 2784318, Producer::nemo, 3.685, 527.78, 1024),
                  "llama4_maverick", "400b", "fp8", "h100", 512),
      Trouble::time_limit, 46));
  runs.push_back(with_trouble(
      with_config(row("pretrain_nemotron4_15b_bf16_gpus64_tp2_pp1_cp1_vpNone_mbs2_gbs256",
                      1750270000, 410023, Producer::nemo, 2.671, 641.3, 256),
                  "nemotron4", "15b", "bf16", "h100", 64),
      Trouble::restart_inside, 27));
  SampleRun requeued =
      with_config(row("pretrain_nemotron4_340b_fp8_gpus256_tp8_pp8_cp1_vp12_mbs1_gbs64", 1750360000,
                      410077, Producer::nemo, 2.934, 881.2, 64),
                  "nemotron4", "340b", "fp8", "h100", 256);
  runs.push_back(with_trouble(requeued, Trouble::node_failure, 18));
  requeued.retry = 1;
  runs.push_back(requeued);
}

// Weak scaling of Grok-1 over the three scales of its document; the 128 GPUs stand above.
void add_scaling_runs(std::vector<SampleRun>& runs) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    runs.push_back(
        with_config(row("pretrain_grok1_314b_fp8_gpus256_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs512",
                        1750094000 + repeat * 5400, 388710 + repeat, Producer::nemo,
                        5.251 + 0.006 * repeat, 1627.1, 512),
                    "grok1", "314b", "fp8", "gb200", 256));
    runs.push_back(
        with_config(row("pretrain_grok1_314b_fp8_gpus512_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs1024",
                        1750108000 + repeat * 5400, 388720 + repeat, Producer::nemo,
                        5.318 + 0.009 * repeat, 1606.4, 1024),
                    "grok1", "314b", "fp8", "gb200", 512));
  }
}

// With and without one variable, by turns: else the same configuration, 2 % apart.
void add_before_and_after(std::vector<SampleRun>& runs) {
  constexpr double kAfter = 1.02;
  constexpr double kStep[] = {2.664, 2.668, 2.662};
  for (int repeat = 0; repeat < 3; ++repeat) {
    SampleRun before = with_config(
        row("pretrain_nemotron4_15b_bf16_gpus128_tp2_pp1_cp1_vpNone_mbs2_gbs512",
            1750450000 + repeat * 3600, 410130 + repeat, Producer::nemo, kStep[repeat], 643.4, 512),
        "nemotron4", "15b", "bf16", "h100", 128);
    SampleRun after = before;
    after.launched_at_s += 1'800;
    after.job_id += 40;
    after.step_time_s *= kAfter;
    after.tflops_per_gpu /= kAfter;
    after.environment = "NCCL_P2P_NET_CHUNKSIZE: '131072'";
    runs.push_back(before);
    runs.push_back(after);
  }
}

// One configuration, once a week: the last three runs are slower, for no reason that they tell.
void add_weekly_runs(std::vector<SampleRun>& runs) {
  constexpr double kWeeklyStep[] = {3.861, 3.872, 3.857, 3.868, 3.863, 4.071, 4.083, 4.066};
  std::int64_t week = 0;
  for (const double step_time_s : kWeeklyStep) {
    runs.push_back(with_config(
        row("pretrain_llama3_70b_fp8_cs_gpus64_tp1_pp1_cp1_vpNone_ep1_mbs2_gbs128",
            1761700000 + week * 604'800, 658800 + week * 7, Producer::megatron_bridge_time_last,
            step_time_s, 1688.1 * 3.912 / step_time_s, 128),
        "llama3.1", "70b", "fp8", "gb300", 64));
    ++week;
  }
}

void add_megatron_runs(std::vector<SampleRun>& runs) {
  const std::string llama_405b =
      "pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64";
  for (int repeat = 0; repeat < 2; ++repeat) {
    runs.push_back(with_config(row(llama_405b, 1761000000 + repeat * 7200, 658572 + repeat * 9,
                                   Producer::megatron_bridge, 5.741 + 0.02 * repeat, 1636.8, 64),
                               "llama3.1", "405b", "fp8", "gb200", 128));
  }
  runs.push_back(
      with_config(row("pretrain_llama3_70b_fp8_cs_gpus64_tp1_pp1_cp1_vpNone_ep1_mbs2_gbs128",
                      1761090000, 658611, Producer::megatron_bridge_time_last, 3.912, 1688.1, 128),
                  "llama3.1", "70b", "fp8", "gb300", 64));
  runs.push_back(with_trouble(
      with_config(row("pretrain_llama3_8b_fp8_cs_gpus8_tp1_pp1_cp1_vpNone_ep1_mbs1_gbs128",
                      1761180000, 658640, Producer::megatron_bridge, 3.02, 701.4, 128),
                  "llama3.1", "8b", "fp8", "h100", 8),
      Trouble::out_of_memory_at_start));
  runs.push_back(with_trouble(
      with_config(row("pretrain_llama3_8b_fp8_cs_gpus16_tp1_pp1_cp1_vpNone_ep1_mbs2_gbs256",
                      1761270000, 658655, Producer::megatron_bridge, 2.913, 1402.6, 256),
                  "llama3.1", "8b", "fp8", "b200", 16),
      Trouble::nan_gradient, 41));
  runs.push_back(with_trouble(
      with_config(row("pretrain_llama3_70b_fp8_cs_gpus128_tp1_pp1_cp1_vpNone_ep1_mbs2_gbs256",
                      1761360000, 658701, Producer::megatron_bridge, 3.954, 1671.3, 256),
                  "llama3.1", "70b", "fp8", "gb300", 128),
      Trouble::time_limit_teardown));
  runs.push_back(row("gpt3_175b_megatron_lm_gpus64", 1761450000, 700412, Producer::megatron_lm,
                     15.64, 494.6, 2048));
}

void add_older_runs(std::vector<SampleRun>& runs) {
  SampleRun grok_2024 =
      row("grok1_314b_bf16_512", 0, 220114, Producer::progress_bar, 20.83, 0, 1024);
  grok_2024.results_folder = "results/24.11.1/bf16/314b/512";
  runs.push_back(grok_2024);
  SampleRun cut_off = row("grok1_314b_fp8_1024", 0, 220158, Producer::progress_bar, 16.89, 0, 2048);
  cut_off.results_folder = "results/24.11.1/fp8/314b/1024";
  runs.push_back(with_trouble(cut_off, Trouble::ends_silently, 31));
}

}  // namespace

const std::vector<SampleRun>& sample_runs() {
  static const std::vector<SampleRun> runs = [] {
    std::vector<SampleRun> all;
    add_nemo_runs(all);
    add_scaling_runs(all);
    add_before_and_after(all);
    add_megatron_runs(all);
    add_weekly_runs(all);
    add_older_runs(all);
    return all;
  }();
  return runs;
}

StepFigures step_figures(const SampleRun& run, std::int64_t index) {
  const auto key = static_cast<std::uint64_t>(run.job_id * 1000 + run.retry * 100 + index);
  // The first steps are slow (compilation, allocation), as in every real log.
  const double warm_up = index == 0 ? 11.0 : index == 1 ? 1.6 : index == 3 ? 1.9 : 1.0;
  const double wobble = 1.0 + 0.0035 * noise(key);
  StepFigures step;
  step.index = index;
  step.step_count = kStepCount;
  step.step_time_s = run.step_time_s * warm_up * wobble;
  step.tflops_per_gpu = run.tflops_per_gpu / (warm_up * wobble);
  step.loss = 12.9 - 0.055 * static_cast<double>(index) + 0.02 * noise(key + 7);
  step.learning_rate = 3e-7 * static_cast<double>(index + 1);
  step.grad_norm = 9.0 * std::exp(-0.03 * static_cast<double>(index)) + 0.2 * noise(key + 13);
  step.global_batch_size = run.global_batch_size;
  if (run.trouble == Trouble::nan_gradient && index >= run.trouble_step) {
    step.grad_norm = std::numeric_limits<double>::quiet_NaN();
  }
  return step;
}

std::string log_head(const SampleRun& run) {
  std::string head = fmt::format(
      "srun: job {} started: {}\n[NeMo W 2025-12-22 09:00:01 nemo_logging:405] sample tree: these "
      "figures are made up and measure nothing\n",
      run.job_id, run.experiment);
  for (int rank = 0; rank < 8; ++rank) {
    head += fmt::format("rank {}: initializing model parallel groups\n", rank);
  }
  return head;
}

std::string log_step(const SampleRun& run, std::int64_t index) {
  const StepFigures step = step_figures(run, index);
  const double clock_s = static_cast<double>(index + 1) * run.step_time_s;
  switch (run.producer) {
    case Producer::nemo:
      return nemo_line(step) + "\n";  // NeMo's timers print an empty line after each
    case Producer::progress_bar:
      return progress_bar_records(step, step_figures(run, std::max<std::int64_t>(index - 1, 0)));
    case Producer::megatron_bridge:
      return step_time_line(step) + megatron_iteration_line(step, clock_s, false);
    case Producer::megatron_bridge_time_last:
      return megatron_iteration_line(step, clock_s, false) + step_time_line(step);
    case Producer::megatron_lm:
      return megatron_iteration_line(step, clock_s, true);
  }
  return "";
}

std::string log_text(const SampleRun& run) {
  std::string text = log_head(run);
  const bool cut = run.trouble == Trouble::time_limit || run.trouble == Trouble::node_failure ||
                   run.trouble == Trouble::ends_silently || run.trouble == Trouble::restart_inside;
  const std::int64_t end = run.trouble == Trouble::out_of_memory_at_start ? 0
                           : cut                                          ? run.trouble_step + 1
                                                                          : kStepCount;
  for (std::int64_t index = 0; index < end; ++index) text += log_step(run, index);
  text += crash_text(run);
  if (run.trouble == Trouble::restart_inside) {
    for (std::int64_t index = 10; index < kStepCount; ++index) {
      text += log_step(run, index);
    }
  }
  if (!cut && end > 0 && run.producer != Producer::nemo && run.producer != Producer::progress_bar) {
    text += "[after training is done] datetime: 2025-12-22 10:04:11\n";
  }
  return text;
}

}  // namespace llmb::sample
