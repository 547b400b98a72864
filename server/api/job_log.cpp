// GET /api/v1/jobs/{id}/log: a piece of what a job wrote, by byte offsets, for following it while
// it runs. The file is the one that dispatch named; nothing of the request is part of its path.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "server/api/job_lookup.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"
#include "server/dispatch/job_evidence.h"

namespace llmb::api {
namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{64} * 1024;
constexpr std::int64_t kPieceBytesMax = std::int64_t{1024} * 1024;

struct Piece {
  std::int64_t size_bytes = 0;  // of the file
  std::int64_t offset = 0;      // where `text` begins
  std::string text;
};

struct OpenFile {
  int descriptor = -1;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  explicit OpenFile(const std::string& path)
      : descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor >= 0) close(descriptor);
  }
};

// Without an offset the file's end. Empty where the file is not there (yet).
Piece read_piece(const std::string& path, std::optional<std::int64_t> offset, std::int64_t bytes) {
  Piece piece;
  piece.offset = offset.value_or(0);
  if (path.empty()) return piece;
  const OpenFile file(path);
  struct stat found {};
  if (file.descriptor < 0 || fstat(file.descriptor, &found) != 0 || !S_ISREG(found.st_mode)) {
    return piece;
  }
  piece.size_bytes = found.st_size;
  piece.offset = offset.value_or(std::max<std::int64_t>(0, piece.size_bytes - bytes));
  const std::int64_t left = std::max<std::int64_t>(0, piece.size_bytes - piece.offset);
  piece.text.resize(static_cast<std::size_t>(std::min(bytes, left)));
  std::size_t read = 0;
  while (read < piece.text.size()) {
    const ssize_t got = pread(file.descriptor, piece.text.data() + read, piece.text.size() - read,
                              static_cast<off_t>(piece.offset + static_cast<std::int64_t>(read)));
    if (got <= 0) break;
    read += static_cast<std::size_t>(got);
  }
  piece.text.resize(read);
  return piece;
}

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
  const Piece piece = read_piece(path, offset, bytes);
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
