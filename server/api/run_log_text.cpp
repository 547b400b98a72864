#include "server/api/run_log_text.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include "server/api/json.h"
#include "server/api/request_error.h"
#include "server/api/run_lookup.h"
#include "server/dispatch/file_call.h"
#include "server/ingest/file_identity.h"
#include "server/ingest/log_text.h"
#include "server/ingest/root_directory.h"
#include "server/push/log_text_request.h"

namespace llmb::api {
namespace {

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

// Valid while `file` is open.
RunLogText text_of(const parser::FileDescriptor& file, const WatchedLog& log) {
  const auto identity = ingest::check_identity(file.get(), log.cursor);
  if (!identity) throw cannot_read(identity.error());
  if (*identity != ingest::Identity::same) {
    throw RequestError{409, "Log changed",
                       "The log no longer begins as it did when this run was read. It is read anew "
                       "shortly, as another run."};
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0) throw cannot_read({std::strerror(errno)});
  const auto read = [fd = file.get()](std::uint64_t begin, std::uint64_t end) {
    auto bytes = ingest::read_at(fd, begin, static_cast<std::size_t>(end - begin));
    if (!bytes) throw cannot_read(bytes.error());
    return std::vector<TextPiece>{{begin, *std::move(bytes)}};
  };
  return {static_cast<std::uint64_t>(status.st_size), read};
}

// A log that an agent pushed.
struct PushedLog {
  storage::RunId run = 0;
  std::uint64_t size_bytes = 0;  // of what came of it
};

PushedLog find_pushed(storage::Reader& reader, const storage::RunRecord& run,
                      const storage::RootRecord& root) {
  const std::uint64_t size = reader.log_text_end(run.id);
  if (size == 0) {
    throw not_found(fmt::format(
        "The log of this run is not here: it stays on its cluster, '{}', whose agent pushed what "
        "it read of it (with --push-logs it sends the log's text, too). There it is {}/{}.",
        root.pushed_from, root.path, run.relative_path));
  }
  return {run.id, size};
}

std::vector<TextPiece> pushed_pieces(const std::vector<storage::LogBlock>& blocks) {
  std::vector<TextPiece> pieces;
  for (const storage::LogBlock& block : blocks) {
    const bool goes_on =
        !pieces.empty() && pieces.back().offset + pieces.back().bytes.size() == block.first_byte;
    if (!goes_on) pieces.push_back({block.first_byte, {}});
    const auto text = push::unpacked_block(block);
    if (!text) throw log_unreadable("The text that is kept of this run's log is damaged.");
    pieces.back().bytes += *text;
  }
  return pieces;
}

using FoundLog = std::variant<WatchedLog, PushedLog>;

FoundLog find_log(Context& context, storage::Reader& reader, storage::RunId id) {
  const auto run = reader.run(id);
  if (!run) throw absent_run(reader, id);
  const auto roots = reader.roots();
  const auto root = std::find_if(roots.begin(), roots.end(),
                                 [&](const auto& record) { return record.id == run->root_id; });
  const bool is_pushed = root != roots.end() && !root->pushed_from.empty();
  if (is_pushed) return find_pushed(reader, *run, *root);
  return find_watched(context, reader, *run);
}

}  // namespace

report::Json ask_log_text(Context& context, storage::RunId id,
                          const std::function<report::Json(const RunLogText&)>& ask) {
  const FoundLog found = context.readers.with_reader(
      [&](storage::Reader& reader) { return find_log(context, reader, id); });
  if (const auto* const pushed = std::get_if<PushedLog>(&found)) {
    return ask({pushed->size_bytes, [&](std::uint64_t begin, std::uint64_t end) {
                  return pushed_pieces(context.readers.with_reader([&](storage::Reader& reader) {
                    return reader.log_blocks(pushed->run, begin, end);
                  }));
                }});
  }
  // Calls are counted by tree: who asks for logs of one that hangs holds up neither the others nor
  // the jobs.
  const WatchedLog& log = std::get<WatchedLog>(found);
  auto json = dispatch::ask_file_system<Json>(
      fmt::format("{}/{}", log.root_path, log.relative_path),
      [=]() -> parser::Result<Json> {
        const parser::FileDescriptor file = open_log(log);
        return ask(text_of(file, log));
      },
      dispatch::kFilePatience, log.root_path);
  if (!json) throw cannot_read(json.error());
  return *std::move(json);
}

}  // namespace llmb::api
