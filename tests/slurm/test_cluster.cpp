#include "tests/slurm/test_cluster.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "server/dispatch/command_run.h"
#include "server/dispatch/job_state.h"

namespace llmb::slurm_test {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds kPatience{600};

std::map<std::string, std::unique_ptr<TestCluster>>& clusters() {
  static std::map<std::string, std::unique_ptr<TestCluster>> all;
  return all;
}

std::string clusters_folder() {
  std::ifstream file(LLMB_CLUSTERS_FILE);
  std::string folder;
  std::getline(file, folder);
  return folder;
}

void write_program(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
  fs::permissions(file, fs::perms::owner_all);
}

std::string tail(const fs::path& file, int lines) {
  const CommandAnswer answer = run({"tail", "-n", std::to_string(lines), file.string()});
  return "--- " + file.string() + "\n" + answer.output + answer.errors;
}

// A test that failed says what was going on.
class FailureEvidence : public ::testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const ::testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    for (const TestCluster* const cluster : TestCluster::all())
      std::cout << cluster->evidence() << std::endl;
  }
};
[[maybe_unused]] const bool kListens = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(
      std::make_unique<FailureEvidence>().release());
  return true;
}();

}  // namespace

CommandAnswer run(const Words& words, const Words& environment) {
  dispatch::CommandRun command;
  command.arguments = words;
  command.environment = environment;
  command.environment.emplace_back("PATH=/usr/local/bin:/usr/bin:/bin");
  command.deadline = kPatience;
  const dispatch::CommandResult result = dispatch::run_command(command);
  const bool has_exited = result.end == dispatch::CommandResult::End::exited;
  return {has_exited ? result.exit_code : -1, result.output, result.errors};
}

bool wait_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return true;
}

TestCluster* TestCluster::get(const std::string& name) {
  auto& cluster = clusters()[name];
  if (!cluster && fs::exists(fs::path(clusters_folder()) / name / "slurm.conf")) {
    cluster.reset(new TestCluster(name));
  }
  return cluster.get();
}

std::vector<TestCluster*> TestCluster::all() {
  std::vector<TestCluster*> result;
  for (const auto& [name, cluster] : clusters()) {
    if (cluster) result.push_back(cluster.get());
  }
  return result;
}

void TestCluster::end_all() {
  clusters().clear();
}

TestCluster::TestCluster(const std::string& name)
    : cluster_folder_(fs::path(clusters_folder()) / name),
      folder_(fs::path(clusters_folder()) / (name + ".report")) {
  fs::remove_all(folder_);  // of an earlier run on the same clusters
  fs::create_directories(workload_folder());
  // Ranks find rank 0 once it is past the gate. The batch script asks for the version before.
  write_program(
      folder_ / "runner",
      "#!/bin/bash\n"
      "if [ -n \"${GATE:-}\" ] && [ \"$SLURM_PROCID\" -eq 0 ] && [ \"$1\" != --version ]\n"
      "then\n"
      "  : >\"$GATE.reached\"\n"
      "  until [ -e \"$GATE\" ]; do sleep 0.2; done\n"
      "fi\n"
      "exec " LLMB_BINARY_DIR "/bin/llmb-step-runner \"$@\"\n");
  write_configuration(configuration_file(), "  backend: cpu\n");
  const CommandAnswer token = report({"token", "create", "suite", "--scope", "submit"});
  token_ = token.output.substr(0, token.output.find('\n'));
  daemon_ = std::make_unique<cli::DaemonProcess>(folder_, Words{"--config", configuration_file()});
  port_ = daemon_->port();
  if (port_ == 0) throw std::runtime_error("the daemon ended: " + daemon_->errors());
  events_ = std::make_unique<EventLog>(port_);
}

void TestCluster::write_configuration(const fs::path& file, const std::string& keys) const {
  std::ofstream(file)
      << "listen: 127.0.0.1:0\ndb: report.db\nallow_network_file_system: true\n"
      << "cluster:\n  name: " << cluster_folder_.filename().string()
      << "\n  workload_folder: workload\n"
      << keys << "  slurm_conf: " << (cluster_folder_ / "slurm.conf").string() << "\n"
      << "  runner: " << (folder_ / "runner").string() << "\n"
      << "  gpu_type: h100\n  gpus_per_node: 4\n"
      << "  environment: {OMP_NUM_THREADS: \"1\"}\n  environment_allowed: [GATE]\n"
      << "  command_deadline_s: 60\n  poll_interval_s: 1\n  accounting_grace_s: 20\n"
      << "  submitters: [suite]\n  launch_scripts: {pretrain_nemotron4: "
      << (folder_ / "launch.sh").string() << "}\n";
}

