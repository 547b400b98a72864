// GET /api/v1/runs/{id}/log?offset=&before=&after=: lines of a run's log around a byte. The file is
// the one that the run was read from, below a root that is watched; links are not followed, and
// nothing but a regular file is opened. A file system that does not answer is not waited for
// (file_call.h). A log that was rewritten since is refused: the offsets of the run mean nothing in
// it; one that was compressed is unpacked. Of a pushed run it is the text that its agent sent
// along, if it did.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/dispatch/file_call.h"
#include "server/ingest/file_identity.h"
#include "server/ingest/log_text.h"
#include "server/ingest/root_directory.h"
#include "server/push/log_text_request.h"
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

// The bytes of a log that hold the wanted lines.
struct WantedBytes {
  WantedBytes(std::uint64_t size_bytes_in, const WantedLines& lines)
      : size_bytes(size_bytes_in),
        offset(std::min(lines.offset.value_or(UINT64_MAX), size_bytes > 0 ? size_bytes - 1 : 0)),
        begin(offset > kSideBytes ? offset - kSideBytes : 0),
        end(offset + kSideBytes) {}

  std::uint64_t size_bytes;  // of the log
  std::uint64_t offset;      // that the lines are around
  std::uint64_t begin;
  std::uint64_t end;  // may lie behind the log's
};

// `bytes` stand at `begin` of the log.
Json lines_json(std::string_view bytes, std::uint64_t begin, const WantedBytes& wanted,
                const WantedLines& lines) {
  const report::LogBlock block = {bytes, begin, begin + bytes.size() >= wanted.size_bytes};
  Json json;
  json["size_bytes"] = wanted.size_bytes;
  json["offset"] = wanted.offset;
  json.update(report::log_excerpt_json(
      report::cut_excerpt(block, wanted.offset, lines.before, lines.after)));
  return json;
}

// A log of a tree that is watched here.
struct WatchedLog {
  std::string root_path;
  std::string relative_path;
  storage::LogCursor cursor;
};

WatchedLog find_watched(Context& context, storage::Reader& reader, const storage::RunRecord& run) {
  if (run.is_superseded) {
    throw RequestError{410, "Log rewritten",
                       "The log was rewritten since this run was read; what it held is gone."};
  }
  const auto watched = context.options.ingest_status().roots;
  const auto root = std::find_if(watched.begin(), watched.end(),
                                 [&](const auto& status) { return status.id == run.root_id; });
  if (root == watched.end()) {
    throw not_found("The tree of this run's log is not watched by this server.");
  }
  return {root->path, run.relative_path, reader.cursor(run.id).value_or(storage::LogCursor{})};
}

RequestError cannot_read(const parser::Error& error) {
  return log_unreadable(fmt::format("The log cannot be read: {}.", error.message));
}

parser::FileDescriptor open_log(const WatchedLog& log) {
  const auto root = ingest::RootDirectory::open(log.root_path);
  if (!root) {
    throw log_unreadable(
        fmt::format("The tree of this run's log cannot be opened: {}.", root.error().message));
  }
  auto opened = ingest::open_log_text(*root, log.relative_path);
  if (!opened) throw cannot_read(opened.error());
  if (opened->error == 0) return std::move(opened->fd);
  if (ingest::means_no_such_file(opened->error)) {
    throw not_found("The log is gone; the steps that were read of it are kept.");
  }
  throw log_unreadable(fmt::format("The log cannot be opened: {}.", std::strerror(opened->error)));
}

Json read_lines(const parser::FileDescriptor& file, const WatchedLog& log,
                const WantedLines& lines) {
  const auto identity = ingest::check_identity(file.get(), log.cursor);
  if (!identity) throw cannot_read(identity.error());
  if (*identity != ingest::Identity::same) {
    throw RequestError{409, "Log changed",
                       "The log no longer begins as it did when this run was read. It is read anew "
                       "shortly, as another run."};
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0) throw cannot_read({std::strerror(errno)});
  const WantedBytes wanted(static_cast<std::uint64_t>(status.st_size), lines);
  const auto bytes = ingest::read_at(file.get(), wanted.begin,
                                     static_cast<std::size_t>(wanted.end - wanted.begin));
  if (!bytes) throw cannot_read(bytes.error());
  return lines_json(*bytes, wanted.begin, wanted, lines);
}

// Calls are counted by tree: who asks for logs of one that hangs holds up neither the others nor
// the jobs.
Json watched_lines(const WatchedLog& log, const WantedLines& lines) {
  auto json = dispatch::ask_file_system<Json>(
      fmt::format("{}/{}", log.root_path, log.relative_path),
      [=]() -> parser::Result<Json> { return read_lines(open_log(log), log, lines); },
      dispatch::kFilePatience, log.root_path);
  if (!json) throw cannot_read(json.error());
  return *std::move(json);
}

// The text around the wanted byte, as far as it is kept without a gap.
Json pushed_lines(storage::Reader& reader, const storage::RunRecord& run,
                  const storage::RootRecord& root, const WantedLines& lines) {
  const std::uint64_t size = reader.log_text_end(run.id);
  if (size == 0) {
    throw not_found(fmt::format(
        "The log of this run is not here: it stays on its cluster, '{}', whose agent pushed what "
        "it read of it (with --push-logs it sends the log's text, too). There it is {}/{}.",
        root.pushed_from, root.path, run.relative_path));
  }
  const WantedBytes wanted(size, lines);
  std::string bytes;
  std::uint64_t begin = wanted.begin / storage::kLogBlockBytes * storage::kLogBlockBytes;
  for (const storage::LogBlock& block : reader.log_blocks(run.id, wanted.begin, wanted.end)) {
    if (block.first_byte != begin + bytes.size()) {  // a gap before it
      if (block.first_byte > wanted.offset) break;
      bytes.clear();
      begin = block.first_byte;
    }
    const auto text = push::unpacked_block(block);
    if (!text) throw log_unreadable("The text that is kept of this run's log is damaged.");
    bytes += *text;
  }
  if (wanted.offset < begin || wanted.offset >= begin + bytes.size()) {
    throw not_found(fmt::format(
        "That part of the log is not here: it was removed (llmb-report prune), or lies between the "
        "beginning and the end that its agent sends of a log beyond {} MiB.",
        (storage::kLogHeadBytes + storage::kLogTailBytes) >> 20U));
  }
  return lines_json(bytes, begin, wanted, lines);
}

}  // namespace

http::Response get_run_log(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"offset", "before", "after"});
  const storage::RunId id = id_parameter(request);
  const auto count = [&](const char* name) {
    return static_cast<std::size_t>(parameters.integer(name, 0, kLinesMax).value_or(kLines));
  };
  WantedLines lines{std::nullopt, count("before"), count("after")};
  if (const auto offset = parameters.integer("offset", 0, INT64_MAX)) lines.offset = *offset;
  Json json = {{"run_id", id}};
  const auto watched =
      context.readers.with_reader([&](storage::Reader& reader) -> std::optional<WatchedLog> {
        const auto run = reader.run(id);
        if (!run) throw absent_run(reader, id);
        const auto roots = reader.roots();
        const auto root = std::find_if(roots.begin(), roots.end(), [&](const auto& record) {
          return record.id == run->root_id;
        });
        const bool is_pushed = root != roots.end() && !root->pushed_from.empty();
        if (!is_pushed) return find_watched(context, reader, *run);
        json.update(pushed_lines(reader, *run, *root, lines));
        return std::nullopt;
      });
  if (watched) json.update(watched_lines(*watched, lines));
  return hashed_response(to_text(json));
}

}  // namespace llmb::api
