#include "server/report/measured_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>

#include "server/report/log_discovery.h"
#include "server/report/log_parsing.h"
#include "server/report/report.h"
#include "server/report/stored_runs.h"
#include "storage/database.h"

namespace llmb::report {
namespace {

namespace fs = std::filesystem;
using parser::Result;

constexpr std::int64_t kPageSize = 500;

parser::ComparedRun measure_log(const ReportedRun& run, std::int64_t id) {
  parser::ComparedRun compared;
  compared.id = id;
  compared.experiment = run.run_path.experiment.empty() ? run.path : short_name(run.run_path);
  compared.job_id = run.run_path.job_id;
  compared.path = run.path;
  compared.configuration = run.run_path.configuration;
  compared.dialect = run.facts.dialect;
  compared.has_profiles = run.is_profiled;
  compared.nccl_trace_seen = run.facts.nccl_trace_seen;
  compared.judgement = run.judgement;
  compared.published = run.judgement;
  return compared;
}

Result<MeasuredRuns> measure_trees(const RunSource& source, const parser::Catalog& catalog) {
  for (const std::string& name : source.names) {
    std::error_code error;
    if (!fs::exists(name, error))
      return parser::fail(fmt::format("there is no file or folder '{}'", name));
  }
  ParsingOptions options;
  options.window = source.window;
  options.catalog = &catalog;
  options.tokens_to_train = parser::kTokensToTrainDefault;
  const LogReport report = parse_logs(discover_logs(source.names), options);
  for (const SkippedFile& file : report.skipped) {
    if (file.kind == SkippedFile::Kind::by_design) continue;
    std::cerr << "llmb-report: skipped " << file.path << ": " << file.reason << '\n';
  }
  if (report.runs.empty()) {
    std::string text = "no training log (*.out) could be read below";
    for (const std::string& name : source.names) text += " '" + name + "'";
    return parser::fail(text);
  }
  MeasuredRuns measured;
  measured.is_chosen =
      std::none_of(source.names.begin(), source.names.end(), [](const std::string& name) {
        std::error_code error;
        return fs::is_directory(name, error);
      });
  for (const ReportedRun& run : report.runs) {
    const auto id = static_cast<std::int64_t>(measured.runs.size()) + 1;
    measured.runs.push_back(measure_log(run, id));
  }
  return measured;
}

std::vector<storage::RunId> all_run_ids(storage::Reader& reader) {
  std::vector<storage::RunId> ids;
  storage::RunQuery query;
  query.sort = storage::RunSortKey::id;
  query.descending = false;
  query.limit = kPageSize;
  do {
    const storage::RunPage page = reader.runs(query);
    for (const storage::RunRecord& run : page.runs) ids.push_back(run.id);
    query.after = page.next;
  } while (query.after);
  return ids;
}

Result<MeasuredRuns> measure_database(const RunSource& source, const parser::Catalog& catalog) {
  storage::Reader reader(source.database);
  auto ids = read_run_ids(source.names);
  if (!ids) return tl::unexpected(ids.error());
  MeasuredRuns measured;
  measured.is_chosen = !ids->empty();
  if (ids->empty()) ids = all_run_ids(reader);
  if (ids->empty())
    return parser::fail(fmt::format("the database {} holds no run", source.database));
  for (const storage::RunId id : *ids) {
    const auto run = reader.run(id);
    if (!run) {
      return parser::fail(fmt::format("there is no run {} in {}", id, source.database));
    }
    auto compared = measure_stored_run(reader, *run, catalog, source.window);
    if (!compared) return tl::unexpected(compared.error());
    measured.runs.push_back(std::move(*compared));
  }
  return measured;
}

}  // namespace

Result<std::vector<std::int64_t>> read_run_ids(const std::vector<std::string>& names) {
  std::vector<std::int64_t> ids;
  for (const std::string& name : names) {
    std::int64_t id = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, id);
    if (error != std::errc() || stop != end || id < 1) {
      return parser::fail(
          fmt::format("'{}' is no run id: with --db runs are named by number", name));
    }
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

Result<MeasuredRuns> measure_runs(const RunSource& source, const parser::Catalog& catalog) {
  return source.database.empty() ? measure_trees(source, catalog)
                                 : measure_database(source, catalog);
}

}  // namespace llmb::report
