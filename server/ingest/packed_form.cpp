#include "server/ingest/packed_form.h"

#include <string>
#include <string_view>

#include "parser/layout/run_path.h"
#include "server/unpacking/packing.h"

namespace llmb::ingest {
namespace {

// A stored time has microseconds. The size is not compared: that of the file is not stored.
bool was_read_as(const FileState& log, const FileFacts& form) {
  return log.memory.is_settled && log.memory.inode == form.inode &&
         log.memory.modified_ns_seen / 1'000 == form.modified_ns / 1'000;
}

}  // namespace

bool has_unread_form(WatchedRoot& root, const FileState& log) {
  if (root.directory == nullptr || log.memory.job_has_ended) return false;
  const std::string log_path(parser::uncompressed_name(log.relative_path));
  for (const std::string_view suffix : unpacking::kSuffixes) {  // the first is read
    root.budget.spend(1);
    const auto form = root.directory->stat_file(log_path + std::string(suffix));
    if (form) return !was_read_as(log, *form);
  }
  return false;
}

bool may_have_come_back(WatchedRoot& root, const FileState& log) {
  if (!log.is_vanished || log.memory.run == 0) return false;
  if (!log.is_packed_away) return true;
  return !log.is_parked && !log.is_queued && has_unread_form(root, log);
}

}  // namespace llmb::ingest
