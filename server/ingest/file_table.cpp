#include "server/ingest/file_table.h"

namespace llmb::ingest {

FileIndex FileTable::add(RootIndex root, std::string relative_path) {
  const auto index = static_cast<FileIndex>(files_.size());
  FileState& file = files_.emplace_back();
  file.relative_path = std::move(relative_path);
  file.root = root;
  if (by_path_.size() <= root) by_path_.resize(root + std::size_t{1});
  by_path_[root].emplace(file.relative_path, index);
  return index;
}

std::optional<FileIndex> FileTable::find(RootIndex root, std::string_view relative_path) const {
  if (by_path_.size() <= root) return std::nullopt;
  const auto found = by_path_[root].find(relative_path);
  if (found == by_path_[root].end()) return std::nullopt;
  return found->second;
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

}  // namespace llmb::ingest
