#include "runner/cuda/host_stream.h"

#include <limits>
#include <utility>

namespace llmb::runner::cuda {
namespace {

constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

}  // namespace

HostStream::HostStream(int device, HostTiming timing)
    : device_(device),
      drops_work_(timing == HostTiming::never),
      allowed_(timing == HostTiming::late ? 0 : kEverything),
      thread_([this] { run(); }) {}

HostStream::~HostStream() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    allowed_ = kEverything;
  }
  changed_.notify_all();
  thread_.join();
}

Stream HostStream::handle() {
  return reinterpret_cast<Stream>(this);
}

std::uint64_t HostStream::put(std::function<void()> work) {
  std::uint64_t ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    ticket = ++put_;
  }
  changed_.notify_all();
  return ticket;
}

std::uint64_t HostStream::last_ticket() const {
  const std::lock_guard lock(mutex_);
  return put_;
}

void HostStream::let_run(std::uint64_t ticket) {
  {
    const std::lock_guard lock(mutex_);
    if (ticket <= allowed_) return;
    allowed_ = ticket;
  }
  changed_.notify_all();
}

void HostStream::finish(std::uint64_t ticket) {
  let_run(ticket);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_ >= ticket; });
  if (error_) std::rethrow_exception(error_);
}

bool HostStream::has_run(std::uint64_t ticket) const {
  const std::lock_guard lock(mutex_);
  return ended_ >= ticket;
}

void HostStream::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] {
      return (!waiting_.empty() && ended_ < allowed_) || (is_ending_ && waiting_.empty());
    });
    if (waiting_.empty()) return;
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    if (!error_) {
      lock.unlock();
      std::exception_ptr error;
      try {
        work();
      } catch (...) {
        error = std::current_exception();
      }
      work = nullptr;  // what it holds goes before anybody who waits goes on
      lock.lock();
      error_ = error;
    }
    ++ended_;
    changed_.notify_all();
  }
}

}  // namespace llmb::runner::cuda
