// The runs of a database, measured as scaling and history want them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parser/statistics/compared_run.h"
#include "server/api/context.h"
#include "storage/database.h"

namespace llmb::api {

// Those of a workload (by any of its names), or all. Throws RequestError (400) where there are more
// than can be held at once, or the window holds too many steps.
std::vector<parser::ComparedRun> measure_all_runs(storage::Reader& reader,
                                                  const parser::Catalog& catalog,
                                                  const std::optional<std::string>& workload,
                                                  const std::optional<parser::AskedWindow>& window,
                                                  bool include_superseded);

}  // namespace llmb::api
