// Scanner: keeps the FileTable equal to the trees. Walks each root again and again, in slices, and
// takes the events of DirectoryWatch as hints of what to walk at once. Decides nothing about
// reading: it tells its listener. Used by the discovery thread only.
#pragma once

#include <functional>
#include <vector>

#include "server/ingest/call_watch.h"
#include "server/ingest/directory_watch.h"
#include "server/ingest/file_table.h"
#include "server/ingest/ingest.h"
#include "server/ingest/watched_root.h"

namespace llmb::ingest {

class Scanner {
 public:
  struct Listener {
    // A log is new, or a scan examined it.
    std::function<void(FileIndex, const FileFacts&)> on_examined;
    // An event says that a known log changed.
    std::function<void(FileIndex)> on_event;
    // A whole, successful scan did not meet it, and it is not there.
    std::function<void(FileIndex)> on_missing;
    // A llmb-config came, or changed, that belongs to it.
    std::function<void(FileIndex)> on_configuration;
    // A scan ended, with or without success.
    std::function<void(const WatchedRoot&)> on_scan_end;
    std::function<void(const WatchedRoot&, const UnreadableDirectory&)> on_unreadable;
  };

  // All references outlive the Scanner. `follows`: scan again and again, and use events.
  Scanner(std::vector<WatchedRoot>& roots, FileTable& files, const IngestOptions& options,
          CallWatch& call_watch, bool follows, Listener listener);

  // Walks for a slice of time. True: there is more to do at once.
  bool advance(SteadyTime now);
  void take_events();
  int event_fd() const { return watch_.fd(); }
  // When advance() should be called again, given that it has just said that there is no more.
  SteadyTime next_work(SteadyTime now) const;
  bool every_root_was_scanned() const;

 private:
  bool advance_root(RootIndex index, SteadyTime now);
  void begin_scan(RootIndex index, SteadyTime now);
  void end_scan(RootIndex index, SteadyTime now);
  void find_missing(RootIndex index);
  void match_new_configs(RootIndex index);
  void take_candidate(RootIndex index, const Candidate& candidate, bool is_scan);
  void take_log(RootIndex index, const Candidate& candidate, bool is_scan);
  void take_config(RootIndex index, const std::string& relative_path, const FileFacts& facts);
  void take_directory(RootIndex index, const OpenDirectory& directory);
  void take_event(const DirectoryWatch::Event& event);

  std::vector<WatchedRoot>& roots_;
  FileTable& files_;
  const IngestOptions& options_;
  CallWatch& call_watch_;  // begun anew with each call that may block
  bool follows_;
  Listener listener_;
  DirectoryWatch watch_;
};

}  // namespace llmb::ingest
