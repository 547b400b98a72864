#include "server/report/progress_line.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace llmb::report {
namespace {

constexpr std::chrono::milliseconds kRedrawInterval{200};
constexpr int kBarWidth = 24;

}  // namespace

ProgressLine::ProgressLine(std::size_t total, const char* things) : total_(total), things_(things) {
  if (isatty(STDERR_FILENO) == 0 || total == 0) return;
  thread_ = std::thread([this] { draw_until_stopped(); });
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ProgressLine::draw_until_stopped() {
  bool was_drawn = false;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kRedrawInterval, [this] { return is_stopped_; })) {
    const std::size_t done = done_;
    const auto filled = static_cast<int>(done * kBarWidth / total_);
    std::fprintf(stderr, "\r[%.*s%*s] %zu of %zu %s", filled, "########################",
                 kBarWidth - filled, "", done, total_, things_);
    if (bytes_ > 0) std::fprintf(stderr, ", %.1f GB", static_cast<double>(bytes_) / 1e9);
    std::fputs("\033[K", stderr);
    was_drawn = true;
  }
  if (was_drawn) std::fputs("\r\033[K", stderr);
}

}  // namespace llmb::report
