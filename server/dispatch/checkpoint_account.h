// What the documents say of checkpoints, told before a job is submitted: their sizes beside the
// free space of where they go, and the scales at which saving and loading work. It looks at folders
// of this machine only.
#pragma once

#include <string>
#include <vector>

#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

// `wanted`: completed. Sentences; none where it neither saves nor loads, and of scales none where
// the document has the one that is wanted.
std::vector<std::string> checkpoint_notes(const Submission& wanted,
                                          const ClusterSettings& settings);

}  // namespace llmb::dispatch
