// Rereads: the logs of a root that an earlier reading told (parser/reader/reading.h) and that are
// to be read again, whole, once they have settled; the newest first. What has been read is in the
// database, so that whoever begins again goes on. Used by the discovery thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "server/ingest/file_table.h"

namespace llmb::ingest {

class Rereads {
 public:
  // `is_followed`: what has not settled yet is waited for; else it is passed over. `on_refused` is
  // told of each log that stays as it is for FileState::refusal.
  Rereads(FileTable& files, std::size_t at_once_max, bool is_followed,
          std::function<void(FileIndex)> on_refused)
      : files_(files),
        at_once_max_(at_once_max),
        is_followed_(is_followed),
        on_refused_(std::move(on_refused)) {}

  // All that an earlier reading told.
  void begin();
  // The next one. Nothing: enough are under way, by number or by bytes, or what is left waits for
  // something else: to settle, for a reader that has it, for its next try, or it is in `put_off`.
  // What is gone is passed over.
  std::optional<FileIndex> take_next(const std::unordered_set<FileIndex>& put_off, SteadyTime now);
  // What became of it, as the table knows already. What is told by an earlier reading still is
  // tried again, or refused.
  void take_back(const FileOutcome& outcome, SteadyTime now);
  // What went away, or whose root did, before a reader had it: no outcome comes of that.
  void take_dropped(SteadyTime now);
  bool is_done() const { return waiting_.empty() && under_way_.empty(); }

 private:
  struct Waiting {
    FileIndex file = 0;
    int tries = 0;
    SteadyTime due = kLongAgo;
    std::uint64_t bytes = 0;  // while it is under way
  };
  void put_back(Waiting log, SteadyTime now);
  // False: not this time, and not later.
  bool is_to_be_read(FileIndex index);
  void refuse(FileIndex index, RereadRefusal why);
  bool has_room_for(std::uint64_t bytes) const;

  FileTable& files_;
  const std::size_t at_once_max_;
  const bool is_followed_;
  const std::function<void(FileIndex)> on_refused_;
  std::deque<Waiting> waiting_;
  std::unordered_map<FileIndex, Waiting> under_way_;
  std::uint64_t bytes_under_way_ = 0;
};

}  // namespace llmb::ingest
