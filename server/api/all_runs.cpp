#include "server/api/all_runs.h"

#include "server/api/request_error.h"
#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

// All are held at once, and answered with.
constexpr std::size_t kRunsMax = 10'000;
constexpr std::int64_t kPageSize = 500;

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

}  // namespace

std::vector<parser::ComparedRun> measure_all_runs(storage::Reader& reader,
                                                  const parser::Catalog& catalog,
                                                  const std::optional<std::string>& workload,
                                                  const std::optional<parser::AskedWindow>& window,
                                                  bool include_superseded) {
  std::vector<parser::ComparedRun> measured;
  for (const auto& name : names_of_workload(catalog, workload)) {
    storage::RunQuery query;
    if (name) query.filter.workload = {*name};
    query.filter.include_superseded = include_superseded;
    query.sort = storage::RunSortKey::id;
    query.descending = false;
    query.limit = kPageSize;
    const auto more = static_cast<std::size_t>(reader.run_count(query.filter));
    if (measured.size() + more > kRunsMax) {
      throw bad_request("More than " + std::to_string(kRunsMax) +
                        " runs would have to be measured; name a 'workload', or use "
                        "`llmb-report scaling` or `history` with --db FILE, which have no limit.");
    }
    measured.reserve(measured.size() + more);
    do {
      const storage::RunPage page = reader.runs(query);
      for (const storage::RunRecord& run : page.runs) {
        auto compared = report::measure_stored_run(reader, run, catalog, window);
        if (!compared) throw bad_request(compared.error().message);
        measured.push_back(std::move(*compared));
      }
      query.after = page.next;
    } while (query.after);
  }
  return measured;
}

}  // namespace llmb::api
