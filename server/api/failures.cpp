// GET /api/v1/failures: what ends runs, and where.
#include "server/api/json.h"
#include "server/api/resources.h"
#include "server/api/run_filter.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/failure_report.h"

namespace llmb::api {

http::Response get_failures(Context& context, const http::Request& request) {
  const QueryParameters parameters = run_list_parameters(request, {});
  const storage::RunFilter filter = read_run_filter(parameters, context.catalog());
  const std::string etag = list_etag(context, request, parameters);
  return tagged_response(etag, [filter, &context]() -> http::Body {
    const auto counts = context.readers.with_reader(
        [&](storage::Reader& reader) { return reader.failure_counts(filter); });
    const Json json = report::failures_json(report::failure_report(counts));
    return {std::make_shared<const std::string>(to_text(json))};
  });
}

}  // namespace llmb::api
