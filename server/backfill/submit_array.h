// submit_array: the tasks of a back-fill that are left, as one array job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parser/result.h"
#include "server/backfill/work_folder.h"
#include "server/dispatch/slurm_commands.h"

namespace llmb::backfill {

struct ArraySubmission {
  std::string program;   // absolute, as the nodes see it
  std::int64_t at_once;  // 0: as Slurm likes
  dispatch::SlurmParameters slurm;
};

struct SubmittedArray {
  std::int64_t job_id = 0;  // 0: no task is left that nobody is at
  std::vector<std::int64_t> tasks;
};

// Of two that are asked at once, the second finds what the first submitted. Fails where Slurm
// refuses, or does not say what it has: then nothing was submitted, or the same command finds it.
parser::Result<SubmittedArray> submit_array(const WorkFolder& work, const Manifest& manifest,
                                            const dispatch::SlurmCommands& slurm,
                                            const ArraySubmission& submission);

}  // namespace llmb::backfill
