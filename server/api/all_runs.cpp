#include "server/api/all_runs.h"

#include <fmt/format.h>

#include "server/api/request_error.h"
#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

// All are held at once, and answered with.
constexpr std::size_t kRunsMax = 10'000;
constexpr std::int64_t kPageSize = 500;

}  // namespace

MeasuringQuestion read_measuring_question(const QueryParameters& parameters) {
  return {parameters.text("workload"), parameters.text("cluster"),
          parameters.asked_window("window"), parameters.step_interruptions("without"),
          parameters.run_marks("include")};
}

std::vector<parser::ComparedRun> measure_all_runs(storage::Reader& reader,
                                                  const parser::Catalog& catalog,
                                                  const MeasuringQuestion& question) {
  std::vector<parser::ComparedRun> measured;
  storage::RunQuery query;
  // Whatever else is asked for may follow from the recipe and is not in the database.
  query.filter.workload = report::names_of_workload(catalog, question.workload.value_or(""));
  if (question.cluster) query.filter.cluster = {*question.cluster};
  query.filter.include_superseded = question.included.contains(parser::RunMark::superseded);
  query.sort = storage::RunSortKey::id;
  query.descending = false;
  query.limit = kPageSize;
  const auto count = static_cast<std::size_t>(reader.run_count(query.filter));
  if (count > kRunsMax) {
    throw bad_request(fmt::format(
        "More than {} runs would have to be measured; name a 'workload' or a 'cluster', or use "
        "`llmb-report scaling` or `history` with --db FILE, which have no limit.",
        kRunsMax));
  }
  measured.reserve(count);
  do {
    const storage::RunPage page = reader.runs(query);
    for (const storage::RunRecord& run : page.runs) {
      auto compared =
          report::measure_stored_run(reader, run, catalog, question.window, question.without);
      if (!compared) throw bad_request(compared.error().message);
      measured.push_back(std::move(*compared));
    }
    query.after = page.next;
  } while (query.after);
  return measured;
}

}  // namespace llmb::api
