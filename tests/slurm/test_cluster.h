// TestCluster: one of the two real clusters, with a daemon that submits to it and follows its jobs,
// a client of the daemon's API, and the command line beside it.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/server/serve/daemon_process.h"
#include "tests/slurm/event_log.h"

namespace llmb::slurm_test {

using nlohmann::json;
using Words = std::vector<std::string>;

struct CommandAnswer {
  int exit_code = -1;
  std::string output;
  std::string errors;
};
// In a minimal environment; whatever it starts ends after ten minutes.
CommandAnswer run(const Words& words, const Words& environment = {});

// Until `condition` holds; false when ten minutes are over, which only a machine that is all but
// standing still needs.
bool wait_until(const std::function<bool()>& condition);

class TestCluster {
 public:
  // "accounting" or "plain". Null where the clusters are not up: then the tests are skipped.
  static TestCluster* get(const std::string& name);
  // Those that were asked for.
  static std::vector<TestCluster*> all();
  // Daemons end; the clusters stay, for the fixture to take down.
  static void end_all();
  ~TestCluster();
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;

  const std::filesystem::path& cluster_folder() const { return cluster_folder_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path workload_folder() const { return folder_ / "workload"; }
  std::string configuration_file() const { return (folder_ / "config.yaml").string(); }

  cli::Answer ask(const std::string& method, const std::string& target,
                  const std::string& body = "", const std::string& key = "") const;
  // The test fails where the answer is not 200.
  json get_json(const std::string& target) const;
  // The new job, once Slurm has it; throws where it was not submitted.
  json submit(const json& submission) const;
  json job(std::int64_t id) const;
  // The test fails where none of the states comes, or another end does.
  json wait_for(std::int64_t id, const std::vector<std::string>& states) const;
  // The newest run of a job, once it has this status; the test fails where that does not come.
  json wait_for_run(std::int64_t id, const std::string& status) const;
  // The states that the event stream told of, in order, once `last` is among them.
  std::vector<std::string> told_states(std::int64_t id, const std::string& last) const;
  void cancel(std::int64_t id) const;  // and waits for it

  CommandAnswer slurm(const Words& words) const;   // "squeue" …
  CommandAnswer report(const Words& words) const;  // llmb-report … --config
  // The same by a configuration that names no backend; the cluster's own says cpu. Jobs on GPUs
  // share nodes with what is there.
  CommandAnswer report_without_a_backend(const Words& words) const;
  CommandAnswer node(const std::string& action, const std::string& name) const;
  CommandAnswer controller(const std::string& action) const;  // "stop", "start"
  void signal_controller(int signal) const;                   // SIGSTOP, SIGCONT

  // All that is needed to understand a failure: the queue, the ends of Slurm's logs, of the
  // daemon's, and of the newest jobs' files.
  std::string evidence() const;

 private:
  explicit TestCluster(const std::string& name);

  void write_configuration(const std::filesystem::path& file, const std::string& keys) const;
  CommandAnswer report_by(const std::string& configuration, const Words& words) const;

  std::filesystem::path cluster_folder_;
  std::filesystem::path folder_;
  std::string token_;
  std::unique_ptr<cli::DaemonProcess> daemon_;
  int port_ = 0;
  std::unique_ptr<EventLog> events_;
};

// A job behind a gate waits, running, until the gate is opened: so its states do not depend on how
// fast anything is.
class Gate {
 public:
  Gate(const TestCluster& cluster, const std::string& name)
      : file_(cluster.folder() / ("gate-" + name)) {}
  // The submission, behind this gate.
  json behind(json submission) const;
  // Until its first rank stands at the gate. Before that a job that Slurm calls running has still
  // to ask the controller for its step.
  void wait_for_job() const;
  void open() const;

 private:
  std::filesystem::path file_;
};

// A tiny proxy of a family ("grok1", "llama3.1", "llama4_maverick", "nemotron4") on four GPUs of
// each of two nodes.
json tiny_submission(const std::string& family, int steps);

// One rank on one GPU of a node.
json single_rank_on(const std::string& node, int steps);

}  // namespace llmb::slurm_test
