// What discovery asks of the readers about one file, and what it hears back.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/ingest/log_memory.h"
#include "server/ingest/reread_refusal.h"
#include "server/ingest/root_directory.h"

namespace llmb::ingest {

using FileIndex = std::uint32_t;  // into discovery's FileTable

// How the reason begins of a log that --once parks, though it may be read another time.
inline constexpr std::string_view kNotReadYet = "not read yet: ";

struct ReadJob {
  enum class Kind {
    read,       // whatever was appended
    configure,  // a llmb-config appeared after the run's log was read
  };
  Kind kind = Kind::read;
  FileIndex file = 0;
  std::shared_ptr<const RootDirectory> root;
  storage::RootId root_id = 0;
  std::string relative_path;
  std::string layout_path;  // the same below the folders above the root, for parse_run_path()
  std::string config_path;  // of the llmb-config that belongs to it; empty: none
  std::string gpu_type;     // its root's
  LogMemory memory;
  bool shrink_is_believed = false;
  // Whole, from its start, because an earlier reading told its run: where it is as it was settled.
  bool is_reread = false;
  // Its log went away: what was not read of it before is in its compressed form.
  bool is_rest = false;
  bool checks_content = false;  // every byte before the offset, not only the head and the last ones
};

// One job gives one outcome: from the reader, or from the writer once its rows are committed.
struct FileOutcome {
  enum class Kind {
    committed,  // rows are in the database
    unchanged,  // nothing to store
    shorter,    // the bytes before the offset are missing; look again before believing it
    vanished,   // no regular file has that name any more
    failed,     // `error` says why; park it
    postponed,  // not the file's fault (database busy, stopping): try again soon
  };
  Kind kind = Kind::unchanged;
  FileIndex file = 0;
  bool is_configuration = false;  // of a Kind::configure job
  bool is_rest = false;           // the job's
  std::string error;
  std::chrono::milliseconds rest_max = std::chrono::milliseconds::max();  // of one that is parked
  // Of a compressed log of which not all can be had, and which was read up to there just now: why.
  std::string flaw;
  // The job's; after a reading that was committed or unchanged, with what that reading found.
  LogMemory memory;
  std::uint64_t size_bytes = 0;  // of the file, when it was read
  bool reached_end = true;
  RereadRefusal refusal = RereadRefusal::none;  // of a job that is_reread; nothing was stored
};

// Of `job`, before anything is known.
FileOutcome make_outcome(FileOutcome::Kind kind, const ReadJob& job, std::string error = {});

}  // namespace llmb::ingest
