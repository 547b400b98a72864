// GET /api/v1/jobs/{id}/log: a piece of what a job wrote, by byte offsets, for following it while
// it runs. The file is the one that dispatch named; nothing of the request is part of its path.
#include "server/api/job_lookup.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"
#include "server/dispatch/job_evidence.h"
#include "server/dispatch/job_files.h"

namespace llmb::api {
namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{64} * 1024;
constexpr std::int64_t kPieceBytesMax = std::int64_t{1024} * 1024;

}  // namespace

http::Response get_job_log(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"of", "offset", "limit_bytes"});
  const std::string of = parameters.text("of").value_or("run");
  if (of != "run" && of != "batch") {
    throw bad_request("Parameter 'of' is '" + of +
                      "'; it has to be run (the newest start's log) or batch (the script's own).");
  }
  const auto offset = parameters.integer("offset", 0, INT64_MAX);
  const std::int64_t bytes =
      parameters.integer("limit_bytes", 1, kPieceBytesMax).value_or(kPieceBytes);
  const storage::JobRecord job = find_job(context, request);
  const dispatch::JobLogs logs = dispatch::job_logs(job);
  const std::string& path = of == "run" ? logs.log : logs.batch_output;
  if (path.empty() && !logs.error.empty()) throw log_unreadable(logs.error);
  dispatch::FilePiece piece;
  piece.offset = offset.value_or(0);
  if (!path.empty()) {
    auto read = dispatch::read_piece(path, offset, bytes);
    if (!read) throw log_unreadable(read.error().message);
    piece = *std::move(read);
  }
  Json json;
  json["of"] = of;
  json["path"] = null_if_empty(path);
  json["size_bytes"] = piece.size_bytes;
  json["offset"] = piece.offset;
  json["next_offset"] = piece.offset + static_cast<std::int64_t>(piece.text.size());
  json["text"] = piece.text;
  json["job_has_ended"] = storage::is_final(job.state);
  return hashed_response(to_text(json));
}

}  // namespace llmb::api
