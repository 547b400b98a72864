#include "server/ingest/file_table.h"

#include <utility>

namespace llmb::ingest {

FileIndex FileTable::add(std::string relative_path) {
  const auto index = static_cast<FileIndex>(files_.size());
  FileState& file = files_.emplace_back();
  file.relative_path = std::move(relative_path);
  by_path_.emplace(file.relative_path, index);
  return index;
}

std::optional<FileIndex> FileTable::find(std::string_view relative_path) const {
  const auto found = by_path_.find(relative_path);
  if (found == by_path_.end()) return std::nullopt;
  return found->second;
}

std::optional<FileIndex> FileTable::find(storage::RunId run) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].memory.run == run) return static_cast<FileIndex>(i);
  }
  return std::nullopt;
}

void FileTable::schedule(FileIndex index, SteadyTime due) {
  if (files_[index].due == due) return;
  files_[index].due = due;
  if (due != SteadyTime::max()) due_.push({due, index});
}

std::optional<FileIndex> FileTable::take_due(SteadyTime now) {
  drop_outdated();
  if (due_.empty() || due_.top().at > now) return std::nullopt;
  const FileIndex index = due_.top().file;
  due_.pop();
  files_[index].due = SteadyTime::max();
  return index;
}

SteadyTime FileTable::next_due() {
  drop_outdated();
  return due_.empty() ? SteadyTime::max() : due_.top().at;
}

void FileTable::drop_outdated() {
  while (!due_.empty() && files_[due_.top().file].due != due_.top().at) due_.pop();
}

void FileTable::count_text(const FileState& file, int sign) {
  if (file.is_vanished && !file.is_packed_away()) sums_.vanished += sign;
  if (!file.is_told_by_earlier_reading()) return;
  sums_.of_earlier_reading += sign;
  sums_.rereads_left.of(file.refusal) += sign;
}

template <typename Change>
void FileTable::recount_text(FileState& file, Change change) {
  count_text(file, -1);
  change();
  count_text(file, 1);
}

bool FileTable::set_queued(FileState& file, bool is_queued) {
  if (file.is_queued == is_queued) return false;
  file.is_queued = is_queued;
  sums_.queued += is_queued ? 1 : -1;
  return true;
}

bool FileTable::set_parked(FileState& file, bool is_parked) {
  if (file.is_parked == is_parked) return false;
  file.is_parked = is_parked;
  sums_.parked += is_parked ? 1 : -1;
  return true;
}

bool FileTable::set_vanished(FileState& file, bool is_vanished) {
  if (file.is_vanished == is_vanished) return false;
  recount_text(file, [&] {
    file.is_vanished = is_vanished;
    file.packed_form = PackedForm::none;
  });
  return true;
}

void FileTable::set_memory(FileState& file, const LogMemory& memory) {
  recount_text(file, [&] { file.memory = memory; });
}

void FileTable::set_packed_form(FileState& file, PackedForm form) {
  recount_text(file, [&] { file.packed_form = form; });
}

void FileTable::set_refusal(FileState& file, RereadRefusal refusal) {
  recount_text(file, [&] { file.refusal = refusal; });
}

void FileTable::set_pending(FileState& file, std::uint64_t bytes) {
  sums_.pending_bytes = sums_.pending_bytes - file.pending_bytes + bytes;
  file.pending_bytes = bytes;
}

}  // namespace llmb::ingest
