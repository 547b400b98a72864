// GET /api/v1/runs/{id}/log?offset=&before=&after=: lines of a run's log around a byte. The file is
// the one that the run was read from, below a root that is watched; links are not followed, and
// nothing but a regular file is opened. A file system that does not answer is not waited for
// (file_call.h). A log that was rewritten since is refused: the offsets of the run mean nothing in
// it.
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
#include "server/ingest/root_directory.h"
#include "server/report/log_excerpt.h"

namespace llmb::api {
namespace {

constexpr std::int64_t kLines = 25;
constexpr std::int64_t kLinesMax = 500;
// On either side of the byte: what holds the lines of nearly every log.
constexpr std::uint64_t kSideBytes = std::uint64_t{256} << 10U;

struct FoundLog {
  std::string root_path;
  std::string relative_path;
  storage::LogCursor cursor;
};

FoundLog find_log(Context& context, storage::RunId id) {
  return context.readers.with_reader([&](storage::Reader& reader) -> FoundLog {
    const auto run = reader.run(id);
    if (!run) throw run_not_found(id);
    if (run->is_superseded) {
      throw RequestError{410, "Log rewritten",
                         "The log was rewritten since this run was read; what it held is gone."};
    }
    const auto roots = reader.roots();
    const auto record = std::find_if(roots.begin(), roots.end(),
                                     [&](const auto& root) { return root.id == run->root_id; });
    if (record != roots.end() && !record->pushed_from.empty()) {
      throw not_found(fmt::format(
          "The log of this run is not here: it stays on its cluster, '{}', whose agent pushed what "
          "it read of it. There it is {}/{}.",
          record->pushed_from, record->path, run->relative_path));
    }
    const auto watched = context.options.ingest_status().roots;
    const auto root = std::find_if(watched.begin(), watched.end(),
                                   [&](const auto& status) { return status.id == run->root_id; });
    if (root == watched.end()) {
      throw not_found("The tree of this run's log is not watched by this server.");
    }
    return {root->path, run->relative_path, reader.cursor(id).value_or(storage::LogCursor{})};
  });
}

parser::FileDescriptor open_log(const FoundLog& log) {
  const auto root = ingest::RootDirectory::open(log.root_path);
  if (!root) {
    throw log_unreadable(
        fmt::format("The tree of this run's log cannot be opened: {}.", root.error().message));
  }
  ingest::OpenResult opened = root->open_file(log.relative_path);
  if (opened.error == 0) return std::move(opened.fd);
  if (ingest::means_no_such_file(opened.error)) {
    throw not_found("The log is gone; the steps that were read of it are kept.");
  }
  throw log_unreadable(fmt::format("The log cannot be opened: {}.", std::strerror(opened.error)));
}

RequestError cannot_read(const parser::Error& error) {
  return log_unreadable(fmt::format("The log cannot be read: {}.", error.message));
}

Json read_lines(const parser::FileDescriptor& file, const FoundLog& log,
                std::optional<std::int64_t> asked, std::int64_t before, std::int64_t after) {
  const auto identity = ingest::check_identity(file.get(), log.cursor);
  if (!identity) throw cannot_read(identity.error());
  if (*identity != ingest::Identity::same) {
    throw RequestError{409, "Log changed",
                       "The log no longer begins as it did when this run was read. It is read anew "
                       "shortly, as another run."};
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0) throw cannot_read({std::strerror(errno)});
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t last = size == 0 ? 0 : size - 1;
  const std::uint64_t offset = std::min(asked ? static_cast<std::uint64_t>(*asked) : last, last);
  const std::uint64_t begin = offset > kSideBytes ? offset - kSideBytes : 0;
  const auto wanted = static_cast<std::size_t>(offset - begin + kSideBytes);
  const auto bytes = ingest::read_at(file.get(), begin, wanted);
  if (!bytes) throw cannot_read(bytes.error());
  const report::LogBlock block = {*bytes, begin, begin + bytes->size() >= size};
  const report::LogExcerpt excerpt = report::cut_excerpt(
      block, offset, static_cast<std::size_t>(before), static_cast<std::size_t>(after));
  Json json;
  json["size_bytes"] = size;
  json["offset"] = offset;
  json.update(report::log_excerpt_json(excerpt));
  return json;
}

}  // namespace

http::Response get_run_log(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"offset", "before", "after"});
  const storage::RunId id = id_parameter(request);
  const auto offset = parameters.integer("offset", 0, INT64_MAX);
  const std::int64_t before = parameters.integer("before", 0, kLinesMax).value_or(kLines);
  const std::int64_t after = parameters.integer("after", 0, kLinesMax).value_or(kLines);
  const FoundLog log = find_log(context, id);
  // Counted by tree: who asks for logs of one that hangs holds up neither the others nor the jobs.
  const auto lines = dispatch::ask_file_system<Json>(
      fmt::format("{}/{}", log.root_path, log.relative_path),
      [=]() -> parser::Result<Json> {
        return read_lines(open_log(log), log, offset, before, after);
      },
      dispatch::kFilePatience, log.root_path);
  if (!lines) throw cannot_read(lines.error());
  Json json = {{"run_id", id}};
  json.update(*lines);
  return hashed_response(to_text(json));
}

}  // namespace llmb::api
