// GET /api/v1/runs and GET /api/v1/runs/{id}.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "server/api/cursor.h"
#include "server/api/json.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/run_filter.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/run_json.h"
#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

http::Body render_runs(Context& context, const http::Request& request,
                       const QueryParameters& parameters, const storage::RunQuery& query,
                       const Cursor& next_cursor) {
  struct Answer {
    storage::RunPage page;
    report::RootPaths roots;
    report::Originals originals;
  };
  const Answer answer = context.readers.with_reader([&](storage::Reader& reader) {
    Answer found{reader.runs(query), report::root_paths(reader.roots()), {}};
    found.originals = report::originals_of(reader, found.page.runs);
    return found;
  });
  Json json;
  json["runs"] = Json::array();
  for (const storage::RunRecord& run : answer.page.runs) {
    const auto original = report::original_in(answer.originals, run.id);
    json["runs"].push_back(report::run_json(run, answer.roots, original));
  }
  http::Body rendered;
  json["next_cursor"] = nullptr;
  if (answer.page.next) {
    Cursor cursor = next_cursor;
    cursor.sort_value = answer.page.next->sort_value;
    cursor.id = answer.page.next->id;
    const std::string text = encode_cursor(cursor);
    json["next_cursor"] = text;
    rendered.headers.push_back(next_link(request, parameters, text));
  }
  json["total"] = answer.page.total.runs;
  json["is_total_exact"] = answer.page.total.is_exact;
  rendered.bytes = std::make_shared<const std::string>(to_text(json));
  return rendered;
}

}  // namespace

http::Response get_runs(Context& context, const http::Request& request) {
  const QueryParameters parameters = run_list_parameters(request, {"sort", "limit", "cursor"});
  const RunSort sort = read_run_sort(parameters);
  storage::RunQuery query;
  query.filter = read_run_filter(parameters, context.catalog());
  query.sort = sort.key;
  query.descending = sort.descending;
  query.limit = parameters.limit();
  const Cursor here{sort.text, std::nullopt, 0,
                    hash_text(parameters.canonical({"sort", "limit", "cursor"}))};
  if (const auto text = parameters.text("cursor")) {
    const Cursor cursor = require_cursor(*text, here.sort, here.filter_hash);
    query.after = storage::RunKeyset{cursor.sort_value, cursor.id};
    if (!storage::is_valid_keyset(query.sort, *query.after)) throw unknown_cursor();
  }
  return tagged_response(list_etag(context, request, parameters), [=, &context, &request] {
    return render_runs(context, request, parameters, query, here);
  });
}

http::Response get_run(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  const storage::RunId id = id_parameter(request);
  const auto relations = context.readers.with_reader([&](storage::Reader& reader) {
    const auto originals = report::originals_of(reader, reader.listed_runs(std::array{id}));
    return report::RunRelations{report::original_in(originals, id), reader.job_of(id),
                                reader.superseding_run(id)};
  });
  // They change without the run.
  std::string kind = "run";
  if (const auto& job = relations.job) kind += fmt::format("{}.{}", job->id, job->revision);
  if (const auto& newer = relations.superseding_run) kind += fmt::format("-{}", *newer);
  if (const auto& original = relations.original) kind += fmt::format("={}", *original);
  const std::string etag = run_etag(context, id, kind);
  return tagged_response(etag, [=, &context]() -> http::Body {
    struct Answer {
      std::optional<storage::RunRecord> run;
      report::RootPaths roots;
    };
    const Answer answer = context.readers.with_reader([&](storage::Reader& reader) {
      auto run = reader.run(id);
      if (!run) throw absent_run(reader, id);
      return Answer{std::move(run), report::root_paths(reader.roots())};
    });
    const std::string body =
        to_text(report::run_details_json(*answer.run, answer.roots, relations));
    return {std::make_shared<const std::string>(body), {}};
  });
}

}  // namespace llmb::api
