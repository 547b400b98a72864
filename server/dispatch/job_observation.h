// Which of Slurm's jobs a row means, and what an observation of it makes of the row. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server/dispatch/queue_snapshot.h"
#include "storage/job_records.h"

namespace llmb::dispatch {

// The row's job: the id alone is not enough, for Slurm uses ids again. Either the comment or the
// time of submission has to agree; where the id is not known yet, comment and user.
const ObservedJob* find_in_queue(const std::vector<ObservedJob>& queue,
                                 const storage::JobRecord& job);

// The same among accounting's records, where the id is known.
const ObservedJob* find_in_accounting(const std::vector<ObservedJob>& records,
                                      const storage::JobRecord& job);

// Takes over what was seen. `partition_nodes`: how many nodes the job's partition has, if known.
void apply_observation(storage::JobRecord& job, const ObservedJob& observed,
                       std::optional<std::int64_t> partition_nodes = {});

}  // namespace llmb::dispatch
