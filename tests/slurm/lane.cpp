#include "tests/slurm/lane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "parser/catalog/catalog.h"
#include "server/dispatch/command_run.h"

namespace llmb::slurm_test {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds kPatience{120};

std::map<std::string, std::unique_ptr<Lane>>& lanes() {
  static std::map<std::string, std::unique_ptr<Lane>> all;
  return all;
}

std::string clusters_folder() {
  std::ifstream file(LLMB_CLUSTERS_FILE);
  std::string folder;
  std::getline(file, folder);
  return folder;
}

}  // namespace

CommandAnswer run(const Words& words, const Words& environment) {
  dispatch::CommandRun command;
  command.arguments = words;
  command.environment = environment;
  command.environment.emplace_back("PATH=/usr/local/bin:/usr/bin:/bin");
  command.deadline = std::chrono::seconds(90);
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

Lane* Lane::get(const std::string& name) {
  auto& lane = lanes()[name];
  if (!lane && fs::exists(fs::path(clusters_folder()) / name / "slurm.conf")) {
    lane.reset(new Lane(name));
  }
  return lane.get();
}

void Lane::end_all() {
  lanes().clear();
}

Lane::Lane(const std::string& name)
    : cluster_folder_(fs::path(clusters_folder()) / name),
      folder_(fs::path(clusters_folder()) / (name + ".report")) {
  fs::create_directories(folder_ / "workload");
  settings_.name = name;
  settings_.workload_folder = (folder_ / "workload").string();
  settings_.runner = LLMB_BINARY_DIR "/bin/llmb-step-runner";
  settings_.backend = "cpu";
  settings_.gpu_type = "h100";
  settings_.gpus_per_node = 4;
  settings_.slurm_conf = (cluster_folder_ / "slurm.conf").string();
  settings_.environment = {{"OMP_NUM_THREADS", "1"}};
  settings_.poll_interval = std::chrono::milliseconds(500);
  settings_.accounting_grace = std::chrono::seconds(20);
  storage::OpenOptions options;
  options.path = (folder_ / "report.db").string();
  options.allow_network_file_system = true;
  store_ = std::make_unique<storage::JobStore>(options);
  const auto changed = [this](const storage::JobRecord& job) { remember(job); };
  dispatcher_ = std::make_unique<dispatch::Dispatcher>(settings_, parser::embedded_catalog(),
                                                       *store_, changed);
  poller_ = std::make_unique<dispatch::Poller>(settings_, *store_, changed);
  poller_->start();
}

Lane::~Lane() {
  poller_->stop();
}

void Lane::remember(const storage::JobRecord& job) {
  const std::lock_guard lock(mutex_);
  auto& states = states_[job.id];
  if (states.empty() || states.back() != job.state) states.push_back(job.state);
}

std::vector<std::string> Lane::states_of(storage::JobRowId id) {
  const std::lock_guard lock(mutex_);
  return states_[id];
}

storage::JobRecord Lane::submit(const json& submission) {
  const auto submissions = dispatch::parse_submissions(submission.dump());
  if (!submissions) throw std::runtime_error(submissions.error().message);
  const auto outcome = dispatcher_->submit({*submissions, "suite", ""});
  if (outcome.refusal) throw std::runtime_error(outcome.refusal->message);
  poller_->wake();
  return outcome.jobs.at(0);
}

storage::JobRecord Lane::job(storage::JobRowId id) {
  const auto job = store_->job(id);
  if (!job) throw std::runtime_error("no job " + std::to_string(id));
  return *job;
}

storage::JobRecord Lane::wait_for(storage::JobRowId id, const std::vector<std::string>& states) {
  storage::JobRecord last;
  const bool came = wait_until([&] {
    last = job(id);
    return std::find(states.begin(), states.end(), last.state) != states.end();
  });
  if (!came) {
    ADD_FAILURE() << "job " << id << " is not " << states.front() << " but " << last.state << ", "
                  << last.state_reason << last.trouble << "\n"
                  << slurm({"squeue"}).output << poller_->last_error();
  }
  return last;
}

CommandAnswer Lane::slurm(const Words& words) const {
  return run(words, {"SLURM_CONF=" + settings_.slurm_conf});
}

CommandAnswer Lane::node(const std::string& action, const std::string& name) const {
  return run({LLMB_SOURCE_DIR "/deploy/slurm-dev/node", action, cluster_folder_.string(), name});
}

json parsed_run(const std::string& log) {
  if (log.empty()) return nullptr;
  const CommandAnswer answer = run({LLMB_REPORT_PROGRAM, "parse", "--format", "json", log});
  const json document = json::parse(answer.output, nullptr, false);
  if (document.is_discarded() || document["runs"].empty()) return nullptr;
  return document["runs"][0];
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

}  // namespace llmb::slurm_test