TestCluster::~TestCluster() {
  const int exit_code = daemon_->stop(SIGTERM);
  if (exit_code != 0) std::cerr << "the daemon ended with " << exit_code << daemon_->errors();
  daemon_.reset();
}

cli::Answer TestCluster::ask(const std::string& method, const std::string& target,
                             const std::string& body, const std::string& key) const {
  const cli::Connection connection(port_);
  std::string request = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
  if (method != "GET") {
    if (!key.empty()) request += "Idempotency-Key: " + key + "\r\n";
    request += "Authorization: Bearer " + token_ + "\r\nContent-Type: application/json\r\n" +
               "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  connection.send(request + "Connection: close\r\n\r\n" + body);
  const std::string text = connection.receive();
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos || !text.starts_with("HTTP/1.1 ")) return {};
  return {std::atoi(text.c_str() + 9), text.substr(0, end + 2), text.substr(end + 4)};
}

json TestCluster::get_json(const std::string& target) const {
  const cli::Answer answer = ask("GET", target);
  EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
  return json::parse(answer.body, nullptr, false);
}

json TestCluster::submit(const json& submission) const {
  const cli::Answer answer = ask("POST", "/api/v1/jobs", submission.dump());
  if (answer.status != 202) throw std::runtime_error("not recorded: " + answer.body);
  json sent = json::parse(answer.body)["jobs"][0];
  const auto id = sent["id"].get<std::int64_t>();
  wait_until([&] {
    sent = job(id);
    return sent["state"] != "submitting";
  });
  if (sent["job_id"].is_null()) throw std::runtime_error("not submitted: " + sent.dump());
  return sent;
}

json TestCluster::job(std::int64_t id) const {
  return get_json("/api/v1/jobs/" + std::to_string(id));
}

json TestCluster::wait_for(std::int64_t id, const std::vector<std::string>& states) const {
  json last;
  bool is_it = false;
  wait_until([&] {
    last = job(id);
    const auto state = last["state"].get<std::string>();
    is_it = std::find(states.begin(), states.end(), state) != states.end();
    return is_it || storage::is_final(storage::job_state_from_name(state));
  });
  EXPECT_TRUE(is_it) << "job " << id << " is not " << states.front() << ": " << last.dump(1);
  return last;
}

json TestCluster::wait_for_run(std::int64_t id, const std::string& status) const {
  json run;
  EXPECT_TRUE(wait_until([&] {
    const json runs = job(id)["runs"];
    if (runs.empty()) return false;
    run = get_json("/api/v1/runs/" + runs.back().dump());
    return run["status"] == status;
  })) << "no run of job "
      << id << " is " << status << ": " << run.dump(1);
  return run;
}

std::vector<std::string> TestCluster::told_states(std::int64_t id, const std::string& last) const {
  std::vector<std::string> states;
  wait_until([&] {
    states.clear();
    const std::string text = events_->text();
    std::size_t at = 0;
    while ((at = text.find("event: job\n", at)) != std::string::npos) {
      const std::size_t data = text.find("data: ", at);
      const std::size_t end = text.find('\n', data);
      if (data == std::string::npos || end == std::string::npos) return false;
      const json change = json::parse(text.substr(data + 6, end - data - 6));
      at = end;
      if (change["job"] != id) continue;
      const auto state = change["state"].get<std::string>();
      if (states.empty() || states.back() != state) states.push_back(state);
      if (state == last) return true;
    }
    return false;
  });
  return states;
}

void TestCluster::cancel(std::int64_t id) const {
  const cli::Answer answer = ask("DELETE", "/api/v1/jobs/" + std::to_string(id));
  EXPECT_TRUE(answer.status == 200 || answer.status == 202) << answer.body;
  wait_for(id, {"cancelled"});
}

CommandAnswer TestCluster::slurm(const Words& words) const {
  return run(words, {"SLURM_CONF=" + (cluster_folder_ / "slurm.conf").string()});
}

CommandAnswer TestCluster::report(const Words& words) const {
  return report_by(configuration_file(), words);
}

CommandAnswer TestCluster::report_without_a_backend(const Words& words) const {
  const fs::path configuration = folder_ / "no-backend.yaml";
  write_configuration(configuration, "  whole_nodes: false\n");
  return report_by(configuration.string(), words);
}

CommandAnswer TestCluster::report_by(const std::string& configuration, const Words& words) const {
  Words all = {LLMB_REPORT_PROGRAM};
  all.insert(all.end(), words.begin(), words.end());
  all.insert(all.end(), {"--config", configuration});
  return run(all, {"HOME=" + folder_.string()});
}

