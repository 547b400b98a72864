// Scanner: when the directories of a root are looked at. A scan checks each one that has no watch,
// within seconds where the processor allows; those that were active last are checked in between
// too, and once in an hour all are listed anew. Works in slices, so that a huge tree holds up
// nothing else. Used by the discovery thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/ingest/config_arrivals.h"
#include "server/ingest/ingest_options.h"
#include "server/ingest/poll_schedule.h"
#include "server/ingest/tree_state.h"

namespace llmb::ingest {

class Scanner {
 public:
  struct Listener {
    std::function<void(FileIndex, const FileFacts&)> on_examined;  // as TreeState's
    std::function<void(FileIndex)> on_event;
    std::function<void(FileIndex)> on_missing;
    std::function<void(const std::string& relative_path)> on_compressed;
    // A llmb-config came, or changed, that belongs to it.
    std::function<void(FileIndex)> on_configuration;
    // A scan ended, with or without success; how long it worked.
    std::function<void(std::chrono::steady_clock::duration)> on_scan_end;
    std::function<void(const UnreadableDirectory&)> on_unreadable;
    std::function<void(const std::string& relative_path)> on_link;  // that leads out of the root
    // Once: more watches would make it cheaper.
    std::function<void(const std::string&)> on_advice;
  };

  // References outlive the Scanner. No allowance: one scan, and nothing is followed.
  Scanner(WatchedRoot& root, FileTable& files, const IngestOptions& options, CallWatch& call_watch,
          std::shared_ptr<WatchAllowance> allowance, Listener listener);

  // Works for a slice of time. True: there is more to do at once.
  bool advance(SteadyTime now);
  void take_events();
  int event_fd() const { return tree_.event_fd(); }
  // When advance() should be called again, given that it has just said that there is no more.
  SteadyTime next_work(SteadyTime now) const;
  bool was_scanned() const { return was_scanned_; }

 private:
  void begin_scan(SteadyTime now);
  void end_scan(SteadyTime now);
  void tell_missing_mounts();
  void advise(std::chrono::milliseconds pause);
  // One directory. False: nothing is left to do now.
  bool work_once(SteadyTime now);
  bool check_next();
  bool check_next_favoured(SteadyTime now);
  bool is_to_be_checked(DirectoryIndex index);
  void choose_favoured();
  void match_configs(SteadyTime now);

  WatchedRoot& root_;
  FileTable& files_;
  const IngestOptions& options_;
  CallWatch& call_watch_;
  const bool follows_;
  Listener listener_;
  TreeState tree_;
  ConfigArrivals new_configs_;

  bool is_scanning_ = false;
  bool scan_is_full_ = true;
  bool was_scanned_ = false;
  std::uint32_t scan_number_ = 0;
  DirectoryIndex next_directory_ = 0;  // of this scan's checks
  std::int64_t young_since_ns_ = 0;    // as of its beginning
  std::chrono::steady_clock::duration scan_work_{0};
  ScanCost scan_cost_;
  std::uint32_t scans_for_seldom_ = 1;  // as scans_for_seldom_changed() says
  bool has_advised_ = false;
  SteadyTime next_scan_{};
  SteadyTime next_full_scan_{};
  std::vector<DirectoryIndex> favoured_;
  std::size_t next_favoured_ = 0;
  SteadyTime favoured_due_ = SteadyTime::max();
  SteadyTime configs_due_{};
};

}  // namespace llmb::ingest
