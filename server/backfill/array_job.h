// The array job of a back-fill: its batch script, and the words of the sbatch that submits it.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/backfill/work_folder.h"
#include "server/dispatch/slurm_parameters.h"

namespace llmb::backfill {

// Does the task whose number Slurm gives, by `program` (absolute, as nodes see it).
std::string array_script(const WorkFolder& work, const Manifest& manifest,
                         const std::string& program);

// `tasks`: rising numbers. `at_once`: at most so many of them run at a time; 0: as Slurm likes.
// What `slurm` does not say is one process with two cores, which is requeued where its node fails.
std::vector<std::string> array_arguments(const WorkFolder& work, const Manifest& manifest,
                                         const std::vector<std::int64_t>& tasks,
                                         std::int64_t at_once, dispatch::SlurmParameters slurm);

// "3,7-9" of 3, 7, 8 and 9.
std::string ranges_of(const std::vector<std::int64_t>& numbers);

}  // namespace llmb::backfill
