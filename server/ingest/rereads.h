// Rereads: the logs of a root that an earlier reading told (parser/reader/reading.h) and that are
// to be read again from their start, the newest first and some at a time. What has been read is in
// the database, so that whoever begins again goes on. Used by the discovery thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <unordered_set>

#include "server/ingest/file_table.h"

namespace llmb::ingest {

class Rereads {
 public:
  explicit Rereads(std::size_t at_once_max) : at_once_max_(at_once_max) {}

  // All of `files` that an earlier reading told.
  void begin(FileTable& files);
  // The next one. Nothing: there are enough under way, or what is left waits for something else: a
  // reader has it, or it is in `put_off`. What is gone, or cannot be read just now, is passed over.
  std::optional<FileIndex> take_next(FileTable& files,
                                     const std::unordered_set<FileIndex>& put_off);
  // A log was read to its end, or cannot be. `is_put_off`: it is to be tried again.
  void take_back(FileIndex index, bool is_put_off);
  // What went away, or whose root did, before a reader had it: no outcome comes of that.
  void take_dropped(FileTable& files);
  bool is_done() const { return waiting_.empty() && under_way_.empty(); }

 private:
  const std::size_t at_once_max_;
  std::deque<FileIndex> waiting_;
  std::unordered_set<FileIndex> under_way_;
};

}  // namespace llmb::ingest
