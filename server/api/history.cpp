// GET /api/v1/history: the runs of each configuration in the order of their starts, and where their
// step time changed its level.
#include "server/api/json.h"
#include "server/api/kept_runs.h"
#include "server/api/measuring_question.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/history_json.h"

namespace llmb::api {
namespace {

http::Body render_history(Context& context, const MeasuringQuestion& question,
                          const parser::RunSelection& selection) {
  const parser::Catalog& catalog = context.catalog();
  const MeasuredRuns measured = context.readers.with_reader([&](storage::Reader& reader) {
    return context.kept_runs.read(reader, catalog, question, context.options.measured_runs_max);
  });
  const parser::HistoryRuns& runs = measured.history;
  const auto history = context.kept_runs.history(
      measured, parser::by_catalog_names(catalog, selection), question.included);
  Json json = report::history_json(runs, history);
  json["older_runs_left_out"] = measured.older_left_out;
  return {std::make_shared<const std::string>(to_text(json)), {}};
}

}  // namespace

http::Response get_history(Context& context, const http::Request& request) {
  const QueryParameters parameters(
      request, {"workload", "model_size", "dtype", "gpu_type", "gpu_count", "cluster", "window",
                "without", "include"});
  const MeasuringQuestion question = read_measuring_question(parameters);
  const parser::RunSelection selection = read_selection(parameters);
  return tagged_response(list_etag(context, request, parameters),
                         [=, &context] { return render_history(context, question, selection); });
}

}  // namespace llmb::api
