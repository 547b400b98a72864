// IngestParts: what all roots of one Ingest share, whoever of them has a writer of its own.
#pragma once

#include <functional>
#include <memory>

#include "server/ingest/clock.h"
#include "server/ingest/ingest_options.h"
#include "server/ingest/status_board.h"
#include "server/ingest/watch_plan.h"
#include "storage/run_change.h"

namespace llmb::ingest {

struct IngestParts {
  const IngestOptions options;
  const std::shared_ptr<const Clock> clock;
  const std::function<void(const storage::RunChange&)> on_change;
  const int root_count;  // limits are shared out among them
  const std::shared_ptr<StatusBoard> status = std::make_shared<StatusBoard>();
  const std::shared_ptr<WatchAllowance> watches = std::make_shared<WatchAllowance>(
      options.directory_watches_max.value_or(default_watches_max()));
};

}  // namespace llmb::ingest
