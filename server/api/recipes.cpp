// GET /api/v1/recipes: the configuration rows of the recipe documents.
#include <algorithm>

#include "parser/statistics/run_selection.h"
#include "server/api/json.h"
#include "server/api/measuring_question.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"
#include "server/report/catalog_json.h"

namespace llmb::api {
namespace {

bool is_wanted_recipe(const parser::Recipe& recipe, const parser::RunSelection& wanted) {
  const auto differs = [](const std::optional<std::string>& asked, const std::string& value) {
    return asked && *asked != value;
  };
  if (differs(wanted.workload, recipe.workload) || differs(wanted.model_size, recipe.model_size) ||
      differs(wanted.gpu_type, recipe.gpu_type)) {
    return false;
  }
  if (wanted.gpu_count && !recipe.has_scale(*wanted.gpu_count)) return false;
  return !wanted.dtype || std::count(recipe.dtypes.begin(), recipe.dtypes.end(),
                                     parser::coarse_dtype(*wanted.dtype)) > 0;
}

}  // namespace

http::Response get_recipes(Context& context, const http::Request& request) {
  const QueryParameters parameters(
      request, {"workload", "model_size", "dtype", "gpu_type", "gpu_count", "document"});
  const parser::Catalog& catalog = context.catalog();
  const parser::RunSelection wanted = parser::by_catalog_names(catalog, read_selection(parameters));
  const auto document = read_document(parameters, catalog);
  Json list = Json::array();
  for (const parser::Recipe& recipe : catalog.recipes) {
    const bool is_of_document = !document || *document == recipe.document;
    if (is_of_document && is_wanted_recipe(recipe, wanted))
      list.push_back(report::recipe_json(recipe));
  }
  return hashed_response(to_text({{"recipes", std::move(list)}}));
}

}  // namespace llmb::api
