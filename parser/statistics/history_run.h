// HistoryRun: what a history needs of one run, small enough to be kept of every run of a database:
// what the runs of one configuration have in common stands once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/statistics/compared_run.h"
#include "parser/statistics/shared_configurations.h"

namespace llmb::parser {

// The first three keep series apart.
struct HistoryConfiguration {
  RunIdentity identity;
  std::optional<std::int64_t> global_batch_size;
  std::string window;
  Characteristics characteristics;
};

struct HistoryRun {
  std::int64_t id = 0;  // this and the following as in ComparedRun
  std::string experiment;
  std::optional<std::int64_t> job_id;
  std::string path;
  std::int64_t tree = 0;
  std::optional<std::string> cluster;
  std::optional<std::string> launched_at;
  std::shared_ptr<const HistoryConfiguration> configuration;  // never null
  ContentKey content_key;
  std::vector<RunMarkReason> marks;
  std::optional<WindowStatistics> step_time_s;
  std::optional<double> log_step_time_s;  // its location; a run without one is in no history
};

using HistoryConfigurations = SharedConfigurations<HistoryConfiguration>;
using HistoryRuns = std::vector<std::shared_ptr<const HistoryRun>>;

std::shared_ptr<const HistoryRun> history_run(const ComparedRun& run,
                                              HistoryConfigurations& configurations);
HistoryRuns history_runs(const std::vector<ComparedRun>& runs);

}  // namespace llmb::parser
