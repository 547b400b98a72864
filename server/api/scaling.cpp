// GET /api/v1/scaling: tokens/s/GPU by number of GPUs, for each workload, model size, dtype and
// GPU type.
#include <vector>

#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"
#include "server/report/scaling_json.h"
#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

// All are held at once, and answered with.
constexpr std::size_t kRunsMax = 10'000;
constexpr std::int64_t kPageSize = 500;

struct ScalingQuestion {
  parser::ScalingSelection selection;
  std::optional<parser::AskedWindow> window;
  parser::RunMarkSet included;
};

// A workload's runs may go by any of its names; whatever else is asked for may follow from the
// recipe and is not in the database.
std::vector<std::optional<std::string>> names_of_workload(const parser::Catalog& catalog,
                                                          const std::optional<std::string>& asked) {
  if (!asked) return {std::nullopt};
  std::vector<std::optional<std::string>> names = {asked};
  const parser::Workload* const workload = catalog.workload(*asked);
  if (workload == nullptr) return names;
  names = {workload->workload};
  names.insert(names.end(), workload->aliases.begin(), workload->aliases.end());
  return names;
}

std::vector<parser::ComparedRun> measure_runs(storage::Reader& reader,
                                              const parser::Catalog& catalog,
                                              const ScalingQuestion& question) {
  std::vector<parser::ComparedRun> measured;
  for (const auto& name : names_of_workload(catalog, question.selection.workload)) {
    storage::RunQuery query;
    query.filter.workload = name;
    query.filter.include_superseded = question.included.contains(parser::RunMark::superseded);
    query.sort = storage::RunSortKey::id;
    query.descending = false;
    query.limit = kPageSize;
    const auto more = static_cast<std::size_t>(reader.run_count(query.filter));
    if (measured.size() + more > kRunsMax) {
      throw bad_request("More than " + std::to_string(kRunsMax) +
                        " runs would have to be measured; name a 'workload', or use "
                        "`llmb-report scaling --db FILE`, which has no limit.");
    }
    measured.reserve(measured.size() + more);
    do {
      const storage::RunPage page = reader.runs(query);
      for (const storage::RunRecord& run : page.runs) {
        auto compared = report::measure_stored_run(reader, run, catalog, question.window);
        if (!compared) throw bad_request(compared.error().message);
        measured.push_back(std::move(*compared));
      }
      query.after = page.next;
    } while (query.after);
  }
  return measured;
}

http::Body render_scaling(Context& context, const ScalingQuestion& question) {
  const parser::Catalog& catalog = context.catalog();
  const auto runs = context.readers.with_reader(
      [&](storage::Reader& reader) { return measure_runs(reader, catalog, question); });
  const auto report = parser::scaling_series(catalog, runs, question.selection, question.included);
  return {std::make_shared<const std::string>(to_text(report::scaling_json(runs, report))), {}};
}

}  // namespace

http::Response get_scaling(Context& context, const http::Request& request) {
  const QueryParameters parameters(
      request, {"workload", "model_size", "dtype", "gpu_type", "window", "include"});
  ScalingQuestion question;
  question.selection = {parameters.text("workload"), parameters.text("model_size"),
                        parameters.text("dtype"), parameters.text("gpu_type")};
  question.window = parameters.asked_window("window");
  question.included = parameters.run_marks("include");
  const std::int64_t revision =
      context.readers.with_reader([](storage::Reader& reader) { return reader.data_revision(); });
  const std::string etag = context.instance + "-" + std::to_string(revision) + "-" +
                           hash_text("scaling?" + parameters.canonical());
  return tagged_response(etag, [=, &context] { return render_scaling(context, question); });
}

}  // namespace llmb::api
