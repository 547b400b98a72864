// GET /api/v1/recipes: the configuration rows of the recipe documents.
#include <algorithm>

#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"
#include "server/report/catalog_json.h"

namespace llmb::api {

http::Response get_recipes(Context& context, const http::Request& request) {
  const QueryParameters parameters(
      request, {"workload", "model_size", "dtype", "gpu_type", "gpu_count", "document"});
  const auto gpu_count = parameters.integer("gpu_count", 1, 10'000'000);
  const auto differs = [&](const char* name, const std::string& value) {
    const auto wanted = parameters.text(name);
    return wanted && *wanted != value;
  };
  const auto dtype = parameters.text("dtype");
  Json list = Json::array();
  for (const parser::Recipe& recipe : context.catalog().recipes) {
    if (differs("workload", recipe.workload) || differs("model_size", recipe.model_size) ||
        differs("gpu_type", recipe.gpu_type) || differs("document", recipe.document)) {
      continue;
    }
    if (gpu_count && !recipe.has_scale(*gpu_count)) continue;
    if (dtype &&
        std::count(recipe.dtypes.begin(), recipe.dtypes.end(), parser::coarse_dtype(*dtype)) == 0) {
      continue;
    }
    list.push_back(report::recipe_json(recipe));
  }
  return hashed_response(to_text({{"recipes", std::move(list)}}));
}

}  // namespace llmb::api
