#include "server/ingest/rereads.h"

#include <algorithm>
#include <chrono>

namespace llmb::ingest {
namespace {

constexpr std::chrono::seconds kNextTry{1};  // twice as long each time, where it is followed
constexpr int kDoublingsMax = 6;
constexpr int kTriesMax = 10;  // where nothing is followed: --once must end

// Only what says no more of its own: a live log has its reader, and its run its truth in time.
bool has_settled(const FileState& file) {
  return !file.wants_rest() && (file.memory.is_settled || file.is_packed_away());
}

}  // namespace

void Rereads::begin() {
  for (FileIndex index = 0; index < files_.size(); ++index) {
    if (files_.at(index).memory.is_of_earlier_reading) waiting_.push_back({.file = index});
  }
  std::stable_sort(waiting_.begin(), waiting_.end(), [&](const Waiting& a, const Waiting& b) {
    return files_.at(a.file).memory.silent_since > files_.at(b.file).memory.silent_since;
  });
}

bool Rereads::has_room_for(std::uint64_t bytes) const {
  return under_way_.empty() || bytes_under_way_ + bytes <= kWholeReadBytesMax;
}

bool Rereads::is_to_be_read(FileIndex index) {
  const FileState& file = files_.at(index);
  if (!file.is_told_by_earlier_reading()) return false;
  if (file.memory.offset > kWholeReadBytesMax) {
    refuse(index, RereadRefusal::too_long);
    return false;
  }
  if (is_followed_) return true;
  if (file.is_parked) refuse(index, RereadRefusal::unreadable);
  return has_settled(file) && !file.is_parked;
}

std::optional<FileIndex> Rereads::take_next(const std::unordered_set<FileIndex>& put_off,
                                            SteadyTime now) {
  std::size_t passed = 0;
  while (under_way_.size() < at_once_max_ && passed < waiting_.size()) {
    Waiting log = waiting_.front();
    const FileState& file = files_.at(log.file);
    const bool is_busy = file.is_queued || put_off.count(log.file) > 0 || log.due > now;
    if (!is_busy && !is_to_be_read(log.file)) {
      waiting_.pop_front();
      continue;
    }
    if (is_busy || file.is_parked || !has_settled(file)) {
      waiting_.pop_front();
      waiting_.push_back(log);
      ++passed;
      continue;
    }
    log.bytes = file.memory.offset;
    if (!has_room_for(log.bytes)) return std::nullopt;
    waiting_.pop_front();
    bytes_under_way_ += log.bytes;
    under_way_.emplace(log.file, log);
    return log.file;
  }
  return std::nullopt;
}

void Rereads::take_dropped(SteadyTime now) {
  for (auto at = under_way_.begin(); at != under_way_.end();) {
    if (files_.at(at->first).is_queued) {
      ++at;
      continue;
    }
    const Waiting log = at->second;
    at = under_way_.erase(at);
    bytes_under_way_ -= log.bytes;
    put_back(log, now);
  }
}

void Rereads::take_back(const FileOutcome& outcome, SteadyTime now) {
  const auto found = under_way_.find(outcome.file);
  if (found == under_way_.end()) return;
  const Waiting log = found->second;
  under_way_.erase(found);
  bytes_under_way_ -= log.bytes;
  if (outcome.refusal != RereadRefusal::none) {
    refuse(log.file, outcome.refusal);
  } else if (outcome.kind == FileOutcome::Kind::failed ||
             (outcome.kind == FileOutcome::Kind::vanished &&
              files_.at(log.file).is_packed_away())) {
    // Or in a form that nothing here unpacks.
    refuse(log.file, RereadRefusal::unreadable);
  } else if (outcome.kind != FileOutcome::Kind::vanished &&
             files_.at(log.file).is_told_by_earlier_reading()) {
    put_back(log, now);
  }
}

void Rereads::refuse(FileIndex index, RereadRefusal why) {
  files_.set_refusal(files_.at(index), why);
  on_refused_(index);
}

void Rereads::put_back(Waiting log, SteadyTime now) {
  files_.at(log.file).wants_reread = false;
  if (!is_followed_ && log.tries >= kTriesMax) {
    refuse(log.file, RereadRefusal::unreadable);
    return;
  }
  log.due = now + kNextTry * (is_followed_ ? 1 << std::min(log.tries, kDoublingsMax) : 1);
  ++log.tries;
  waiting_.push_back(log);
}

}  // namespace llmb::ingest
