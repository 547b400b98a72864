// What the documents say of checkpoints, told before a job is submitted: their sizes beside the
// free space of where they go, and the scales at which saving and loading work. And whose a
// checkpoint is. Both look at folders of this machine only.
#pragma once

#include <string>
#include <vector>

#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

// `wanted`: completed. Sentences; none where it neither saves nor loads.
std::vector<std::string> checkpoint_notes(const Submission& wanted,
                                          const ClusterSettings& settings);

// Whether `path` is the "parent folder of the weights directory containing distributed checkpoint
// files with extension *.distcp" (nemotron4-25.04), or that directory.
bool is_nemo_checkpoint(const std::string& path);

}  // namespace llmb::dispatch
