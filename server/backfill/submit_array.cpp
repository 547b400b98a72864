#include "server/backfill/submit_array.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "server/backfill/array_job.h"
#include "server/backfill/durable_file.h"
#include "server/backfill/progress.h"
#include "server/dispatch/submission_mark.h"

namespace llmb::backfill {

parser::Result<SubmittedArray> submit_array(const WorkFolder& work, const Manifest& manifest,
                                            const dispatch::SlurmCommands& slurm,
                                            const ArraySubmission& submission) {
  const TaskLock lock(work.submission_lock_file());
  if (!lock.is_held() || dispatch::is_being_submitted(manifest.id)) {
    return parser::fail(fmt::format(
        "another command submits the tasks of {} just now; say the same again in a minute",
        work.path()));
  }
  auto queued = slurm.array_tasks(manifest.id);
  if (!queued) return tl::unexpected(queued.error());
  const auto tasks = look_at_tasks(work, manifest, *queued);
  if (!tasks) return tl::unexpected(tasks.error());
  SubmittedArray submitted;
  submitted.tasks = tasks_to_begin(*tasks);
  if (submitted.tasks.empty()) return submitted;
  if (auto written =
          write_durably(work.script_file(), array_script(work, manifest, submission.program));
      !written) {
    return tl::unexpected(written.error());
  }
  const dispatch::SbatchAnswer answer = slurm.sbatch(
      array_arguments(work, manifest, submitted.tasks, submission.at_once, submission.slurm));
  switch (answer.kind) {
    case dispatch::SbatchAnswer::Kind::submitted:
      submitted.job_id = answer.job_id;
      return submitted;
    case dispatch::SbatchAnswer::Kind::unknown:
      return parser::fail(fmt::format(
          "{}; the array job may have been submitted all the same. Say the same again in a minute: "
          "what Slurm has of it is not submitted twice",
          answer.message));
    default:
      return parser::fail(answer.message);
  }
}

}  // namespace llmb::backfill
