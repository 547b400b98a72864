#include "server/api/run_lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "server/api/tagged_response.h"

namespace llmb::api {

std::string run_etag(Context& context, storage::RunId id, std::string_view question) {
  const std::int64_t revision = context.readers.with_reader([&](storage::Reader& reader) {
    const auto found = reader.run_revision(id);
    if (!found) throw absent_run(reader, id);
    return *found;
  });
  return fmt::format("{}-run{}-{}-{}", context.instance, id, revision, hash_text(question));
}

std::optional<std::int32_t> asked_segment(Context& context, const QueryParameters& parameters,
                                          storage::RunId id) {
  const auto asked = parameters.integer("segment", 0, std::numeric_limits<std::int32_t>::max());
  if (!asked) return std::nullopt;
  const auto runs = context.readers.with_reader(
      [&](storage::Reader& reader) { return reader.listed_runs(std::array{id}); });
  // A run that has no step yet will have its first segment.
  const int count = runs.empty() ? 1 : std::max(1, runs.front().summary.segment_count);
  if (*asked >= count) {
    throw not_found(
        fmt::format("Run {} has no segment {}: its last one is {}.", id, *asked, count - 1));
  }
  return static_cast<std::int32_t>(*asked);
}

std::size_t making_bytes_of_steps(Context& context, storage::RunId id,
                                  const std::optional<parser::Window>& window,
                                  std::size_t bytes_a_step) {
  const std::int64_t steps = context.readers.with_reader(
      [&](storage::Reader& reader) { return reader.steps_at_most(id, window); });
  return static_cast<std::size_t>(steps) * bytes_a_step;
}

std::string list_etag(Context& context, const http::Request& request,
                      const QueryParameters& parameters) {
  const std::int64_t revision =
      context.readers.with_reader([](storage::Reader& reader) { return reader.data_revision(); });
  return fmt::format("{}-{}-{}", context.instance, revision,
                     hash_text(request.path + "?" + parameters.canonical()));
}

RequestError absent_run(storage::Reader& reader, storage::RunId id) {
  if (const auto removed = reader.removed_run(id)) {
    return {410, "Removed",
            fmt::format("Run {} was removed on {}, with its steps and results, as it was \"{}\": "
                        "what a daemon's retention or llmb-report prune was asked to remove. "
                        "The list of runs has those there are.",
                        id, removed->removed_at, removed->policy)};
  }
  return not_found(
      fmt::format("There is no run with the id {}; the list of runs has those there are (of a log "
                  "that is written anew again and again, the newest).",
                  id));
}

}  // namespace llmb::api
