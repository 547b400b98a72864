// GET /api/v1/choices: what lists of runs can be filtered by.
#include "server/api/context.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"

namespace llmb::api {

http::Response get_choices(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  return tagged_response(list_etag(context, request, parameters), [&context]() -> http::Body {
    const auto choices =
        context.readers.with_reader([](storage::Reader& reader) { return reader.run_choices(); });
    Json json;
    json["workload"] = choices.workload;
    json["model_size"] = choices.model_size;
    json["dtype"] = choices.dtype;
    json["gpu_type"] = choices.gpu_type;
    json["gpu_count"] = choices.gpu_count;
    json["release"] = choices.release;
    json["cluster"] = choices.cluster;
    json["failure_cause"] = choices.failure_cause;
    json["cut"] = choices.cut;
    return {std::make_shared<const std::string>(to_text(json))};
  });
}

}  // namespace llmb::api
