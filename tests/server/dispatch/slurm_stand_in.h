// SlurmStandIn: sbatch, squeue, sacct, scancel and sinfo as shell scripts in a folder of their own,
// which answer as a test tells them to, and note how they were called; with a database, a folder
// for runs, and settings that name all of them. Everything goes with the object.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "server/dispatch/dispatcher.h"
#include "server/dispatch/poller.h"
#include "server/dispatch/send_queue.h"
#include "storage/job_store.h"
#include "tests/temporary_folder.h"

namespace llmb::dispatch {

class SlurmStandIn {
 public:
  SlurmStandIn() {
    std::filesystem::create_directories(folder_ + "/bin");
    for (const char* const name : {"sbatch", "squeue", "sacct", "scancel", "sinfo"}) {
      const std::string file = folder_ + "/bin/" + name;
      // A call is noted by one printf, since several may be made at once.
      write(file, "#!/bin/sh\nhere=" + folder_ + "\nprintf '%s\\n' " + name +
                      " \"$@\" '' >>$here/calls\n[ -f $here/" + name +
                      ".answer ] || exit 0\n. $here/" + name + ".answer\n");
      std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
    settings.name = "test";
    settings.workload_folder = folder_ + "/runs";
    settings.backend = "cpu";
    settings.command_path = folder_ + "/bin:/usr/bin:/bin";
    settings.command_deadline = std::chrono::seconds(20);
    settings.accounting_grace = std::chrono::seconds(60);
    store.emplace(storage::OpenOptions{folder_ + "/jobs.db", true});
    answers("sbatch", "echo 41");
    queue_holds("");
  }
  ~SlurmStandIn() { store.reset(); }  // while its folder is there
  SlurmStandIn(const SlurmStandIn&) = delete;
  SlurmStandIn& operator=(const SlurmStandIn&) = delete;

  const std::string& folder() const { return folder_; }

  // From now on `command` runs these lines of shell.
  void answers(const std::string& command, const std::string& lines) const {
    write(folder_ + "/" + command + ".answer", lines + "\n");
  }
  void prints(const std::string& command, const std::string& text) const {
    write(folder_ + "/" + command + ".text", text);
    answers(command, "cat $here/" + command + ".text");
  }
  // Jobs as squeue of 22.05 has them.
  void queue_holds(const std::string& jobs) const {
    prints("squeue", R"({"errors":[],"jobs":[)" + jobs + "]}");
  }

  // Every call as its words, joined by spaces.
  std::vector<std::string> calls() const {
    std::ifstream input(folder_ + "/calls");
    std::vector<std::string> result{""};
    for (std::string word; std::getline(input, word);) {
      if (word.empty()) {
        result.emplace_back();
      } else {
        result.back().append(result.back().empty() ? "" : " ").append(word);
      }
    }
    result.pop_back();
    return result;
  }
  std::size_t call_count(const std::string& command) const {
    std::size_t count = 0;
    for (const std::string& call : calls()) count += call.rfind(command, 0) == 0 ? 1 : 0;
    return count;
  }

  static void write(const std::string& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }
  static std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }

  // As a command line does: recorded, then sent.
  SubmitOutcome submit(const SubmitRequest& request, const JobChanged& changed = {}) {
    RunnerProbe runner(settings);
    const parser::Catalog& catalog = parser::embedded_catalog();
    SubmitOutcome outcome = Dispatcher(settings, catalog, *store, runner, changed).submit(request);
    JobSender sender(settings, catalog, *store, runner, changed);
    send_all(sender, outcome);
    return outcome;
  }

  ClusterSettings settings;
  std::optional<storage::JobStore> store;

 private:
  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

inline Submission small_submission() {
  Submission submission;
  submission.workload = "pretrain_nemotron4";
  submission.model_size = "15b";
  submission.dtype = "bf16";
  submission.scale = 16;
  submission.gpu_type = "h100";
  submission.proxy = true;  // the backend of the settings is the CPU
  return submission;
}

}  // namespace llmb::dispatch
