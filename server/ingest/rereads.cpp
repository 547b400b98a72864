#include "server/ingest/rereads.h"

#include <algorithm>

namespace llmb::ingest {
namespace {

// What is unpacked is read and stored in one piece, for its run is that of a file that is gone.
constexpr std::uint64_t kPackedAwayBytesMax = std::uint64_t{256} << 20;

bool can_be_reread(const FileState& file) {
  return file.is_told_by_earlier_reading() && !file.is_parked &&
         (!file.is_packed_away || file.memory.offset <= kPackedAwayBytesMax);
}

}  // namespace

void Rereads::begin(FileTable& files) {
  for (FileIndex index = 0; index < files.size(); ++index) {
    if (files.at(index).memory.is_of_earlier_reading) waiting_.push_back(index);
  }
  std::stable_sort(waiting_.begin(), waiting_.end(), [&](FileIndex a, FileIndex b) {
    return files.at(a).memory.silent_since > files.at(b).memory.silent_since;
  });
}

std::optional<FileIndex> Rereads::take_next(FileTable& files,
                                            const std::unordered_set<FileIndex>& put_off) {
  std::size_t passed = 0;
  while (under_way_.size() < at_once_max_ && passed < waiting_.size()) {
    const FileIndex index = waiting_.front();
    const FileState& file = files.at(index);
    waiting_.pop_front();
    if (file.is_queued || put_off.count(index) > 0) {
      waiting_.push_back(index);
      ++passed;
    } else if (can_be_reread(file)) {
      under_way_.insert(index);
      return index;
    }
  }
  return std::nullopt;
}

void Rereads::take_dropped(FileTable& files) {
  for (auto at = under_way_.begin(); at != under_way_.end();) {
    const FileIndex index = *at;
    if (files.at(index).is_queued) {
      ++at;
    } else {
      waiting_.push_back(index);
      at = under_way_.erase(at);
    }
  }
}

void Rereads::take_back(FileIndex index, bool is_put_off) {
  if (under_way_.erase(index) > 0 && is_put_off) waiting_.push_back(index);
}

}  // namespace llmb::ingest
