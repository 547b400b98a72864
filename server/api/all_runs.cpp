#include "server/api/all_runs.h"

#include <algorithm>

#include "server/api/request_error.h"
#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

constexpr std::int64_t kPageSize = 500;

}  // namespace

MeasuringQuestion read_measuring_question(const QueryParameters& parameters) {
  return {parameters.text("workload"), parameters.text("cluster"),
          parameters.asked_window("window"), parameters.step_interruptions("without"),
          parameters.run_marks("include")};
}

storage::RunFilter filter_of(const parser::Catalog& catalog, const MeasuringQuestion& question) {
  storage::RunFilter filter;
  filter.workload = report::names_of_workload(catalog, question.workload.value_or(""));
  if (question.cluster) filter.cluster = {*question.cluster};
  filter.include_superseded = question.included.contains(parser::RunMark::superseded);
  return filter;
}

MeasuredRuns measure_all_runs(storage::Reader& reader, const parser::Catalog& catalog,
                              const MeasuringQuestion& question, std::size_t runs_max) {
  MeasuredRuns measured;
  storage::RunQuery query;
  query.filter = filter_of(catalog, question);
  const std::int64_t count = reader.run_count(query.filter);
  const auto held = std::min(count, static_cast<std::int64_t>(runs_max));
  measured.older_left_out = count - held;
  if (held == 0) return measured;
  const bool has_all = held == count;
  query.sort = has_all ? storage::RunSortKey::id : storage::RunSortKey::launched_at;
  query.descending = !has_all;
  measured.runs.reserve(static_cast<std::size_t>(held));
  do {
    query.limit = std::min(kPageSize, held - static_cast<std::int64_t>(measured.runs.size()));
    const storage::RunPage page = reader.runs(query);
    for (const storage::RunRecord& run : page.runs) {
      auto compared =
          report::measure_stored_run(reader, run, catalog, question.window, question.without);
      if (!compared) throw bad_request(compared.error().message);
      measured.runs.push_back(std::move(*compared));
    }
    query.after = page.next;
  } while (query.after && static_cast<std::int64_t>(measured.runs.size()) < held);
  if (!has_all) std::ranges::sort(measured.runs, {}, &parser::ComparedRun::id);
  return measured;
}

}  // namespace llmb::api
