// GET /api/v1/references: published results; GET /api/v1/references/audit: what their own rows make
// of them.
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"
#include "server/report/catalog_json.h"

namespace llmb::api {

http::Response get_references(Context& context, const http::Request& request) {
  const QueryParameters parameters(
      request, {"workload", "model_size", "dtype", "gpu_type", "gpu_count", "release"});
  const auto gpu_count = parameters.integer("gpu_count", 1, 10'000'000);
  const auto differs = [&](const char* name, const std::string& value) {
    const auto wanted = parameters.text(name);
    return wanted && *wanted != value;
  };
  Json list = Json::array();
  for (const parser::Reference& reference : context.catalog().references) {
    if (differs("workload", reference.workload) || differs("model_size", reference.model_size) ||
        differs("dtype", reference.dtype) || differs("gpu_type", reference.gpu_type) ||
        differs("release", reference.release)) {
      continue;
    }
    if (gpu_count && reference.gpu_count != *gpu_count) continue;
    list.push_back(report::reference_json(reference));
  }
  return hashed_response(to_text({{"references", std::move(list)}}));
}

http::Response get_reference_audit(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"document"});
  const parser::Catalog& catalog = context.catalog();
  const auto wanted = parameters.text("document");
  if (wanted && catalog.document(*wanted) == nullptr) {
    std::string ids;
    for (const auto& document : catalog.documents) ids += (ids.empty() ? "" : ", ") + document.id;
    throw bad_request("There is no document '" + *wanted + "'; there are " + ids + ".");
  }
  const parser::Audit audit = parser::audit_catalog(
      catalog, [&](const std::string& document) { return !wanted || document == *wanted; });
  return hashed_response(to_text(report::audit_json(audit)));
}

}  // namespace llmb::api
