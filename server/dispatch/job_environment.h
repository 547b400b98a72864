// The variables of a job: what the cluster's configuration gives every job, what was asked for, and
// the launch variables by which the recipes' launch.sh and the runner take a submission.
#pragma once

#include "parser/catalog/catalog.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

// Of a completed submission.
Environment job_environment(const Submission& submission, const ClusterSettings& settings,
                            const parser::LaunchDefaults& defaults);

}  // namespace llmb::dispatch
