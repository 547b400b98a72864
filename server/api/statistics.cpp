// GET /api/v1/runs/{id}/statistics?window=: what a run amounts to over any window, computed from
// its stored steps by the same function that ingest uses.
#include "parser/statistics/time_source.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/run_json.h"
#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

Json summary_json(storage::RunId id, parser::Dialect dialect, const parser::RunSummary& summary) {
  Json json;
  json["run_id"] = id;
  json["window"] = parser::to_string(summary.window);
  json["window_numbering"] = parser::traits_of(dialect).numbering;
  json["status"] = parser::run_status_name(summary.status);
  json["status_reason"] = summary.status_reason;
  json["failure_cause"] = null_if_empty(summary.failure_cause);
  json["silent_s"] = number(summary.silent_s);
  json["window_is_whole"] = summary.window_is_whole;
  json["iterations_missing_in_window"] = summary.iterations_missing_in_window;
  json["window_interruptions"] = null_if_empty(summary.window_interruptions);
  json["steps_left_out"] = summary.steps_left_out;
  json["segment"] = summary.segment;
  json["step_time_source"] = report::nullable(parser::time_source(summary));
  json["step_time_s"] = report::statistics_json(summary.step_time_s);
  json["tflops_per_gpu"] = report::statistics_json(summary.tflops_per_gpu);
  return json;
}

http::Body render_statistics(Context& context, storage::RunId id,
                             const std::optional<parser::AskedWindow>& asked,
                             const parser::StepInterruptionSet& without) {
  const Json json = context.readers.with_reader([&](storage::Reader& reader) {
    const auto run = reader.run(id);
    if (!run) throw absent_run(reader, id);
    const auto window = asked.value_or(parser::AskedWindow{run->summary.window});
    const auto judgement = report::judge_stored_run(reader, *run, context.catalog(),
                                                    {.window = window, .without = without});
    if (!judgement) throw bad_request(judgement.error().message);
    return summary_json(id, run->facts.dialect, judgement->summary);
  });
  return {std::make_shared<const std::string>(to_text(json)), {}};
}

}  // namespace

http::Response get_run_statistics(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"window", "without"});
  const storage::RunId id = id_parameter(request);
  const auto window = parameters.asked_window("window");
  const auto without = parameters.step_interruptions("without");
  const std::string etag = run_etag(context, id, "statistics?" + parameters.canonical());
  return tagged_response(etag,
                         [=, &context] { return render_statistics(context, id, window, without); });
}

}  // namespace llmb::api
