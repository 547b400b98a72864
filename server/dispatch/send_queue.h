// SendQueue: the daemon's one thread that gives recorded jobs to Slurm, the oldest first; and the
// same for a command line, which sends what it has recorded before it ends.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/dispatch/dispatcher.h"
#include "server/dispatch/job_sender.h"

namespace llmb::dispatch {

class SendQueue {
 public:
  // References outlive this.
  SendQueue(const ClusterSettings& settings, storage::JobStore& store, JobSender& sender);
  ~SendQueue();  // stops
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;

  void start();
  void stop();  // within one command's deadline; what is not sent yet is sent by the next process
  void wake();  // something was recorded

  // Sends what is queued. After a call whose outcome is not known, nothing more until Slurm
  // answers. How many were sent or refused. Not while started.
  std::size_t send_queued();

 private:
  bool is_stopping() const;

  const ClusterSettings& settings_;
  storage::JobStore& store_;
  JobSender& sender_;
  bool has_to_ask_ = false;  // Slurm fell silent

  mutable std::mutex mutex_;
  std::condition_variable wake_up_;
  bool is_stopping_ = false;
  bool is_woken_ = false;
  std::thread thread_;
};

// Sends the new jobs of a request one after another. Where Slurm is not available, the rest is
// recorded as not submitted.
void send_all(JobSender& sender, SubmitOutcome& outcome);

}  // namespace llmb::dispatch
