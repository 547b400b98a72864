#include "server/api/found_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "server/api/run_lookup.h"
#include "server/ingest/root_directory.h"
#include "storage/push_records.h"

namespace llmb::api {
namespace {

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

PushedLog find_pushed(storage::Reader& reader, const storage::RunRecord& run,
                      const storage::RootRecord& root) {
  const std::uint64_t size = reader.log_text_end(run.id);
  if (size == 0) {
    throw not_found(fmt::format(
        "The log of this run is not here: it stays on its cluster, '{}', whose agent pushed what "
        "it read of it (with --push-logs it sends the log's text, too). There it is {}/{}.",
        root.pushed_from, root.path, run.relative_path));
  }
  return {run.id, run.relative_path, size};
}

}  // namespace

FoundLog find_log(Context& context, storage::RunId id) {
  return context.readers.with_reader([&](storage::Reader& reader) -> FoundLog {
    const auto run = reader.run(id);
    if (!run) throw absent_run(reader, id);
    const auto roots = reader.roots();
    const auto root = std::find_if(roots.begin(), roots.end(),
                                   [&](const auto& record) { return record.id == run->root_id; });
    const bool is_pushed = root != roots.end() && !root->pushed_from.empty();
    if (is_pushed) return find_pushed(reader, *run, *root);
    return find_watched(context, reader, *run);
  });
}

ingest::LogFile open_watched(const WatchedLog& log) {
  const auto root = ingest::RootDirectory::open(log.root_path);
  if (!root) {
    throw log_unreadable(
        fmt::format("The tree of this run's log cannot be opened: {}.", root.error().message));
  }
  ingest::LogFile opened = ingest::open_log_file(*root, log.relative_path, true);
  if (opened.error == 0) return opened;
  if (ingest::means_no_such_file(opened.error)) {
    throw not_found("The log is gone; the steps that were read of it are kept.");
  }
  throw log_unreadable(fmt::format("The log cannot be opened: {}.", std::strerror(opened.error)));
}

RequestError log_changed() {
  return {409, "Log changed",
          "The log no longer begins as it did when this run was read. It is read anew shortly, as "
          "another run."};
}

RequestError cannot_read_log(const std::string& why) {
  return log_unreadable(fmt::format("The log cannot be read: {}.", why));
}

RequestError damaged_text() {
  return log_unreadable("The text that is kept of this run's log is damaged.");
}

RequestError text_not_here() {
  return not_found(fmt::format("That part of the log is not here: it {}.", why_not_here()));
}

std::string why_not_here() {
  return fmt::format(
      "was removed (llmb-report prune), or lies between the beginning and the end that its agent "
      "sends of a log beyond {} MiB",
      (storage::kLogHeadBytes + storage::kLogTailBytes) >> 20U);
}

}  // namespace llmb::api
