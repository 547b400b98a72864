// GET /api/v1/scaling: tokens/s/GPU by number of GPUs, for each workload, model size, dtype and
// GPU type.
#include <vector>

#include "parser/statistics/scaling_series.h"
#include "server/api/all_runs.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/scaling_json.h"

namespace llmb::api {
namespace {

http::Body render_scaling(Context& context, const MeasuringQuestion& question,
                          const parser::ScalingSelection& selection) {
  const parser::Catalog& catalog = context.catalog();
  const auto [runs, older_left_out] = context.readers.with_reader([&](storage::Reader& reader) {
    return measure_all_runs(reader, catalog, question, context.options.measured_runs_max);
  });
  const auto report = parser::scaling_series(catalog, runs, selection, question.included);
  Json json = report::scaling_json(runs, report);
  json["older_runs_left_out"] = older_left_out;
  return {std::make_shared<const std::string>(to_text(json)), {}};
}

}  // namespace

http::Response get_scaling(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"workload", "model_size", "dtype", "gpu_type",
                                             "cluster", "window", "without", "include"});
  const MeasuringQuestion question = read_measuring_question(parameters);
  const parser::ScalingSelection selection = {question.workload, parameters.text("model_size"),
                                              parameters.text("dtype"),
                                              parameters.text("gpu_type")};
  return tagged_response(list_etag(context, request, parameters),
                         [=, &context] { return render_scaling(context, question, selection); });
}

}  // namespace llmb::api
