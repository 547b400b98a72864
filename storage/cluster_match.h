// Of which cluster a run's job may be, as SQL. Each cluster counts its jobs on its own, so two may
// have a job of one number and, in the tree of 2024, of one experiment. Not a proof: a root's
// cluster is whatever its user called it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace llmb::storage {

// A condition on a row `root`: jobs of `cluster` (an SQL expression) may have written below it. A
// root without a name may hold those of any cluster, and so may one whose name no job has.
inline std::string may_hold_jobs_of(std::string_view cluster) {
  return fmt::format(
      " (root.cluster IN ('', {}) OR NOT EXISTS"
      " (SELECT 1 FROM job AS other WHERE other.cluster = root.cluster))",
      cluster);
}

// Where several jobs fit a run, first those whose folder lies below its root, then the newest.
inline constexpr std::string_view kBestJobFirst =
    " ORDER BY instr(job.run_folder, root.path || '/') = 1 DESC, job.id DESC LIMIT 1";

}  // namespace llmb::storage
