// RunIdentity: what a run trained, and on what, as lists, filters, series and metrics name it. The
// recipe that a run matches tells more than its path and its llmb-config, and by the catalog's
// names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "parser/catalog/recipe_match.h"

namespace llmb::parser {

struct RunIdentity {  // empty, or nothing: neither the run nor a recipe says it
  std::string workload;
  std::string model_size;
  std::string dtype;
  std::string gpu_type;
  std::optional<std::int64_t> gpu_count;
  bool operator==(const RunIdentity&) const = default;
  bool operator<(const RunIdentity& other) const {  // in the order above
    return std::tie(workload, model_size, dtype, gpu_type, gpu_count) <
           std::tie(other.workload, other.model_size, other.dtype, other.gpu_type, other.gpu_count);
  }
};

// How many of these it has.
std::size_t stated_count(const RunIdentity& identity);

// `match`: of a run with this configuration; one that was made by no catalog adds nothing.
RunIdentity identity_of(const RecipeMatch& match, const RunConfiguration& configuration);

}  // namespace llmb::parser
