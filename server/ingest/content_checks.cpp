#include "server/ingest/content_checks.h"

#include <algorithm>

namespace llmb::ingest {
namespace {

constexpr std::chrono::minutes kSilentFor{10};
constexpr std::chrono::milliseconds kBetweenChecks{20};
constexpr int kLooksAtOnce = 4'096;

}  // namespace

std::optional<FileIndex> ContentChecks::take_due(FileTable& files, SteadyTime now) {
  if (interval_.count() <= 0) {
    due_ = SteadyTime::max();
    return std::nullopt;
  }
  if (!has_begun_) {
    has_begun_ = true;
    due_ = round_began_ = now + interval_;
  }
  if (now < due_) return std::nullopt;
  for (int looked = 0; looked < kLooksAtOnce && next_ < files.size(); ++looked) {
    const FileIndex index = next_++;
    FileState& file = files.at(index);
    const bool may_check = !file.is_vanished && !file.is_queued && !file.is_parked &&
                           file.memory.run != 0 && file.memory.offset != 0 &&
                           now - file.memory.silent_since >= kSilentFor;
    if (!may_check) continue;
    file.wants_content_check = true;
    const double reads_for_s = static_cast<double>(file.memory.offset) / bytes_per_s_;
    due_ = now + std::max(kBetweenChecks, std::chrono::ceil<std::chrono::milliseconds>(
                                              std::chrono::duration<double>(reads_for_s)));
    return index;
  }
  due_ = now + kBetweenChecks;
  if (next_ >= files.size()) {
    next_ = 0;
    due_ = round_began_ = std::max(due_, round_began_ + interval_);
  }
  return std::nullopt;
}

}  // namespace llmb::ingest
