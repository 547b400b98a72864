// GET /api/v1/references: published results; GET /api/v1/references/audit: what their own rows make
// of them.
#include "parser/statistics/run_selection.h"
#include "server/api/json.h"
#include "server/api/measuring_question.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"
#include "server/report/catalog_json.h"

namespace llmb::api {
namespace {

// What is published for a coarse dtype only is also that of the fine ones.
bool is_wanted_reference(const parser::Reference& reference, parser::RunSelection wanted) {
  const bool is_coarse = wanted.dtype && parser::coarse_dtype(*wanted.dtype) == reference.dtype;
  if (is_coarse) wanted.dtype = reference.dtype;
  return parser::is_selected({reference.workload, reference.model_size, reference.dtype,
                              reference.gpu_type, reference.gpu_count},
                             wanted);
}

}  // namespace

http::Response get_references(Context& context, const http::Request& request) {
  const QueryParameters parameters(
      request, {"workload", "model_size", "dtype", "gpu_type", "gpu_count", "release"});
  const parser::Catalog& catalog = context.catalog();
  const parser::RunSelection wanted = parser::by_catalog_names(catalog, read_selection(parameters));
  const auto release = parameters.text("release");
  Json list = Json::array();
  for (const parser::Reference& reference : catalog.references) {
    const bool is_of_release = !release || *release == reference.release;
    if (is_of_release && is_wanted_reference(reference, wanted)) {
      list.push_back(report::reference_json(reference));
    }
  }
  return hashed_response(to_text({{"references", std::move(list)}}));
}

http::Response get_reference_audit(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"document"});
  const parser::Catalog& catalog = context.catalog();
  const auto wanted = read_document(parameters, catalog);
  const parser::Audit audit = parser::audit_catalog(
      catalog, [&](const std::string& document) { return !wanted || document == *wanted; });
  return hashed_response(to_text(report::audit_json(audit)));
}

}  // namespace llmb::api
