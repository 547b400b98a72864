// ProfileWindow: which steps of a job's run are profiled: those that were asked for, else those of
// the document, or of llmb-step-runner where it starts the run; and whether the run has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "parser/result.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/document_words.h"
#include "server/dispatch/launch_variables.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

struct ProfileWindow {
  std::int64_t step_count = 0;  // of the run
  std::string step_count_origin;
  std::int64_t start_step = 0;
  std::string start_step_origin;
  std::int64_t stop_step = 0;  // profiling ends before it
  std::string stop_step_origin;
};

// Of a profiled job. `origins`: of those fields of the submission that were not asked for as such;
// `words`: of the row's document.
ProfileWindow profile_window(const Submission& wanted, const ClusterSettings& settings,
                             const Origins& origins, const DocumentWords& words);

// Refuses a window that ends before it starts, and, of a profiled job, one that is not within the
// steps of its run.
parser::Result<void> check_profile_window(const Submission& wanted, const ClusterSettings& settings,
                                          const Origins& origins, const DocumentWords& words);

// Refuses ranks of a profiled job that are no list, or that the job does not have. Those that its
// document has as a default (`documented`) may be more than a small job has; whoever plans a job
// once more, to send it, finds them filled in.
parser::Result<void> check_profile_ranks(const Submission& wanted, const Origins& origins,
                                         std::string_view documented);

}  // namespace llmb::dispatch
