// RootReports: what discovery tells about its root: rows for the writer, warnings in the daemon's
// log (each at most once an hour), and the root's status.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>

#include "server/ingest/file_table.h"
#include "server/ingest/status_board.h"
#include "server/ingest/tree_walk.h"
#include "server/ingest/watched_root.h"
#include "server/ingest/write_queue.h"

namespace llmb::ingest {

class RootReports {
 public:
  // All outlive it. `is_followed`: what cannot be read now is tried again, before this ends.
  RootReports(const WatchedRoot& root, WriteQueue& writes, RootActivity& activity,
              const Clock& clock, bool is_followed)
      : root_(root),
        writes_(writes),
        activity_(activity),
        clock_(clock),
        is_followed_(is_followed) {}

  void scan_ended(std::chrono::steady_clock::duration work, std::int64_t files_seen);
  void cannot_list(const UnreadableDirectory& directory);
  void cannot_read_database(const std::string& error);
  void lacks_memory();
  void advise(const std::string& advice);
  void parked(const FileState& file, const std::string& reason, std::chrono::milliseconds rest);
  void unparked(const std::string& relative_path);
  void reads_in_part(const std::string& relative_path, const std::string& flaw);
  // Of all such logs of the root one is named.
  void leaves_compressed(const std::string& relative_path);
  void keeps_compressed(const std::string& relative_path);
  void leaves_as_told(const std::string& relative_path, const std::string& refusal_words);
  void leaves_link(const std::string& relative_path);
  void vanished(const std::string& relative_path);
  void returned(const std::string& relative_path);
  void publish(const FileTable& files, bool first_scan_done);

 private:
  bool may_log_again(const std::string& key);

  const WatchedRoot& root_;
  WriteQueue& writes_;
  RootActivity& activity_;
  const Clock& clock_;
  const bool is_followed_;
  std::unordered_map<std::string, SteadyTime> logged_at_;
  std::string scan_recorded_;  // what was recorded last of a scan
  SteadyTime scan_recorded_at_{};
};

}  // namespace llmb::ingest
