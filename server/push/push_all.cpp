#include "server/push/push_all.h"

#include <fmt/format.h>

namespace llmb::push {

std::string logs_text(std::int64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "log" : "logs");
}

std::string lacking_text(const PushStatus& status) {
  if (status.logs_pending > 0) return logs_text(status.logs_pending);
  if (status.lacks_text) return "text of logs";
  if (status.logs_answered > 0) return "nothing but the word that all is there";
  return "an unknown number of logs (the server has not said which it has)";
}

bool push_all(PushAgent& agent, std::chrono::steady_clock::duration patience,
              const std::function<bool(const PushStatus&)>& goes_on) {
  using std::chrono::steady_clock;
  agent.start();
  std::uint64_t taken = 0;
  auto progress_at = steady_clock::now();
  while (steady_clock::now() - progress_at < patience) {
    const PushStatus status = agent.status();
    if (status.is_level) return true;
    // A token that was good is being changed; one that never was stays as it is.
    if (status.is_forbidden && status.logs_answered == 0) break;
    const std::uint64_t taken_now = status.logs_answered + status.text_blocks_taken;
    if (taken_now != taken) progress_at = steady_clock::now();
    taken = taken_now;
    if (!goes_on(status)) break;
  }
  return false;
}

}  // namespace llmb::push
