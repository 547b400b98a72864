// GET /api/v1/runs/{id}/metrics?tokens=&window=&without=: which recipe a run is, what its numbers
// mean, and what was published for the same.
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

parser::Judgement judge(Context& context, storage::Reader& reader, const storage::RunRecord& run,
                        const parser::JudgingOptions& options) {
  auto judgement = report::judge_stored_run(reader, run, context.catalog(), options);
  if (!judgement) throw bad_request(judgement.error().message);
  return std::move(*judgement);
}

// Published figures are of every step: what a run is held against them with is, too.
void take_standing(parser::RunMetrics& metrics, const parser::RunMetrics& of_every_step) {
  metrics.reference = of_every_step.reference;
  metrics.speed_against_reference = of_every_step.speed_against_reference;
  metrics.reference_reason = of_every_step.reference_reason;
}

http::Body render_metrics(Context& context, storage::RunId id,
                          const parser::JudgingOptions& options) {
  Json json;
  json["run_id"] = id;
  json.update(context.readers.with_reader([&](storage::Reader& reader) {
    const auto run = reader.run(id);
    if (!run) throw absent_run(reader, id);
    parser::Judgement judgement = judge(context, reader, *run, options);
    if (!options.without.empty()) {
      const parser::JudgingOptions every_step = {options.window, options.tokens_to_train};
      take_standing(judgement.metrics, judge(context, reader, *run, every_step).metrics);
    }
    return report::run_metrics_json(judgement);
  }));
  return {std::make_shared<const std::string>(to_text(json)), {}};
}

}  // namespace

http::Response get_run_metrics(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"tokens", "window", "without"});
  const storage::RunId id = id_parameter(request);
  const parser::JudgingOptions options = {
      .window = parameters.asked_window("window"),
      .tokens_to_train =
          parameters.number("tokens", 1, kTokensMax).value_or(parser::kTokensToTrainDefault),
      .without = parameters.step_interruptions("without")};
  const std::string etag = run_etag(context, id, "metrics?" + parameters.canonical());
  return tagged_response(etag, [=, &context] { return render_metrics(context, id, options); });
}

}  // namespace llmb::api
