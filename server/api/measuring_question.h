// Which runs of a database scaling and history are of, and how they are measured.
#pragma once

#include <optional>
#include <string>

#include "parser/catalog/catalog.h"
#include "parser/statistics/run_marks.h"
#include "parser/statistics/run_selection.h"
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

// Of the parameters workload, model_size, dtype, gpu_type and, where a resource has it, gpu_count.
parser::RunSelection read_selection(const QueryParameters& parameters);

// The parameter document. Throws RequestError (400) for one that the catalog does not have.
std::optional<std::string> read_document(const QueryParameters& parameters,
                                         const parser::Catalog& catalog);

// Which runs the question is of, but for what their recipes decide and the database does not hold.
storage::RunFilter filter_of(const parser::Catalog& catalog, const MeasuringQuestion& question);

}  // namespace llmb::api
