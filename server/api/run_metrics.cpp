// GET /api/v1/runs/{id}/metrics?tokens=&window=: which recipe a run is, what its numbers mean, and
// what was published for the same.
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/catalog_json.h"
#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

constexpr double kTokensMax = 1e18;

http::Body render_metrics(Context& context, storage::RunId id,
                          const std::optional<parser::AskedWindow>& asked, double tokens) {
  const parser::Catalog& catalog = context.catalog();
  Json json;
  json["run_id"] = id;
  json.update(context.readers.with_reader([&](storage::Reader& reader) {
    const auto run = reader.run(id);
    if (!run) throw absent_run(reader, id);
    const auto judgement = report::judge_stored_run(reader, *run, catalog, {asked, tokens});
    if (!judgement) throw bad_request(judgement.error().message);
    return report::run_metrics_json(*judgement);
  }));
  return {std::make_shared<const std::string>(to_text(json)), {}};
}

}  // namespace

http::Response get_run_metrics(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"tokens", "window"});
  const storage::RunId id = id_parameter(request);
  const auto window = parameters.asked_window("window");
  const double tokens =
      parameters.number("tokens", 1, kTokensMax).value_or(parser::kTokensToTrainDefault);
  const std::string etag = run_etag(context, id, "metrics?" + parameters.canonical());
  return tagged_response(etag,
                         [=, &context] { return render_metrics(context, id, window, tokens); });
}

}  // namespace llmb::api
