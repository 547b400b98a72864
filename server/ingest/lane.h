// Lane: a writer of the database, and the pipeline of the roots whose runs it writes. A database
// that one process writes has one lane, for all roots; what belongs to no root has one without
// roots. Where several may write, each root has a lane of its own, whose writer first claims the
// root: as long as another process has it, or has yet to leave it out of a tree around it, the lane
// stands by and asks every second. Where another one took it over (the session with the database
// had ended), or begins or ends to watch a tree inside it, the pipeline ends, all that was known of
// the root is forgotten, and it is claimed anew.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/ingest/ingest_parts.h"
#include "server/ingest/pipeline.h"
#include "server/ingest/planned_root.h"
#include "storage/database.h"

namespace llmb::ingest {

// One thread makes, starts and stops it.
class Lane {
 public:
  // `number`: of the status. Of a writer that claims nothing.
  Lane(std::shared_ptr<const IngestParts> parts, std::size_t number, std::vector<PlannedRoot> roots,
       std::unique_ptr<storage::Writer> writer);
  // Of one root, which is claimed, if it can be. Throws StorageError where another process has it,
  // unless the options say to stand by, or where that one's is a tree of another cluster.
  Lane(std::shared_ptr<const IngestParts> parts, std::size_t number, PlannedRoot root);
  ~Lane();  // stops
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void start();       // follows its roots until stop(); throws StorageError
  void start_once();  // reads them once; does nothing while it stands by
  void stop();
  void request_stop();  // from any thread; returns at once

  // From any thread, from here on.
  bool is_over() const;  // see Pipeline::is_over()
  void wait_a_tick();
  void ask_for_verdicts(const std::vector<storage::RunId>& runs);
  bool write(std::function<void(storage::Writer&)> task);
  // Why it gave up; empty when it did not. To be read after stop().
  const std::string& fatal_error() const { return fatal_error_; }

 private:
  void begin(bool follows);
  void end();
  void follow_claim();
  void look();
  void refuse_foreign_tree();
  void stand_by();
  void await_outer();
  void tell_left_out();
  bool is_claimed() const { return claim_ == storage::ClaimOutcome::taken; }

  const std::shared_ptr<const IngestParts> parts_;
  const std::size_t number_;
  const std::vector<PlannedRoot> roots_;
  const std::unique_ptr<storage::Writer> writer_;
  const bool claims_;
  std::atomic<storage::ClaimOutcome> claim_;
  std::string fatal_error_;
  std::string trouble_;       // with the database, that was told last
  mutable std::mutex mutex_;  // guards the pointer and is_stopping_; anybody may ask the Pipeline
  std::shared_ptr<Pipeline> pipeline_;
  std::condition_variable stopped_;
  bool is_stopping_ = false;
  std::thread thread_;  // where it claims: looks whether it has what it claims
};

}  // namespace llmb::ingest
