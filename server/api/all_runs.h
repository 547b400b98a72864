// The runs of a database, measured as scaling and history want them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parser/statistics/compared_run.h"
#include "parser/statistics/run_marks.h"
#include "parser/step_interruption.h"
#include "server/api/context.h"
#include "server/api/query_parameters.h"
#include "storage/database.h"

namespace llmb::api {

struct MeasuringQuestion {
  std::optional<std::string> workload;  // by any of its names; nothing: every run
  std::optional<std::string> cluster;   // nothing: those of all clusters
  std::optional<parser::AskedWindow> window;
  parser::StepInterruptionSet without;
  parser::RunMarkSet included;
};

// Of the parameters workload, cluster, window, without and include. Throws RequestError (400).
MeasuringQuestion read_measuring_question(const QueryParameters& parameters);

// Throws RequestError (400) where there are more runs than can be held at once, or a window holds
// too many steps. Pointers in the result live as long as the catalog.
std::vector<parser::ComparedRun> measure_all_runs(storage::Reader& reader,
                                                  const parser::Catalog& catalog,
                                                  const MeasuringQuestion& question);

}  // namespace llmb::api
