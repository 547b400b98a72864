// The filters that the lists of runs and of experiments share.
#pragma once

#include <string_view>
#include <vector>

#include "server/api/query_parameters.h"
#include "storage/run_query.h"

namespace llmb::api {

// The filters' names followed by `further` ones: what a list allows.
std::vector<std::string_view> with_filter_names(std::vector<std::string_view> further);

// Throws RequestError for a value that cannot be.
storage::RunFilter read_run_filter(const QueryParameters& parameters);

}  // namespace llmb::api
