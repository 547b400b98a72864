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

// How well a job whose runs' folder is `folder` (an SQL expression) fits a log of the row `root`: 2
// where the log lies in the tree that the job writes to, 0 where that lies elsewhere below the
// root, and 1 where the folder is not below the root: another machine may call it otherwise.
inline std::string fit_of_job(std::string_view folder, std::string_view relative_path) {
  const auto above = [](std::string_view path) {
    return fmt::format("rtrim(rtrim({0}, replace({0}, '/', '')), '/')", path);
  };
  const auto begins_with = [](std::string_view text, std::string_view beginning) {
    return fmt::format("substr({0}, 1, length({1})) = {1}", text, beginning);
  };
  // Two folders up from the run's: in the tree of 2024 the logs of all launches lie there.
  const std::string tree = above(above(folder));
  const std::string log = fmt::format("root.path || '/' || {}", relative_path);
  return fmt::format("(CASE WHEN {} <> '' AND {} THEN 2 WHEN {} THEN 0 ELSE 1 END)", tree,
                     begins_with("(" + log + ")", "(" + tree + " || '/')"),
                     begins_with(folder, "(root.path || '/')"));
}

}  // namespace llmb::storage
