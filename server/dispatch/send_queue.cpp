#include "server/dispatch/send_queue.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace llmb::dispatch {

using storage::JobRecord;

SendQueue::SendQueue(const ClusterSettings& settings, storage::JobStore& store, JobSender& sender)
    : settings_(settings), store_(store), sender_(sender) {}

SendQueue::~SendQueue() {
  stop();
}

bool SendQueue::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return is_stopping_;
}

std::size_t SendQueue::send_queued() {
  std::size_t sent = 0;
  for (const JobRecord& job : store_.queued(settings_.name)) {
    if (is_stopping()) break;
    if (has_to_ask_) {
      if (const auto answers = sender_.ask_slurm(); !answers) {
        spdlog::warn("jobs: not submitting while Slurm does not answer: {}",
                     answers.error().message);
        break;
      }
      has_to_ask_ = false;
    }
    const SentJob outcome = sender_.send(job);
    has_to_ask_ = outcome.refusal && outcome.job.state == JobState::submitting;
    ++sent;
  }
  return sent;
}

void SendQueue::start() {
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
      lock.unlock();
      try {
        send_queued();
      } catch (const std::exception& failure) {
        spdlog::warn("jobs: cannot submit what is recorded, trying again: {}", failure.what());
      }
      lock.lock();
      wake_up_.wait_for(lock, settings_.poll_interval, [&] { return is_stopping_ || is_woken_; });
      is_woken_ = false;
    }
  });
}

void SendQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_up_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SendQueue::wake() {
  {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
  }
  wake_up_.notify_all();
}

void send_all(JobSender& sender, SubmitOutcome& outcome) {
  std::optional<Refusal> unavailable;
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    if (!outcome.is_new[i]) {
      const JobRecord& known = outcome.jobs[i];  // lost, where it was not submitted
      const bool is_lost = known.state == JobState::not_submitted;
      if (is_lost && !outcome.refusal) outcome.refusal = {Refusal::Kind::refused, known.trouble};
      continue;
    }
    if (unavailable) {
      outcome.jobs[i] =
          sender.give_up(outcome.jobs[i],
                         fmt::format("not tried, for the job before it: {}", unavailable->message));
      continue;
    }
    SentJob sent = sender.send(outcome.jobs[i]);
    outcome.jobs[i] = std::move(sent.job);
    if (!sent.refusal) continue;
    if (!outcome.refusal) outcome.refusal = sent.refusal;
    if (sent.refusal->kind == Refusal::Kind::unavailable) unavailable = sent.refusal;
  }
}

}  // namespace llmb::dispatch
