// TreeState: the directories and logs of one root as they were last seen. Compares them with the
// file system one directory at a time, and tells its listener what differs. A directory is listed
// only where its time of modification, its inode or an event says that it changed; else a check of
// that and of its logs' sizes does. Decides neither when to look nor what to read.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/ingest/call_watch.h"
#include "server/ingest/directory_table.h"
#include "server/ingest/directory_watch.h"
#include "server/ingest/inner_mounts.h"
#include "server/ingest/tree_walk.h"
#include "server/ingest/watch_plan.h"
#include "server/ingest/watched_root.h"

namespace llmb::ingest {

class TreeState {
 public:
  struct Listener {
    // A log is new, or was looked at.
    std::function<void(FileIndex, const FileFacts&)> on_examined;
    // An event says that a known log changed.
    std::function<void(FileIndex)> on_event;
    // It is not there any more.
    std::function<void(FileIndex)> on_missing;
    // A llmb-config was looked at.
    std::function<void(const std::string& relative_path, const FileFacts&)> on_config;
    // A compressed log was met that cannot be unpacked, and is not known by its name before that.
    std::function<void(const std::string& relative_path)> on_compressed;
  };

  // References outlive the TreeState. No allowance: nothing is watched.
  TreeState(WatchedRoot& root, FileTable& files, CallWatch& call_watch,
            std::shared_ptr<WatchAllowance> allowance, Listener listener);

  // The root is another directory than before: forgets all directories, but no log.
  void reset();

  // Directories that are to be listed. begin_walk(): all of the root; each that is met is listed
  // too, where otherwise only new ones are.
  void begin_walk();
  bool walk_is_done() const { return !walk_ || walk_->is_done(); }
  void step_walk();
  std::vector<UnreadableDirectory> take_unreadable();
  std::string take_link();  // as TreeWalk's

  // Looks whether a directory, or a log in it, has changed. Spends one operation on a remote file
  // system: there the logs are left to their own polls, because sizes are cached by directory.
  void check(DirectoryIndex index);
  // Whether the walk that began last has listed it.
  bool was_walked(DirectoryIndex index) const;
  // After a whole walk: the logs that are known from an earlier process and that it did not meet.
  void find_missing();

  // Directories at which a file system was mounted, and is not now. Nothing below them is gone.
  std::vector<std::string> missing_mounts() const;

  // The watches of folders that seldom change go to whoever wants one.
  void make_watches_free(std::int64_t young_since_ns);

  // Calls of the listener for all events that wait. False: events were lost.
  bool take_events();
  int event_fd() const { return allowance_ ? watch_.fd() : -1; }

  const DirectoryTable& directories() const { return directories_; }
  std::size_t watches() const { return plan_.size(); }

 private:
  struct Listing {
    DirectoryIndex directory = kNoDirectory;
    std::int64_t modified_ns = 0;
    bool lacks_mount = false;  // the folder below one
  };
  void enter(const OpenDirectory& open, Listing& listing);
  void leave(const Listing& listing, bool is_whole);
  // True: it has changed, and is to be listed.
  bool list_if_changed(DirectoryIndex index, const struct stat& status);
  void list(const std::string& relative_path);
  void check_opened(DirectoryIndex index);
  void check_logs(DirectoryIndex index, int fd, std::size_t path_begin);
  void take_candidate(DirectoryIndex index, const Candidate& candidate);
  void take_log(DirectoryIndex index, FileIndex file, const FileFacts& facts);
  void take_event(const DirectoryWatch::Event& event);
  void take_new_file(DirectoryIndex index, const std::string& path);
  bool is_log(const std::string& path, parser::FileRole role);
  bool stands_for_its_log(const std::string& path);
  bool other_form_has_run(const std::string& path);
  void miss(FileIndex file);
  bool is_out_of_reach(const std::string& path) const;
  void take_packed_form(FileIndex file);
  void leave_packed_form(const std::string& path);
  void lose(DirectoryIndex index);
  void see_activity(DirectoryIndex index, std::int64_t at_ns);
  std::int64_t claim_ns(DirectoryIndex index, std::int64_t young_since_ns) const;
  void watch(DirectoryIndex index, int fd);
  void unwatch(DirectoryIndex index);
  void unwatch_below(DirectoryIndex index);
  bool is_local() const { return root_.kind == FileSystemKind::local; }

  WatchedRoot& root_;
  FileTable& files_;
  CallWatch& call_watch_;  // begun anew with each call that may block
  std::shared_ptr<WatchAllowance> allowance_;
  Listener listener_;
  DirectoryTable directories_;
  InnerMounts mounts_;
  std::string path_;  // reused for every check
  std::optional<TreeWalk> walk_;
  bool walks_everything_ = false;
  std::uint32_t walk_number_ = 0;
  WatchPlan plan_;
  DirectoryWatch watch_;
};

}  // namespace llmb::ingest
