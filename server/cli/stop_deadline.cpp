#include "server/cli/stop_deadline.h"

#include <spdlog/spdlog.h>

#include "server/ingest/abandoned_call.h"

namespace llmb::cli {

StopDeadline::StopDeadline(std::chrono::milliseconds patience, int exit_code) {
  thread_ = std::thread([this, patience, exit_code] {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, patience, [this] { return is_over_; })) return;
    spdlog::warn(
        "stopping has taken {} ms: what waits for a file system or a program that does "
        "not answer is left behind",
        patience.count());
    ingest::note_abandoned_thread();
    ingest::exit_past_abandoned_threads(exit_code);
  });
}

StopDeadline::~StopDeadline() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace llmb::cli
