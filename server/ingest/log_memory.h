// LogMemory: what ingest remembers of one log from one reading to the next. Discovery keeps it, a
// ReadJob carries it to the reader, and a FileOutcome brings the changed one back: one value, so
// that a fact is added in one place. What is not in it is in the database.
#pragma once

#include <cstdint>

#include "server/ingest/clock.h"
#include "server/ingest/root_directory.h"
#include "storage/records.h"

namespace llmb::ingest {

struct LogMemory {
  storage::RunId run = 0;  // 0: not in the database yet
  std::int64_t generation = 0;
  // As last seen; a difference means that there is something to read, or to check.
  std::uint64_t inode = 0;
  std::uint64_t size_seen = 0;  // the offset plus an unterminated line that was looked at
  std::int64_t modified_us_seen = 0;
  std::uint64_t offset = 0;  // committed
  // When it was last seen to grow; before it was first read to its end, what its own time says.
  SteadyTime silent_since = kLongAgo;
  float step_time_s_mean = 0;
  float step_time_s_typical = 0;       // of the newest steps
  bool job_has_ended : 1 = false;      // a finish marker was read, or the true last iteration
  bool is_settled : 1 = false;         // the summary says that the job is over
  bool silence_is_judged : 1 = false;  // since it grew, the summary says whether it hangs
  bool was_read_to_end : 1 = false;    // by this process: what is new since then, it saw coming
  bool is_removed : 1 = false;         // its run was removed on purpose, and it stands as it was
  bool window_is_judged : 1 = false;   // since ingest began, and since its llmb-config came
  bool is_of_earlier_reading : 1 = false;  // its run was told by rules that are others by now

  // But for the size: that of a compressed file is not stored.
  bool was_seen_as(const FileFacts& facts) const {
    return inode == facts.inode && modified_us_seen == facts.modified_us();
  }
};

}  // namespace llmb::ingest
