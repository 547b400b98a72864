// The filters that the lists of runs and of experiments share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parser/catalog/catalog.h"
#include "server/api/query_parameters.h"
#include "storage/run_query.h"

namespace llmb::api {

// The parameters of a list that allows the filters and `further` ones. Filters that name values may
// be repeated: any of the values will do.
QueryParameters run_list_parameters(const http::Request& request,
                                    std::vector<std::string_view> further);

struct RunSort {
  std::string text = "-launched_at";  // as the parameter "sort" has it
  storage::RunSortKey key = storage::RunSortKey::launched_at;
  bool descending = true;
};
RunSort read_run_sort(const QueryParameters& parameters);  // throws RequestError

// Throws RequestError for a value that cannot be.
// A workload is looked for under every name that the catalog has for it.
storage::RunFilter read_run_filter(const QueryParameters& parameters,
                                   const parser::Catalog& catalog);

}  // namespace llmb::api
