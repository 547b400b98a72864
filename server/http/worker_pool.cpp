#include "server/http/worker_pool.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace llmb::http {
namespace {

// Linux keeps this value for each thread. Where the call is refused, priorities stay equal.
void lower_priority_of_this_thread() {
  constexpr int kNiceness = 10;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
}

}  // namespace

WorkerPool::WorkerPool(int threads, std::size_t queued_max, Priority priority)
    : thread_count_(std::max(1, threads)), queued_max_(queued_max), priority_(priority) {}

WorkerPool::~WorkerPool() {
  stop();
}

bool WorkerPool::submit(Task task) {
  {
    const std::lock_guard lock(mutex_);
    const std::size_t waiting_or_running = size_.load(std::memory_order_relaxed);
    const std::size_t most = queued_max_ + static_cast<std::size_t>(thread_count_);
    if (is_stopped_ || waiting_or_running >= most) return false;
    if (threads_.empty()) start_threads();
    queue_.push_back(std::move(task));
    ++size_;
  }
  changed_.notify_one();
  return true;
}

void WorkerPool::start_threads() {
  threads_.reserve(static_cast<std::size_t>(thread_count_));
  for (int i = 0; i < thread_count_; ++i) threads_.emplace_back([this] { work(); });
}

void WorkerPool::work() {
  if (priority_ == Priority::low) lower_priority_of_this_thread();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_stopped_ || !queue_.empty(); });
    if (is_stopped_) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    try {
      task();
    } catch (const std::exception& error) {
      spdlog::error("a request on a worker thread ended: {}", error.what());
    }
    task = nullptr;
    --size_;
    lock.lock();
  }
}

void WorkerPool::stop() {
  std::deque<Task> dropped;
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    dropped.swap(queue_);
    threads.swap(threads_);
  }
  changed_.notify_all();
  size_ -= dropped.size();
  dropped.clear();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace llmb::http
