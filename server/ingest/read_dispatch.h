// ReadDispatch: gives the logs that are to be read to the readers, in turn and no more at once than
// may be open. A log is with one reader at a time. Used by the discovery thread only.
#pragma once

#include <deque>

#include "server/ingest/bounded_queue.h"
#include "server/ingest/file_table.h"
#include "server/ingest/read_job.h"
#include "server/ingest/watched_root.h"

namespace llmb::ingest {

class ReadDispatch {
 public:
  // References outlive it.
  ReadDispatch(const WatchedRoot& root, FileTable& files, BoundedQueue<ReadJob>& jobs,
               const Clock& clock, int open_files_max)
      : root_(root), files_(files), jobs_(jobs), clock_(clock), open_files_max_(open_files_max) {}

  // A log that waits or is with a reader already is read once more afterwards.
  void enqueue(FileIndex index);
  // Of a log that is with no reader: whole, from its start, behind those that wait.
  void enqueue_reread(FileIndex index);
  // Gives away as many as it may. Those of a root that cannot be opened just now are looked at
  // again after `retry`.
  void dispatch(std::chrono::milliseconds retry);
  // Its outcome came back.
  void take_back(FileIndex index);
  bool is_idle() const { return ready_.empty() && with_readers_ == 0; }

 private:
  ReadJob make_job(FileIndex index);

  const WatchedRoot& root_;
  FileTable& files_;
  BoundedQueue<ReadJob>& jobs_;
  const Clock& clock_;
  const int open_files_max_;
  std::deque<FileIndex> ready_;
  int with_readers_ = 0;
};

}  // namespace llmb::ingest