CommandAnswer TestCluster::node(const std::string& action, const std::string& name) const {
  return run({LLMB_SOURCE_DIR "/deploy/slurm-dev/node", action, cluster_folder_.string(), name});
}

void TestCluster::signal_controller(int signal) const {
  std::ifstream file(cluster_folder_ / "processes");
  pid_t process = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    pid_t pid = 0;
    if (words >> name >> pid && name == "slurmctld") process = pid;
  }
  if (process == 0) throw std::runtime_error("no slurmctld is recorded");
  if (kill(process, signal) != 0) throw std::runtime_error("slurmctld cannot be signalled");
}

CommandAnswer TestCluster::controller(const std::string& action) const {
  return run({LLMB_SOURCE_DIR "/deploy/slurm-dev/controller", action, cluster_folder_.string()});
}

std::string TestCluster::evidence() const {
  std::string text = "==== " + cluster_folder_.string() + "\n";
  for (const Words& words : {Words{"squeue", "--long"}, Words{"sinfo", "--Node", "--long"}}) {
    const CommandAnswer answer = slurm(words);
    text += answer.output + answer.errors;
  }
  for (const char* log : {"slurmctld.log", "slurmd-node1.log", "slurmd-node2.log"}) {
    text += tail(cluster_folder_ / "log" / log, 30);
  }
  text += "--- the daemon\n" + daemon_->errors();
  const json jobs = json::parse(ask("GET", "/api/v1/jobs?limit=12").body, nullptr, false);
  if (!jobs.is_object()) return text;
  for (const json& known : jobs["jobs"]) {
    text += known.dump() + "\n";
    const std::string path = "/api/v1/jobs/" + known["id"].dump();
    const json details = json::parse(ask("GET", path).body, nullptr, false);
    if (known["state"] == "completed" || !details.is_object()) continue;
    std::error_code error;
    const fs::path run_folder = details["run_folder"].get<std::string>();
    for (const auto& entry : fs::directory_iterator(run_folder, error)) {
      if (entry.path().extension() == ".out") text += tail(entry.path(), 15);
    }
  }
  return text;
}

json Gate::behind(json submission) const {
  submission["environment"]["GATE"] = file_.string();
  return submission;
}

void Gate::wait_for_job() const {
  EXPECT_TRUE(wait_until([&] { return fs::exists(file_.string() + ".reached"); }))
      << "the job has not come to its gate " << file_;
}

void Gate::open() const {
  const std::ofstream made(file_);
}

json tiny_submission(const std::string& family, int steps) {
  json options = {{"num-layers", 4},       {"hidden-size", 32},     {"num-attention-heads", 4},
                  {"num-query-groups", 2}, {"head-size", 8},        {"vocab-size", 64},
                  {"seq-length", 32},      {"micro-batch-size", 1}, {"global-batch-size", 8},
                  {"steps", steps}};
  std::string size = "15b";
  std::string dtype = "bf16";
  json more;
  if (family == "grok1") {
    size = "314b";
    more = {{"num-experts", 4}, {"expert-ffn-hidden-size", 32},
            {"tp", 2},          {"ep", 2},
            {"etp", 1},         {"pp", 2},
            {"vp", 1},          {"cp", 1}};
  } else if (family == "llama3.1") {
    size = "8b";
    dtype = "fp8";
    more = {{"ffn-hidden-size", 64}, {"tp", 2}, {"pp", 2}, {"vp", 1}, {"cp", 1}};
  } else if (family == "llama4_maverick") {
    size = "400b";
    more = {{"ffn-hidden-size", 64},
            {"num-experts", 8},
            {"expert-ffn-hidden-size", 32},
            {"shared-expert-ffn-hidden-size", 32},
            {"ep", 4},
            {"tp", 1},
            {"etp", 1},
            {"pp", 1},
            {"vp", 1},
            {"cp", 1}};
  } else {
    more = {{"ffn-hidden-size", 64}, {"tp", 2}, {"cp", 2}, {"pp", 1}, {"vp", 1}};
  }
  options.update(more);
  return {{"workload", "pretrain_" + family},
          {"model_size", size},
          {"dtype", dtype},
          {"scale", 8},
          {"proxy", true},
          {"runner_options", options}};
}

json single_rank_on(const std::string& node, int steps) {
  json submission = tiny_submission("nemotron4", steps);
  submission["scale"] = 1;
  submission["runner_options"].update({{"tp", 1}, {"cp", 1}, {"global-batch-size", 1}});
  submission["slurm"] = {{"nodelist", node}};
  return submission;
}

}  // namespace llmb::slurm_test
