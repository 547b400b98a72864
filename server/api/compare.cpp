// GET /api/v1/compare?runs=1,2,…: up to eight runs side by side, repeats grouped, and every group
// against the first one and against the published result.
#include <algorithm>
#include <charconv>
#include <vector>

#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/comparison_json.h"
#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

constexpr std::size_t kRunsMax = 8;

std::vector<storage::RunId> read_run_ids(const QueryParameters& parameters) {
  const auto text = parameters.text("runs");
  if (!text) {
    throw bad_request(
        "Parameter 'runs' is missing; give up to 8 run ids, separated by commas: runs=3,7,8.");
  }
  std::vector<storage::RunId> ids;
  const char* at = text->data();
  const char* const end = at + text->size();
  while (true) {
    storage::RunId id = 0;
    const auto [stop, error] = std::from_chars(at, end, id);
    if (error != std::errc() || id < 1 || (stop != end && *stop != ',')) {
      throw bad_request("Parameter 'runs' is '" + *text +
                        "'; it has to be run ids, whole numbers from 1, separated by commas.");
    }
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) {
      throw bad_request("Parameter 'runs' names run " + std::to_string(id) + " more than once.");
    }
    ids.push_back(id);
    if (ids.size() > kRunsMax) {
      throw bad_request("Parameter 'runs' names more than " + std::to_string(kRunsMax) +
                        " runs; compare fewer, or use `llmb-report compare`, which has no limit.");
    }
    if (stop == end) return ids;
    at = stop + 1;
  }
}

http::Body render_comparison(Context& context, const std::vector<storage::RunId>& ids,
                             const std::optional<parser::AskedWindow>& window,
                             const parser::RunMarkSet& included) {
  const auto runs = context.readers.with_reader([&](storage::Reader& reader) {
    std::vector<parser::ComparedRun> measured;
    for (const storage::RunId id : ids) {
      const auto run = reader.run(id);
      if (!run) throw run_not_found(id);
      auto compared = report::measure_stored_run(reader, *run, context.catalog(), window);
      if (!compared) throw bad_request(compared.error().message);
      measured.push_back(std::move(*compared));
    }
    return measured;
  });
  const Json json = report::comparison_json(runs, parser::compare_runs(runs, included));
  return {std::make_shared<const std::string>(to_text(json)), {}};
}

}  // namespace

http::Response get_comparison(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"runs", "window", "include"});
  const auto ids = read_run_ids(parameters);
  const auto window = parameters.asked_window("window");
  const auto included = parameters.run_marks("include");
  std::string revisions;
  context.readers.with_reader([&](storage::Reader& reader) {
    for (const storage::RunId id : ids) {
      const auto revision = reader.run_revision(id);
      if (!revision) throw run_not_found(id);
      revisions += "-" + std::to_string(*revision);
    }
    return true;
  });
  const std::string etag =
      context.instance + revisions + "-" + hash_text("compare?" + parameters.canonical());
  return tagged_response(
      etag, [=, &context] { return render_comparison(context, ids, window, included); });
}

}  // namespace llmb::api
