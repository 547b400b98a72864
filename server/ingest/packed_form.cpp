#include "server/ingest/packed_form.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "parser/layout/run_path.h"
#include "server/ingest/open_log.h"
#include "server/unpacking/packing.h"

namespace llmb::ingest {

PackedForm packed_form_of(WatchedRoot& root, const FileState& log) {
  if (root.directory == nullptr) return PackedForm::none;
  const LogMemory& memory = log.memory;
  const std::string log_path(parser::uncompressed_name(log.relative_path));
  const auto find = [&](const std::string& form) {
    root.budget.spend(1);
    return root.directory->stat_file(form);
  };
  if (log_path != log.relative_path && find(log_path)) return PackedForm::none;  // that is the log
  for (const std::string& form : packed_names_of(log_path)) {
    if (form == log.relative_path) continue;
    const auto facts = find(form);
    if (!facts) continue;
    const bool is_as_read =
        memory.job_has_ended || (memory.is_settled && memory.was_seen_as(*facts));
    return is_as_read ? PackedForm::as_read : PackedForm::unread;
  }
  if (!memory.is_settled && !memory.job_has_ended) return PackedForm::none;
  const auto& suffixes = parser::kCompressedSuffixes;
  const bool has_other =
      std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view suffix) {
        return !unpacking::is_unpacked_by_name(suffix) && find(log_path + std::string(suffix));
      });
  return has_other ? PackedForm::as_read : PackedForm::none;
}

bool may_have_come_back(WatchedRoot& root, const FileState& log) {
  if (!log.is_vanished || log.memory.run == 0) return false;
  if (!log.is_packed_away()) return true;
  if (log.is_parked || log.is_queued || log.memory.job_has_ended) return false;
  return packed_form_of(root, log) == PackedForm::unread;
}

}  // namespace llmb::ingest
