// GET /api/v1/runs/{id}/log?offset=&before=&after=: lines of a run's log around a byte.
#include <algorithm>
#include <optional>

#include "server/api/found_log.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/run_log_text.h"
#include "server/api/tagged_response.h"
#include "server/report/log_excerpt.h"

namespace llmb::api {
namespace {

constexpr std::int64_t kLines = 25;
constexpr std::int64_t kLinesMax = 500;
// On either side of the byte: what holds the lines of nearly every log.
constexpr std::uint64_t kSideBytes = std::uint64_t{256} << 10U;

struct WantedLines {
  std::optional<std::uint64_t> offset;
  std::size_t before = 0;
  std::size_t after = 0;
};

// The piece that holds the byte at `offset`, of a text that has one there.
TextPiece piece_around(std::vector<TextPiece> pieces, std::uint64_t offset) {
  for (TextPiece& piece : pieces) {
    if (piece.offset <= offset && offset < piece.offset + piece.bytes.size()) {
      return std::move(piece);
    }
  }
  throw text_not_here();
}

Json lines_json(const RunLogText& text, const WantedLines& wanted) {
  const std::uint64_t last = text.size_bytes > 0 ? text.size_bytes - 1 : 0;
  const std::uint64_t offset = std::min(wanted.offset.value_or(UINT64_MAX), last);
  TextPiece piece;
  if (text.size_bytes > 0) {
    const std::uint64_t begin = offset > kSideBytes ? offset - kSideBytes : 0;
    piece = piece_around(text.read(begin, offset + kSideBytes), offset);
  }
  const bool reaches_end = piece.offset + piece.bytes.size() >= text.size_bytes;
  Json json;
  json["size_bytes"] = text.size_bytes;
  json["offset"] = offset;
  json.update(report::log_excerpt_json(report::cut_excerpt({piece.bytes, piece.offset, reaches_end},
                                                           offset, wanted.before, wanted.after)));
  return json;
}

}  // namespace

http::Response get_run_log(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"offset", "before", "after"});
  const storage::RunId id = id_parameter(request);
  const auto count = [&](const char* name) {
    return static_cast<std::size_t>(parameters.integer(name, 0, kLinesMax).value_or(kLines));
  };
  WantedLines wanted{std::nullopt, count("before"), count("after")};
  if (const auto offset = parameters.integer("offset", 0, INT64_MAX)) wanted.offset = *offset;
  Json json = {{"run_id", id}};
  json.update(ask_log_text(context, id,
                           [wanted](const RunLogText& text) { return lines_json(text, wanted); }));
  return hashed_response(to_text(json));
}

}  // namespace llmb::api
