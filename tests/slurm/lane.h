// Lane: one of the two real clusters, with a Dispatcher and a Poller on it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/poller.h"
#include "storage/job_store.h"

namespace llmb::slurm_test {

using nlohmann::json;
using Words = std::vector<std::string>;

struct CommandAnswer {
  int exit_code = -1;
  std::string output;
  std::string errors;
};
// In a minimal environment; whatever it starts ends after a minute and a half.
CommandAnswer run(const Words& words, const Words& environment = {});

// Until `condition` holds; false when two minutes are over.
bool wait_until(const std::function<bool()>& condition);

class Lane {
 public:
  // "accounting" or "plain". Null where the clusters are not up: then the tests are skipped.
  static Lane* get(const std::string& name);
  // The clusters stay, for the fixture to take down.
  static void end_all();
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const std::filesystem::path& cluster_folder() const { return cluster_folder_; }
  const std::filesystem::path& folder() const { return folder_; }

  // The new job; throws where it was not submitted.
  storage::JobRecord submit(const json& submission);
  storage::JobRecord job(storage::JobRowId id);
  // The test fails where none of them comes.
  storage::JobRecord wait_for(storage::JobRowId id, const std::vector<std::string>& states);
  dispatch::Dispatcher& dispatcher() { return *dispatcher_; }
  // Those that the row went through, in order.
  std::vector<std::string> states_of(storage::JobRowId id);

  CommandAnswer slurm(const Words& words) const;  // "squeue" …
  CommandAnswer node(const std::string& action, const std::string& name) const;

 private:
  explicit Lane(const std::string& name);
  void remember(const storage::JobRecord& job);

  std::filesystem::path cluster_folder_;
  std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<storage::JobRowId, std::vector<std::string>> states_;
  dispatch::ClusterSettings settings_;
  std::unique_ptr<storage::JobStore> store_;
  std::unique_ptr<dispatch::Dispatcher> dispatcher_;
  std::unique_ptr<dispatch::Poller> poller_;
};

// What `llmb-report parse` says of a log; null where there is none yet.
json parsed_run(const std::string& log);

// A tiny proxy of a family ("grok1", "llama3.1", "llama4_maverick", "nemotron4") on four GPUs of
// each of two nodes.
json tiny_submission(const std::string& family, int steps);

}  // namespace llmb::slurm_test
