#include "server/api/change_events.h"

#include <string_view>

#include "server/api/json.h"

namespace llmb::api {
namespace {

std::string_view change_name(storage::RunChange::Kind kind) {
  switch (kind) {
    case storage::RunChange::Kind::added:
      return "added";
    case storage::RunChange::Kind::grown:
      return "grown";
    case storage::RunChange::Kind::status:
      return "status";
    case storage::RunChange::Kind::superseded:
      return "superseded";
    case storage::RunChange::Kind::removed:
      return "removed";
  }
  return "grown";
}

}  // namespace

void publish_change(http::EventChannel& channel, const storage::RunChange& change) {
  const Json data = {{"run_id", change.run}, {"kind", change_name(change.kind)}};
  channel.publish("run", data.dump());
}

void publish_job_change(http::EventChannel& channel, const storage::JobRecord& job,
                        const std::vector<storage::RunId>& runs) {
  const Json data = {{"job", job.id},
                     {"job_id", nullable(job.job_id)},
                     {"state", storage::job_state_name(job.state)},
                     {"revision", job.revision}};
  channel.publish("job", to_text(data));
  // A page that shows one of its runs asks for that run again.
  for (const storage::RunId run : runs) {
    channel.publish("run", Json{{"run_id", run}, {"kind", "job"}}.dump());
  }
}

}  // namespace llmb::api
