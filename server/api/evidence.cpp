// GET /api/v1/runs/{id}/nccl, /ranks, /checkpoints and /insight: what a log says beside its steps,
// and what the steps show beside their mean.
#include <fmt/format.h>

#include "parser/statistics/run_marks.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/evidence_json.h"

namespace llmb::api {
namespace {

using MakeJson = Json (*)(const storage::RunRecord&);

// A resource without parameters that is made of the run's record.
http::Response answer_of_run(Context& context, const http::Request& request, const char* question,
                             MakeJson make_json) {
  const QueryParameters parameters(request, {});
  const storage::RunId id = id_parameter(request);
  const std::string etag = run_etag(context, id, question);
  return tagged_response(etag, [&context, id, make_json] {
    const auto run = context.readers.with_reader([&](storage::Reader& reader) {
      auto found = reader.run(id);
      if (!found) throw absent_run(reader, id);
      return found;
    });
    return http::Body{std::make_shared<const std::string>(to_text(make_json(*run))), {}};
  });
}

Json run_nccl_json(const storage::RunRecord& run) {
  Json json;
  json["run_id"] = run.id;
  json["is_traced"] = parser::is_traced(run.facts.nccl_trace_seen, run.configuration);
  json.update(report::nccl_json(run.facts.nccl));
  return json;
}

Json run_ranks_json(const storage::RunRecord& run) {
  Json json;
  json["run_id"] = run.id;
  json.update(report::ranks_json(run.facts.ranks));
  return json;
}

Json run_checkpoints_json(const storage::RunRecord& run) {
  Json json;
  json["run_id"] = run.id;
  json["checkpoint_count"] = run.facts.checkpoint_count;
  json["checkpoints"] = report::checkpoints_json(run.facts.checkpoints);
  return json;
}

std::vector<parser::StepSample> read_segment(storage::Reader& reader, storage::RunId id,
                                             const std::optional<parser::Window>& window,
                                             std::int32_t segment) {
  std::vector<parser::StepSample> samples;
  reader.visit_steps(id, window, segment, [&](parser::StepSample&& sample) {
    if (static_cast<std::int64_t>(samples.size()) == report::kInsightStepsMax) {
      throw bad_request(fmt::format(
          "This segment holds more than {} steps; ask for a part with window=FIRST-LAST.",
          report::kInsightStepsMax));
    }
    sample.extra_fields = {};
    sample.logged_at = {};
    samples.push_back(std::move(sample));
  });
  return samples;
}

http::Body render_insight(Context& context, storage::RunId id,
                          const std::optional<parser::Window>& window,
                          std::optional<std::int32_t> asked) {
  const Json json = context.readers.with_reader([&](storage::Reader& reader) {
    const auto run = reader.run(id);
    if (!run) throw absent_run(reader, id);
    const std::int32_t segment = asked.value_or(run->summary.segment);
    const auto samples = read_segment(reader, id, window, segment);
    Json result;
    result["run_id"] = id;
    result["segment"] = segment;
    result["window"] = window ? Json(parser::to_string(*window)) : Json(nullptr);
    result.update(report::insight_json(parser::compute_step_insight(samples)));
    return result;
  });
  return {std::make_shared<const std::string>(to_text(json)), {}};
}

}  // namespace

http::Response get_run_nccl(Context& context, const http::Request& request) {
  return answer_of_run(context, request, "nccl", run_nccl_json);
}

http::Response get_run_ranks(Context& context, const http::Request& request) {
  return answer_of_run(context, request, "ranks", run_ranks_json);
}

http::Response get_run_checkpoints(Context& context, const http::Request& request) {
  return answer_of_run(context, request, "checkpoints", run_checkpoints_json);
}

http::Response get_run_insight(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"window", "segment"});
  const storage::RunId id = id_parameter(request);
  const auto window = parameters.window("window");
  const std::string etag = run_etag(context, id, "insight?" + parameters.canonical());
  const auto segment = asked_segment(context, parameters, id);
  return tagged_response(etag,
                         [=, &context] { return render_insight(context, id, window, segment); });
}

}  // namespace llmb::api
