// ContentChecks: when a log's bytes are read again in whole, to find what its size and times do not
// tell: bytes that were changed before the offset, or a rewrite that kept both. Slow on purpose.
// Used by the discovery thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "server/ingest/file_table.h"

namespace llmb::ingest {

class ContentChecks {
 public:
  // Every log once in an `interval`, as far as `bytes_per_s` allow; an interval of 0: never.
  ContentChecks(std::chrono::milliseconds interval, double bytes_per_s)
      : interval_(interval), bytes_per_s_(bytes_per_s) {}

  // The log that is to be checked now, marked so. Logs that grow, wait for a reader or have no byte
  // are left for the next round.
  std::optional<FileIndex> take_due(FileTable& files, SteadyTime now);
  SteadyTime next_due() const { return due_; }

 private:
  std::chrono::milliseconds interval_;
  double bytes_per_s_;
  FileIndex next_ = 0;
  SteadyTime round_began_{};
  SteadyTime due_{};  // the first call begins the first interval
  bool has_begun_ = false;
};

}  // namespace llmb::ingest
