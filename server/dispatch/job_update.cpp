#include "server/dispatch/job_update.h"

#include "server/dispatch/wall_clock.h"

namespace llmb::dispatch {

JobUpdate update_job(storage::JobStore& store, storage::JobRowId id, const JobChanged& changed,
                     const std::function<void(storage::JobRecord&)>& change) {
  while (true) {
    const std::optional<storage::JobRecord> before = store.job(id);
    if (!before) return {};
    storage::JobRecord after = *before;
    change(after);
    if (after == *before) return {before, false};
    after.updated_at = instant_text(wall_now());
    if (!store.update(after)) continue;
    after.revision = before->revision + 1;
    if (changed) changed(after);
    return {after, true};
  }
}

}  // namespace llmb::dispatch
