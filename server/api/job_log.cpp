// GET /api/v1/jobs/{id}/log: a piece of what a job wrote, by byte offsets, for following it while
// it runs. The file is the one that dispatch named; nothing of the request is part of its path.
#include <algorithm>
#include <optional>
#include <string_view>

#include "parser/foundation/utf8.h"
#include "server/api/job_lookup.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"
#include "server/dispatch/job_files.h"

namespace llmb::api {
namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{64} * 1024;
constexpr std::int64_t kPieceBytesMax = std::int64_t{1024} * 1024;
// So many bytes more are read, that a character may be finished for which there was room only in
// part.
constexpr std::int64_t kRestBytesMax = 3;

struct WantedPiece {
  std::optional<std::int64_t> offset;  // nothing: the end of the file
  std::int64_t bytes_max = kPieceBytes;
  std::optional<std::string> followed;  // the path that the asker has read before
};

dispatch::FilePiece read_bytes(const std::string& path, std::optional<std::int64_t> offset,
                               std::int64_t bytes_max) {
  auto piece = dispatch::read_piece(path, offset, bytes_max);
  if (!piece) throw log_unreadable(piece.error().message);
  return *std::move(piece);
}

// A character that lies across the end would be lost to both pieces. What lies there while the job
// still writes may get its rest.
void end_with_a_character(dispatch::FilePiece& piece, std::int64_t bytes_max, bool may_grow) {
  const std::string read = piece.text;
  const bool is_cut = std::ssize(read) > bytes_max;
  if (is_cut) piece.text.resize(static_cast<std::size_t>(bytes_max));
  if (!is_cut && !may_grow) return;
  piece.text.resize(piece.text.size() - parser::unfinished_length(piece.text));
  const bool may_finish = may_grow && parser::unfinished_length(read) == read.size();
  if (!piece.text.empty() || read.empty() || may_finish) return;
  piece.text = read.substr(0, std::max<std::size_t>(1, parser::first_character(read).length));
}

dispatch::FilePiece read_end(const std::string& path, std::int64_t bytes_max, bool may_grow) {
  dispatch::FilePiece piece = read_bytes(path, std::nullopt, bytes_max + kRestBytesMax);
  std::string& text = piece.text;
  if (may_grow) text.resize(text.size() - parser::unfinished_length(text));
  std::int64_t skipped = std::max<std::int64_t>(0, std::ssize(text) - bytes_max);
  const bool begins_inside = piece.offset + skipped > 0;
  const std::int64_t last = begins_inside ? std::min(std::ssize(text), skipped + kRestBytesMax) : 0;
  while (skipped < last && parser::is_continuation_byte(text[static_cast<std::size_t>(skipped)])) {
    ++skipped;
  }
  text.erase(0, static_cast<std::size_t>(skipped));
  piece.offset += skipped;
  return piece;
}

// Who follows a log gets all of the one that took its place.
dispatch::FilePiece read_wanted(const std::string& path, const WantedPiece& wanted, bool may_grow) {
  if (path.empty()) return {};
  if (!wanted.offset) return read_end(path, wanted.bytes_max, may_grow);
  const std::int64_t bytes = wanted.bytes_max + kRestBytesMax;
  const bool is_other = wanted.followed && *wanted.followed != path;
  dispatch::FilePiece piece = read_bytes(path, is_other ? 0 : *wanted.offset, bytes);
  if (piece.offset > piece.size_bytes) {
    if (wanted.followed) {
      piece = read_bytes(path, 0, bytes);
    } else {
      piece.offset = piece.size_bytes;
    }
  }
  end_with_a_character(piece, wanted.bytes_max, may_grow);
  return piece;
}

}  // namespace

http::Response get_job_log(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"of", "offset", "limit_bytes", "path"});
  const WantedPiece wanted = {
      parameters.integer("offset", 0, INT64_MAX),
      parameters.integer("limit_bytes", 1, kPieceBytesMax).value_or(kPieceBytes),
      parameters.text("path")};
  const AskedJobLog log = asked_job_log(context, request, parameters);
  const dispatch::FilePiece piece = read_wanted(log.path, wanted, !log.job_has_ended);
  Json json;
  json["of"] = log.of;
  json["path"] = null_if_empty(log.path);
  json["size_bytes"] = piece.size_bytes;
  json["offset"] = piece.offset;
  json["next_offset"] = piece.offset + static_cast<std::int64_t>(piece.text.size());
  json["text"] = piece.text;
  json["job_has_ended"] = log.job_has_ended;
  return hashed_response(to_text(json));
}

}  // namespace llmb::api
