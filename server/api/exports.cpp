// GET /api/v1/runs.csv, runs.ndjson, runs/{id}/steps.csv and steps.ndjson: all runs of a filter, or
// all steps of a run, as lines for spreadsheets and scripts.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "server/api/attachment.h"
#include "server/api/json.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/run_filter.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/export_lines.h"
#include "server/report/run_json.h"
#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

using report::ExportLines;
using report::LineFormat;

// What one answer may hold: about 200 MB.
constexpr std::size_t kExportedRunsMax = 50'000;
constexpr std::size_t kExportedStepsMax = 1'000'000;
// What a line takes of an answer that is held, packed.
constexpr std::size_t kExportBytesAStep = 100;
constexpr std::size_t kExportBytesARun = 1'000;
constexpr std::int64_t kPageRuns = 500;
// Lines are given away by so many bytes.
constexpr std::size_t kGivenBytes = std::size_t{64} * 1024;

RequestError too_many(std::size_t max, const char* what, const char* advice) {
  return {413, "Too many lines",
          fmt::format("The answer would hold more than {} {}; ask for a part with {}.", max, what,
                      advice)};
}

void give_lines(ExportLines& lines, const http::TextSink& sink, std::size_t from_bytes) {
  if (lines.text().size() < from_bytes) return;
  sink(lines.text());
  lines.forget_text();
}

void write_runs(Context& context, storage::RunQuery query, LineFormat format,
                const http::TextSink& sink) {
  ExportLines lines = ExportLines::of_runs(format);
  context.readers.with_reader([&](storage::Reader& reader) {
    const report::RootPaths roots = report::root_paths(reader.roots());
    std::set<storage::RunId> seen;  // a run that moves between two pages comes twice
    do {
      const storage::RunPage page = reader.runs(query);
      const report::Originals originals = report::originals_of(reader, page.runs);
      for (const storage::RunRecord& run : page.runs) {
        if (!seen.insert(run.id).second) continue;
        if (seen.size() > kExportedRunsMax)
          throw too_many(kExportedRunsMax, "runs", "filters such as since");
        lines.add_run(run, roots, report::original_in(originals, run.id));
        give_lines(lines, sink, kGivenBytes);
      }
      query.after = page.next;
    } while (query.after);
    return true;
  });
  give_lines(lines, sink, 0);
}

void write_steps(Context& context, storage::RunId id, const std::optional<parser::Window>& window,
                 std::optional<std::int32_t> segment, LineFormat format,
                 const http::TextSink& sink) {
  ExportLines lines = ExportLines::of_steps(format);
  context.readers.with_reader([&](storage::Reader& reader) {
    reader.visit_steps(id, window, segment, [&](parser::StepSample&& sample) {
      if (lines.line_count() == kExportedStepsMax)
        throw too_many(kExportedStepsMax, "steps", "window=FIRST-LAST or segment=N");
      lines.add_step(sample);
      give_lines(lines, sink, kGivenBytes);
    });
    return true;
  });
  give_lines(lines, sink, 0);
}

http::Response as_file(http::Response response, LineFormat format, const std::string& name) {
  response.content_type =
      format == LineFormat::csv ? "text/csv; charset=utf-8" : "application/x-ndjson";
  response.headers.push_back(attachment_header(name));
  return response;
}

const char* suffix_of(LineFormat format) {
  return format == LineFormat::csv ? "csv" : "ndjson";
}

http::Response export_runs(Context& context, const http::Request& request, LineFormat format) {
  const QueryParameters parameters = run_list_parameters(request, {"sort"});
  const RunSort sort = read_run_sort(parameters);
  storage::RunQuery query;
  query.filter = read_run_filter(parameters, context.catalog());
  query.sort = sort.key;
  query.descending = sort.descending;
  query.limit = kPageRuns;
  const std::string name = fmt::format("runs.{}", suffix_of(format));
  http::Response response = written_response(
      list_etag(context, request, parameters),
      [=, &context](const http::TextSink& sink) { write_runs(context, query, format, sink); });
  const std::int64_t runs = context.readers.with_reader(
      [&](storage::Reader& reader) { return reader.run_count(query.filter); });
  response.making_bytes_max =
      kExportBytesARun * std::min(kExportedRunsMax, static_cast<std::size_t>(runs));
  return as_file(std::move(response), format, name);
}

http::Response export_steps(Context& context, const http::Request& request, LineFormat format) {
  const QueryParameters parameters(request, {"window", "segment"});
  const storage::RunId id = id_parameter(request);
  const auto window = parameters.window("window");
  const std::string name = fmt::format("run-{}-steps.{}", id, suffix_of(format));
  const std::string etag = run_etag(context, id, name + "?" + parameters.canonical());
  const auto segment = asked_segment(context, parameters, id);
  http::Response response = written_response(etag, [=, &context](const http::TextSink& sink) {
    write_steps(context, id, window, segment, format, sink);
  });
  response.making_bytes_max =
      std::min(kExportedStepsMax * kExportBytesAStep,
               making_bytes_of_steps(context, id, window, kExportBytesAStep));
  return as_file(std::move(response), format, name);
}

}  // namespace

http::Response get_runs_csv(Context& context, const http::Request& request) {
  return export_runs(context, request, LineFormat::csv);
}

http::Response get_runs_ndjson(Context& context, const http::Request& request) {
  return export_runs(context, request, LineFormat::ndjson);
}

http::Response get_run_steps_csv(Context& context, const http::Request& request) {
  return export_steps(context, request, LineFormat::csv);
}

http::Response get_run_steps_ndjson(Context& context, const http::Request& request) {
  return export_steps(context, request, LineFormat::ndjson);
}

}  // namespace llmb::api
