// What discovery asks of the readers about one file, and what it hears back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/ingest/clock.h"
#include "server/ingest/root_directory.h"
#include "storage/records.h"

namespace llmb::ingest {

using FileIndex = std::uint32_t;  // into discovery's FileTable

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
  storage::RunId run = 0;   // 0: not in the database yet
  std::int64_t generation = 0;
  bool shrink_is_believed = false;
  bool silence_is_judged = false;  // whether it hangs was said since it grew
  bool window_is_judged = false;   // since ingest began, and since its llmb-config came
  // As they were when it was read last.
  std::uint64_t size_seen = 0;
  SteadyTime silent_since = kLongAgo;
  bool was_read_to_end = false;  // by this process: what is new since then, it saw coming
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
  std::string error;
  // The rest is set for committed and unchanged.
  storage::RunId run = 0;
  std::int64_t generation = 0;
  FileFacts facts;
  std::uint64_t offset = 0;   // committed
  std::uint64_t read_to = 0;  // offset plus an unterminated line that was looked at
  bool reached_end = true;
  bool is_settled = false;         // the job counts as over, and the summary says so
  bool silence_is_judged = false;  // it was silent for so long that it may hang
  bool has_new_bytes = false;
  SteadyTime silent_since = kLongAgo;
  bool job_has_ended = false;
  double step_time_s_mean = 0;
  double step_time_s_typical = 0;  // of the newest steps
};

}  // namespace llmb::ingest
