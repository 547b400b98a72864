#include "server/sample/sample_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "server/sample/sample_runs.h"

namespace llmb::sample {
namespace {

namespace fs = std::filesystem;

const std::string kAccount = "benchmark_team-team";

std::string job_folder(const SampleRun& run) {
  return fmt::format("experiments/{}/{}_{}/{}/", run.experiment, run.experiment, run.launched_at_s,
                     run.experiment);
}

std::string log_path(const SampleRun& run) {
  const std::string job = std::to_string(run.job_id);
  if (!run.results_folder.empty()) {
    return run.results_folder + "/" + run.experiment + "_" + job + ".out";
  }
  return fmt::format("{}log-{}.{}_{}_{}.out", job_folder(run), kAccount, run.experiment, job,
                     run.retry);
}

// The shape that the recipes' launcher writes; values of this made-up cluster.
std::string llmb_config(const SampleRun& run) {
  const bool bridge = run.producer == Producer::megatron_bridge ||
                      run.producer == Producer::megatron_bridge_time_last;
  return fmt::format(
      "job_info:\n  job_id: '{}'\n  launch_time: '2025-12-22T08:59:30.120000'\nworkload_info:\n  "
      "framework: {}\n  gsw_version: '{}'\n  fw_version: {}\n  workload_type: pretrain\n  "
      "synthetic_dataset: true\nmodel_info:\n  model_name: {}\n  model_size: {}\n  dtype: {}\n  "
      "scale: {}\n  gpu_type: {}\ncluster_info:\n  cluster_name: sample\n  gpus_per_node: {}\n  "
      "slurm_account: benchmark_team\n  slurm_gpu_partition: batch\njob_config:\n  "
      "profile_enabled: false\n  env_overrides: {{{}}}\n  model_overrides: {{}}\n",
      run.job_id, bridge ? "megatron_bridge" : "nemo2", bridge ? "25.10" : "25.07",
      bridge ? "25.09.00" : "25.07.01", run.model_name, run.model_size, run.dtype, run.gpu_count,
      run.gpu_type, run.gpu_type[0] == 'g' ? "4" : "8", run.environment);
}

std::vector<SampleFile> files_of(const SampleRun& run) {
  std::vector<SampleFile> files = {{log_path(run), log_text(run)}};
  if (!run.results_folder.empty()) return files;
  const std::string job = std::to_string(run.job_id);
  files.push_back(
      {job_folder(run) + "sbatch_" + kAccount + "." + run.experiment + "_" + job + ".out",
       "Submitted batch job " + job + "\n"});
  if (!run.model_name.empty()) {
    files.push_back({job_folder(run) + "llmb-config_" + job + ".yaml", llmb_config(run)});
  }
  return files;
}

void write_file(const fs::path& path, const std::string& content, std::ios::openmode mode) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream stream(path, std::ios::binary | mode);
  stream << content;
  stream.flush();
  if (!stream) {
    throw std::runtime_error("Cannot write the sample file " + path.string() +
                             ": check that the folder exists, is writable and has space.");
  }
}

}  // namespace

std::vector<SampleFile> make_sample_tree() {
  std::vector<SampleFile> files;
  for (const SampleRun& run : sample_runs()) {
    for (SampleFile& file : files_of(run)) files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const SampleFile& a, const SampleFile& b) {
    return a.relative_path < b.relative_path;
  });
  // A retry shares its job's batch output and configuration.
  files.erase(std::unique(files.begin(), files.end(),
                          [](const SampleFile& a, const SampleFile& b) {
                            return a.relative_path == b.relative_path;
                          }),
              files.end());
  return files;
}

void write_sample_tree(const std::string& folder) {
  for (const SampleFile& file : make_sample_tree()) {
    write_file(fs::path(folder) / file.relative_path, file.content, std::ios::trunc);
  }
}

LiveRun make_live_run(std::int64_t launched_at_s) {
  const auto healthy =
      std::find_if(sample_runs().begin(), sample_runs().end(), [](const SampleRun& candidate) {
        return candidate.producer == Producer::megatron_bridge &&
               candidate.trouble == Trouble::none;
      });
  SampleRun run = *healthy;
  run.launched_at_s = launched_at_s;
  run.job_id = 900000 + launched_at_s % 100000;
  LiveRun live{log_path(run), log_head(run), {}};
  for (std::int64_t index = 0; index < 50; ++index) live.steps.push_back(log_step(run, index));
  return live;
}

void grow_sample_tree(const std::string& folder, std::chrono::milliseconds step_interval,
                      const std::function<bool()>& stopped) {
  write_sample_tree(folder);
  while (!stopped()) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const LiveRun live =
        make_live_run(std::chrono::duration_cast<std::chrono::seconds>(now).count());
    const fs::path path = fs::path(folder) / live.relative_path;
    write_file(path, live.head, std::ios::trunc);
    for (const std::string& step : live.steps) {
      if (stopped()) return;
      std::this_thread::sleep_for(step_interval);
      write_file(path, step, std::ios::app);
    }
  }
}

}  // namespace llmb::sample
