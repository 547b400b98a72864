// GET /api/v1/experiments: the configurations that were run, each with what its runs amount to.
#include "server/api/cursor.h"
#include "server/api/json.h"
#include "server/api/resources.h"
#include "server/api/run_filter.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"

namespace llmb::api {
namespace {

Json experiment_json(const storage::ExperimentRecord& experiment) {
  Json json;
  json["experiment"] = experiment.experiment;
  json["root_id"] = experiment.root_id;
  json["run_count"] = experiment.run_count;
  json["complete_count"] = experiment.complete_count;
  json["running_count"] = experiment.running_count;
  json["last_grown_at"] = null_if_empty(experiment.last_grown_at);
  json["best_step_time_s_mean"] = number(experiment.best_step_time_s_mean);
  json["latest_step_time_s_mean"] = number(experiment.latest_step_time_s_mean);
  return json;
}

struct Page {
  std::vector<storage::ExperimentRecord> experiments;
  bool has_more = false;
};

// Storage ends a list between two names: an experiment that several roots hold stays on one page.
Page read_page(Context& context, const storage::RunFilter& filter, std::int64_t limit,
               const std::string& after) {
  return context.readers.with_reader([&](storage::Reader& reader) {
    Page page;
    page.experiments = reader.experiments(filter, limit, after);
    if (static_cast<std::int64_t>(page.experiments.size()) >= limit) {
      page.has_more = !reader.experiments(filter, 1, page.experiments.back().experiment).empty();
    }
    return page;
  });
}

}  // namespace

http::Response get_experiments(Context& context, const http::Request& request) {
  const QueryParameters parameters = run_list_parameters(request, {"limit", "cursor"});
  const storage::RunFilter filter = read_run_filter(parameters, context.catalog());
  const std::int64_t limit = parameters.limit();
  Cursor here{"experiment", std::nullopt, 0, hash_text(parameters.canonical({"limit", "cursor"}))};
  std::string after;
  if (const auto text = parameters.text("cursor")) {
    after = require_cursor(*text, here.sort, here.filter_hash).sort_value.value_or("");
  }
  const std::string etag = list_etag(context, request, parameters);
  return tagged_response(etag, [=, &context, &request]() mutable {
    const Page page = read_page(context, filter, limit, after);
    Json json;
    json["experiments"] = Json::array();
    for (const auto& experiment : page.experiments) {
      json["experiments"].push_back(experiment_json(experiment));
    }
    http::Body rendered;
    json["next_cursor"] = nullptr;
    if (page.has_more) {
      here.sort_value = page.experiments.back().experiment;
      const std::string text = encode_cursor(here);
      json["next_cursor"] = text;
      rendered.headers.push_back(next_link(request, parameters, text));
    }
    rendered.bytes = std::make_shared<const std::string>(to_text(json));
    return rendered;
  });
}

}  // namespace llmb::api
