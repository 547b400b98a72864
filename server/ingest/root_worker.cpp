#include "server/ingest/root_worker.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "parser/catalog/catalog.h"
#include "server/ingest/abandoned_call.h"
#include "server/ingest/memory_shortage.h"

namespace llmb::ingest {
namespace {

constexpr std::chrono::milliseconds kStuckAfter{2'000};
constexpr std::chrono::milliseconds kBetweenLooks{20};
constexpr int kOpenFilesAtLeast = 8;
// A file server that is merely slow must not make --once leave out what it has.
constexpr int kGivenUpAfter = 6;  // times hangs_after

// What is bounded for the whole process is shared out; the file servers' budget is each root's own.
IngestOptions share_of(const IngestOptions& whole, int root_count) {
  IngestOptions share = whole;
  share.reader_threads = (std::max(1, whole.reader_threads) + root_count - 1) / root_count;
  share.open_files_max = std::max(std::min(kOpenFilesAtLeast, whole.open_files_max),
                                  whole.open_files_max / root_count);
  return share;
}

// Nothing in it needs memory.
FileOutcome postponed(const ReadJob& job) {
  FileOutcome outcome;
  outcome.kind = FileOutcome::Kind::postponed;
  outcome.file = job.file;
  outcome.is_configuration = job.kind == ReadJob::Kind::configure;
  outcome.memory = job.memory;
  return outcome;
}

}  // namespace

RootWorker::RootWorker(std::shared_ptr<SharedByRoots> shared, WatchedRoot root, bool follows)
    : shared_(std::move(shared)),
      options_(share_of(shared_->all->options, shared_->all->root_count)),
      jobs_(static_cast<std::size_t>(std::max(1, options_.open_files_max))) {
  const parser::Catalog& catalog =
      options_.catalog ? *options_.catalog : parser::embedded_catalog();
  std::vector<std::shared_ptr<const CallWatch>> watches;
  for (int i = 0; i < 1 + options_.reader_threads; ++i) {
    threads_.push_back(std::make_unique<Thread>());
    watches.push_back(threads_.back()->watch);
    if (i == 0) continue;  // discovery's
    workers_.push_back(std::make_unique<LogWorker>(
        options_.database.path,
        LogWorker::Links{catalog, *shared_->all->clock, stop_, shared_->all->status->bytes_read,
                         *threads_.back()->watch}));
  }
  RootStatus status;
  status.id = root.id;
  status.path = root.path;
  activity_ =
      std::make_shared<RootActivity>(std::move(status), std::move(watches), options_.hangs_after);
  discovery_ = std::make_unique<Discovery>(
      std::move(root), options_,
      Discovery::Links{jobs_, shared_->writes, *outcomes_, *activity_, stop_, *shared_->all->clock,
                       *threads_.front()->watch},
      follows ? shared_->all->watches : nullptr);
}

void RootWorker::restore(const KnownLogs& known) {
  discovery_->restore(known);
}

void RootWorker::start() {
  launch(*threads_.front(), [this] { discovery_->run(); });
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    launch(*threads_[i + 1], [this, i] { read(*workers_[i]); });
  }
}

// The thread owns this object, and through it all that it may touch.
void RootWorker::launch(Thread& thread, std::function<void()> work) {
  thread.thread = std::thread([self = shared_from_this(), &thread, work = std::move(work)] {
    work();
    const std::lock_guard lock(self->mutex_);
    thread.has_ended = true;
    self->ended_.notify_all();
    self->shared_->a_thread_ended.notify_all();
  });
}

void RootWorker::read(LogWorker& worker) {
  while (auto job = jobs_.pop()) {
    bool goes_on = true;
    const bool had_memory = had_memory_for([&] {
      WorkResult result = worker.work(*job);
      if (result.batch || result.configuration) {
        result.reply_to = outcomes_;
        goes_on = shared_->writes.push(std::move(result));
      } else {
        outcomes_->put(std::move(result.outcome));
      }
    });
    if (!goes_on) return;
    if (!had_memory) outcomes_->put(postponed(*job));
  }
}

void RootWorker::request_stop() {
  stop_ = true;
  outcomes_->wake();
}

bool RootWorker::is_stuck(const Thread& thread) const {
  const auto in_call_for = thread.watch->in_call_for();
  return in_call_for && *in_call_for >= std::min(kStuckAfter, options_.hangs_after);
}

void RootWorker::end() {
  jobs_.close(true);
  std::unique_lock lock(mutex_);
  const auto none_will_end = [&] {
    return std::all_of(threads_.begin(), threads_.end(), [&](const auto& thread) {
      return thread->has_ended || !thread->thread.joinable() || is_stuck(*thread);
    });
  };
  while (!ended_.wait_for(lock, kBetweenLooks, none_will_end)) {
  }
  for (auto& thread : threads_) {
    if (!thread->thread.joinable()) continue;
    if (thread->has_ended) {
      lock.unlock();
      thread->thread.join();
      lock.lock();
      continue;
    }
    // In the kernel, waiting for a file server: nothing wakes it, and joining it could take days.
    note_abandoned_thread();
    thread->thread.detach();
    spdlog::warn("the root {} does not answer; stopping without waiting for it",
                 activity_->read().path);
  }
}

bool RootWorker::is_done_or_given_up() const {
  {
    const std::lock_guard lock(mutex_);
    if (threads_.front()->has_ended) return true;
  }
  const auto since = activity_->read().hangs_since;
  return since && std::chrono::system_clock::now() - *since >= kGivenUpAfter * options_.hangs_after;
}

}  // namespace llmb::ingest
