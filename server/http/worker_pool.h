// WorkerPool: a few threads and a bounded queue for handlers that take long, so that the threads
// which serve connections stay free. Knows no request. Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace llmb::http {

class WorkerPool {
 public:
  using Task = std::function<void()>;

  enum class Priority {
    normal,
    low,  // yields the processor to the process's other threads
  };

  // At most `queued_max` tasks wait for a thread.
  WorkerPool(int threads, std::size_t queued_max, Priority priority);
  ~WorkerPool();  // stops
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False where the queue is full or the pool was stopped: then `task` is not called. A task that
  // throws is logged. Threads are made with the first task.
  bool submit(Task task);
  // Destroys the tasks that wait, and returns once those that run have ended. Idempotent.
  void stop();

  std::size_t size() const { return size_.load(std::memory_order_relaxed); }  // waiting and running

 private:
  void start_threads();
  void work();

  const int thread_count_;
  const std::size_t queued_max_;
  const Priority priority_;
  std::atomic<std::size_t> size_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;
  std::vector<std::thread> threads_;
  bool is_stopped_ = false;
};

}  // namespace llmb::http
