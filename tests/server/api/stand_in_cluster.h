// A Dispatcher over commands that stand in for Slurm's: sbatch gives out ids from 101, or refuses
// where a file says so; squeue knows no job.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "parser/catalog/catalog.h"
#include "server/api/api.h"
#include "server/api/change_events.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/send_queue.h"
#include "server/http/bearer_token.h"
#include "storage/job_store.h"

namespace llmb::api {

class StandInCluster {
 public:
  StandInCluster(const std::filesystem::path& folder, const storage::OpenOptions& database,
                 http::EventChannel& events)
      : commands_(folder / "commands"), jobs(database) {
    std::filesystem::create_directories(commands_);
    std::filesystem::create_directories(folder / "workload");
    write_command(
        "sbatch",
        "if [ -e \"$0.refusal\" ]; then read -r line <\"$0.refusal\"; echo \"$line\" >&2; "
        "exit 1; fi\n"
        "while [ -e \"$0.hangs\" ]; do : >\"$0.waits\"; sleep 0.02; done\n"
        "n=100; [ ! -e \"$0.last\" ] || read -r n <\"$0.last\"\n"
        "echo $((n + 1)) >\"$0.last\"; echo $((n + 1))\n");
    write_command("squeue", "echo '{\"jobs\": [], \"errors\": []}'\n");
    write_command("scancel", "exit 0\n");
    write_command("scontrol", "exit 1\n");
    write_command("sacct", "exit 0\n");
    settings.name = "dev";
    settings.workload_folder = (folder / "workload").string();
    settings.runner = "/opt/llmb/bin/llmb-step-runner";
    settings.backend = "cpu";
    settings.command_path = commands_.string();
    const dispatch::JobChanged changed = [this, &events](const storage::JobRecord& job) {
      publish_job_change(events, job, jobs.runs_of(job));
    };
    const parser::Catalog& catalog = parser::embedded_catalog();
    dispatcher = std::make_unique<dispatch::Dispatcher>(settings, catalog, jobs, runner_, changed);
    sender_ = std::make_unique<dispatch::JobSender>(settings, catalog, jobs, runner_, changed);
  }

  void connect(ApiOptions& options) {
    options.dispatcher = dispatcher.get();
    options.jobs = &jobs;
    options.tokens = &jobs;
    options.submitters = {"ci", "late", "gone", "reader", "root", "someone"};
    options.jobs_changed = [this] {
      ++wakes;
      if (sends) dispatch::SendQueue(settings, jobs, *sender_).send_queued();
    };
    options.slurm_error = [this] { return slurm_error; };
    options.slurm_asked_at = [this] { return slurm_asked_at; };
  }

  // The value of an Authorization header.
  std::string authorization(const std::string& name, const std::string& scope,
                            const std::string& cluster = "",
                            const std::string& expires_at = "2999-01-01T00:00:00Z") {
    const std::string token = http::new_token();
    storage::TokenRecord record;
    record.name = name;
    record.sha256 = http::token_sha256(token);
    record.scopes = {scope};
    record.created_at = "2025-01-01T00:00:00Z";
    record.expires_at = expires_at;
    record.cluster = cluster;
    jobs.insert_token(record);
    return "Bearer " + token;
  }

  void refuse(const std::string& message) const {
    std::ofstream(commands_ / "sbatch.refusal") << message << "\n";
  }

  // sbatch does not come back until it is let go, or killed.
  void hang_sbatch() const { std::ofstream(commands_ / "sbatch.hangs").flush(); }
  void let_sbatch_go() const { std::filesystem::remove(commands_ / "sbatch.hangs"); }
  // One has begun, and none has been let go.
  bool sbatch_hangs() const {
    return std::filesystem::exists(commands_ / "sbatch.waits") &&
           std::filesystem::exists(commands_ / "sbatch.hangs");
  }

 private:
  void write_command(const std::string& name, const std::string& script) const {
    const std::filesystem::path file = commands_ / name;
    std::ofstream(file) << "#!/bin/bash\n" << script;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  std::filesystem::path commands_;

 public:
  storage::JobStore jobs;
  dispatch::ClusterSettings settings;
  std::unique_ptr<dispatch::Dispatcher> dispatcher;
  std::atomic<int> wakes = 0;
  bool sends = true;  // what is recorded is given to sbatch before the answer comes
  std::string slurm_error;
  std::string slurm_asked_at;

 private:
  dispatch::RunnerProbe runner_{settings};
  std::unique_ptr<dispatch::JobSender> sender_;
};

}  // namespace llmb::api
