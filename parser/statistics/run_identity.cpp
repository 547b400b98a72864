#include "parser/statistics/run_identity.h"

#include <algorithm>

#include "parser/foundation/parse_number.h"

namespace llmb::parser {
namespace {

// As the run says, or as every recipe does that may be its own.
std::string gpu_type_of(const RecipeMatch& match) {
  if (!match.gpu_type.empty() || match.candidates.empty()) return match.gpu_type;
  const std::string& first = match.candidates.front()->gpu_type;
  const bool is_one = std::ranges::all_of(
      match.candidates, [&](const Recipe* recipe) { return recipe->gpu_type == first; });
  return is_one ? first : "";
}

}  // namespace

std::size_t stated_count(const RunIdentity& identity) {
  const auto one = [](bool is_stated) { return is_stated ? std::size_t{1} : std::size_t{0}; };
  return one(!identity.workload.empty()) + one(!identity.model_size.empty()) +
         one(!identity.dtype.empty()) + one(!identity.gpu_type.empty()) +
         one(identity.gpu_count.has_value());
}

RunIdentity identity_of(const RecipeMatch& match, const RunConfiguration& configuration) {
  const auto stated = [&](const char* key) { return configuration.value(key).value_or(""); };
  RunIdentity identity;
  identity.workload = match.workload != nullptr ? match.workload->workload : stated("workload");
  identity.model_size = match.model != nullptr ? match.model->shape.size : stated("model_size");
  identity.dtype = match.dtype.empty() ? stated("dtype") : match.dtype;
  identity.gpu_type = gpu_type_of(match);
  if (identity.gpu_type.empty()) identity.gpu_type = stated("gpu_type");
  identity.gpu_count = match.gpu_count;
  if (!identity.gpu_count) identity.gpu_count = parse_integer(stated("gpu_count"));
  return identity;
}

}  // namespace llmb::parser
