// FoundLog: where this server has the text of a run's log. Of a tree that is watched here it is the
// file that the run was read from, of a pushed run the text that its agent sent along.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "server/api/context.h"
#include "server/api/request_error.h"
#include "server/ingest/open_log.h"
#include "storage/records.h"

namespace llmb::api {

struct WatchedLog {
  std::string root_path;
  std::string relative_path;
  storage::LogCursor cursor;

  std::string path() const { return root_path + "/" + relative_path; }
};

struct PushedLog {
  storage::RunId run = 0;
  std::string relative_path;
  std::uint64_t size_bytes = 0;  // of what came of it
};

using FoundLog = std::variant<WatchedLog, PushedLog>;

// Throws RequestError (404, 410) where there is no such run, or not its text.
FoundLog find_log(Context& context, storage::RunId id);

// The file, or its compressed form where the log itself is not there; no link is followed. Throws
// RequestError (404, 503).
ingest::LogFile open_watched(const WatchedLog& log);

// The refusals: of a log that was rewritten since (the offsets of the run mean nothing in it), of
// one that cannot be read, of a pushed block that is damaged, and of text that a pushed log lacks.
RequestError log_changed();
RequestError cannot_read_log(const std::string& why);
RequestError damaged_text();
RequestError text_not_here();

// Why text of a pushed log is not here: what follows "it".
std::string why_not_here();

}  // namespace llmb::api
