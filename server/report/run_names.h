// What runs are called in one table: by their experiment, and where several have one name, by what
// tells them apart.
#pragma once

#include <string>
#include <vector>

#include "parser/statistics/compared_run.h"

namespace llmb::report {

// In the order of `runs`: "experiment", or "experiment (alpha, release 25.05, job 700196)" with
// those of cluster, release and job in which runs of this name differ; where that leaves some
// alike, the part of their paths that is not that of all of them.
std::vector<std::string> distinct_run_names(const std::vector<parser::ComparedRun>& runs);

}  // namespace llmb::report
