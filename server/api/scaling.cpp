// GET /api/v1/scaling: tokens/s/GPU by number of GPUs, for each workload, model size, dtype and
// GPU type.
#include <cstddef>
#include <cstdint>

#include "parser/statistics/scaling_series.h"
#include "server/api/json.h"
#include "server/api/kept_runs.h"
#include "server/api/measuring_question.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/scaling_json.h"

namespace llmb::api {
namespace {

constexpr std::int64_t kRunsMax = 1'000'000;

http::Body render_scaling(Context& context, const MeasuringQuestion& question,
                          const parser::RunSelection& selection, std::int64_t runs_max) {
  const MeasuredRuns measured = context.readers.with_reader([&](storage::Reader& reader) {
    return context.kept_runs.read(reader, context.catalog(), question,
                                  context.options.measured_runs_max);
  });
  const parser::ScalingRuns& runs = measured.scaling;
  const auto report =
      parser::scaling_series(context.catalog(), runs, selection, question.included, measured.trees);
  Json json = report::scaling_json(runs, report, static_cast<std::size_t>(runs_max));
  json["older_runs_left_out"] = measured.older_left_out;
  return {std::make_shared<const std::string>(to_text(json)), {}};
}

}  // namespace

http::Response get_scaling(Context& context, const http::Request& request) {
  const QueryParameters parameters(
      request, {"workload", "model_size", "dtype", "gpu_type", "cluster", "window", "without",
                "include", "runs_max"});
  const MeasuringQuestion question = read_measuring_question(parameters);
  const parser::RunSelection selection = read_selection(parameters);
  const std::int64_t runs_max = parameters.integer("runs_max", 1, kRunsMax).value_or(kRunsMax);
  return tagged_response(list_etag(context, request, parameters), [=, &context] {
    return render_scaling(context, question, selection, runs_max);
  });
}

}  // namespace llmb::api
