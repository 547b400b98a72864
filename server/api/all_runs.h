// The runs of a database, measured as scaling and history want them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/statistics/compared_run.h"
#include "parser/statistics/run_marks.h"
#include "parser/step_interruption.h"
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

struct MeasuredRuns {
  std::vector<parser::ComparedRun> runs;  // by id
  std::int64_t older_left_out = 0;        // beyond `runs_max`
};

// Which runs the question is of, but for what their recipes decide and the database does not hold.
storage::RunFilter filter_of(const parser::Catalog& catalog, const MeasuringQuestion& question);

// The newest `runs_max` of them. Throws RequestError (400) where a window holds too many steps.
// Pointers in the result live as long as the catalog.
MeasuredRuns measure_all_runs(storage::Reader& reader, const parser::Catalog& catalog,
                              const MeasuringQuestion& question, std::size_t runs_max);

}  // namespace llmb::api
