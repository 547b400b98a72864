#include "server/backfill/array_job.h"

#include <fmt/format.h>

#include "server/dispatch/text_check.h"

namespace llmb::backfill {

std::string array_script(const WorkFolder& work, const Manifest& manifest,
                         const std::string& program) {
  return fmt::format(
      "#!/bin/bash\n"
      "# Written by llmb-report: back-fill {}, {} tasks.\n"
      "exec {} backfill --work-folder {} --task \"${{SLURM_ARRAY_TASK_ID:?this script is for "
      "sbatch}}\"\n",
      manifest.id, manifest.tasks.size(), dispatch::shell_quoted(program),
      dispatch::shell_quoted(work.path()));
}

std::string ranges_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::to_string(numbers[first])
                          : fmt::format("{}-{}", numbers[first], numbers[last]);
    first = last + 1;
  }
  return text;
}

std::vector<std::string> array_arguments(const WorkFolder& work, const Manifest& manifest,
                                         const std::vector<std::int64_t>& tasks,
                                         std::int64_t at_once, dispatch::SlurmParameters slurm) {
  dispatch::SlurmParameters otherwise;
  for (const auto& [name, value] : {std::pair("cpus-per-task", "2"), std::pair("requeue", "")}) {
    otherwise.emplace(name, value);
  }
  dispatch::fill_missing(slurm, otherwise);
  std::vector<std::string> arguments = {
      "sbatch",
      "--parsable",
      "--export=ALL",  // of sbatch's own environment, which is minimal
      "--job-name=llmb-backfill",
      "--comment=" + manifest.id,
      "--array=" + ranges_of(tasks) + (at_once > 0 ? fmt::format("%{}", at_once) : ""),
      "--ntasks=1",
      "--chdir=" + work.path(),
      "--output=" + work.output_pattern(),
      "--open-mode=append",
  };
  for (std::string& option : dispatch::sbatch_options(slurm)) {
    arguments.push_back(std::move(option));
  }
  arguments.push_back(work.script_file());
  return arguments;
}

}  // namespace llmb::backfill
