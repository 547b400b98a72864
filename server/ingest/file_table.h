// FileTable: what discovery knows of every log, and when it wants to look at each again. Compact,
// because a tree has a hundred thousand of them: everything else is in the database. Used by the
// discovery thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/ingest/clock.h"
#include "server/ingest/read_job.h"

namespace llmb::ingest {

using RootIndex = std::uint16_t;

struct FileState {
  std::string relative_path;
  storage::RunId run = 0;  // 0: not in the database yet
  std::int64_t generation = 0;
  // As last seen; a difference means that there is something to read, or to check.
  std::uint64_t inode = 0;
  std::uint64_t size_seen = 0;
  std::int64_t modified_ns_seen = 0;
  std::uint64_t offset = 0;  // committed
  // When it was last seen to grow; before it was first read to its end, what its own time says.
  SteadyTime silent_since = kLongAgo;
  SteadyTime due = SteadyTime::max();
  SteadyTime read_at{};  // when it was last given to a reader
  std::uint64_t pending_bytes = 0;
  std::uint32_t scan_seen = 0;  // the last scan that met it
  float step_time_s_mean = 0;
  float step_time_s_typical = 0;  // of the newest steps
  RootIndex root = 0;
  std::uint16_t failures = 0;
  std::uint8_t shrink_polls = 0;
  bool job_has_ended : 1 = false;
  bool is_settled : 1 = false;         // the summary says that the job is over
  bool silence_is_judged : 1 = false;  // whether it hangs was said since it grew
  bool was_read_to_end : 1 = false;    // by this process
  bool window_is_judged : 1 = false;   // since ingest began, and since its llmb-config came
  bool is_queued : 1 = false;          // waits for a reader, or is with one
  bool is_changed_again : 1 = false;   // changed while it was queued
  bool is_parked : 1 = false;          // failed: rests until `due`
  bool is_vanished : 1 = false;
  bool wants_configuration : 1 = false;
};

class FileTable {
 public:
  FileIndex add(RootIndex root, std::string relative_path);
  std::optional<FileIndex> find(RootIndex root, std::string_view relative_path) const;
  FileState& at(FileIndex index) { return files_[index]; }
  std::size_t size() const { return files_.size(); }

  // Wants a look at `due`; replaces what was wanted before. SteadyTime::max(): none.
  void schedule(FileIndex index, SteadyTime due);
  // The next file that is due, taken from the schedule.
  std::optional<FileIndex> take_due(SteadyTime now);
  SteadyTime next_due();

 private:
  struct Due {
    SteadyTime at;
    FileIndex file;
    bool operator>(const Due& other) const { return at > other.at; }
  };
  void drop_outdated();

  std::deque<FileState> files_;  // addresses stay: the index holds views of the paths
  std::vector<std::unordered_map<std::string_view, FileIndex>> by_path_;  // by root
  // Entries that FileState::due no longer agrees with are outdated, and dropped when met.
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

}  // namespace llmb::ingest
