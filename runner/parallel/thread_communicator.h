// Ranks as threads of one process: the communicator that proves every parallel layout on one
// machine. Nothing is sent; members read each other's buffers while all of them wait.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "runner/parallel/communicator.h"

namespace llmb::runner {

class ThreadHub;

// What all thread ranks of one run share. Thread-safe.
class ThreadRanks {
 public:
  // `patience`: how long a call waits for other members before all ranks fail.
  explicit ThreadRanks(int size, std::chrono::milliseconds patience = std::chrono::minutes(2));
  ~ThreadRanks();

  int size() const;

  // The run as `rank` sees it; communicators made from it may outlive both.
  std::unique_ptr<World> world(int rank);

 private:
  std::shared_ptr<ThreadHub> hub_;
};

// Runs `body` once for each rank, on a thread each, and returns when all have ended. A rank that
// throws wakes the others; the first error that is not another rank's is thrown again here.
void run_thread_ranks(int size, const std::function<void(World&)>& body,
                      std::chrono::milliseconds patience = std::chrono::minutes(2));

}  // namespace llmb::runner
