// GET /api/v1/runs/{id}/steps: the series of one run, as columns.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/http/compression.h"
#include "server/report/step_columns.h"

namespace llmb::api {
namespace {

// About 100 MB of JSON: over this, a client has to ask for a part.
constexpr std::size_t kStepsMax = 1'000'000;
// The columns, and the document that they become, both packed.
constexpr std::size_t kMakingBytesAStep = 50;
// Of a column of a few thousand steps, whatever the texts of their log are.
constexpr std::size_t kUnpackedBytesMax = std::size_t{1} << 30U;

report::TextPacking by_zstd() {
  return {[](std::string_view text) {
            return http::compress(text, http::Encoding::zstd, http::Effort::kept);
          },
          [](std::string_view packed) {
            return http::decompress_zstd(packed, kUnpackedBytesMax).value();
          }};
}

RequestError too_many_steps() {
  return {413, "Too many steps",
          fmt::format("The answer would hold more than {} steps; ask for a part with "
                      "window=FIRST-LAST or segment=N.",
                      kStepsMax)};
}

void write_steps(Context& context, storage::RunId id, const std::optional<parser::Window>& window,
                 std::optional<std::int32_t> segment, const http::TextSink& sink) {
  report::StepColumns columns(by_zstd());
  context.readers.with_reader([&](storage::Reader& reader) {
    reader.visit_steps(id, window, segment, [&](parser::StepSample&& sample) {
      if (columns.row_count() == kStepsMax) throw too_many_steps();
      columns.add(sample);
    });
    return true;
  });
  std::move(columns).write(id, sink);
}

}  // namespace

http::Response get_run_steps(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"window", "segment"});
  const storage::RunId id = id_parameter(request);
  const auto window = parameters.window("window");
  const std::string etag = run_etag(context, id, "steps?" + parameters.canonical());
  const auto segment = asked_segment(context, parameters, id);
  http::Response response = written_response(etag, [=, &context](const http::TextSink& sink) {
    write_steps(context, id, window, segment, sink);
  });
  response.making_bytes_max = std::min(
      kStepsMax * kMakingBytesAStep, making_bytes_of_steps(context, id, window, kMakingBytesAStep));
  return response;
}

}  // namespace llmb::api
