// Changes a job's row, whoever else does so at the same time: the change is applied to what is
// stored, again where somebody was quicker.
#pragma once

#include <functional>
#include <optional>

#include "storage/job_store.h"

namespace llmb::dispatch {

// Called after a job's row changed, on the thread that changed it.
using JobChanged = std::function<void(const storage::JobRecord&)>;

struct JobUpdate {
  std::optional<storage::JobRecord> job;  // as it is stored now; nothing where there is none
  bool has_changed = false;
};

// `change` may run more than once. `changed` is told where anything did.
JobUpdate update_job(storage::JobStore& store, storage::JobRowId id, const JobChanged& changed,
                     const std::function<void(storage::JobRecord&)>& change);

}  // namespace llmb::dispatch
