// ScalingRun: what a scaling series needs of one run, small enough to be kept of every run of a
// database: what the repeats of one configuration have in common stands once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/statistics/comparison_obstacles.h"
#include "parser/statistics/run_standing.h"
#include "parser/statistics/shared_configurations.h"

namespace llmb::parser {

struct ScalingConfiguration {
  ComparedWork work;  // its workload and model size are those of its series
  std::string dtype;
  std::string gpu_type;
  std::int64_t tree = 0;  // this and the next as in ComparedRun
  std::optional<std::string> cluster;
  std::optional<std::int64_t> gpu_count;
  std::string missing;             // why it has no place in a series; empty where it has one
  Characteristics series;          // tells one series of a cluster's model from another
  Characteristics layout;          // tells one point of a scale from another
  const Recipe* recipe = nullptr;  // the run's; null where it is none
  const Document* document = nullptr;
};

struct ScalingRun {
  std::int64_t id = 0;  // this and the following as in ComparedRun
  std::string experiment;
  std::optional<std::int64_t> job_id;
  std::string path;
  std::optional<std::string> launched_at;
  std::optional<std::string> grown_at;
  std::shared_ptr<const ScalingConfiguration> configuration;  // never null
  std::vector<RunMarkReason> marks;
  std::optional<double> tokens_per_s_per_gpu;  // over its window
  std::string tokens_reason;                   // why there is none; empty where there is one
  RunAgainstPublished published;
  bool teaches_noise = false;
};

using ScalingConfigurations = SharedConfigurations<ScalingConfiguration>;
using ScalingRuns = std::vector<std::shared_ptr<const ScalingRun>>;

// Pointers in the results live as long as the catalog that the runs were measured with.
std::shared_ptr<const ScalingRun> scaling_run(const ComparedRun& run,
                                              ScalingConfigurations& configurations);
ScalingRuns scaling_runs(const std::vector<ComparedRun>& runs);

}  // namespace llmb::parser
