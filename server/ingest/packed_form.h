// Of a log that went away: the compressed form of it that is there, and whether it says more than
// was read.
#pragma once

#include "server/ingest/file_table.h"
#include "server/ingest/watched_root.h"

namespace llmb::ingest {

// Asks the file system. While its job is not over a form counts only if it can be unpacked, for
// that has the rest.
PackedForm packed_form_of(WatchedRoot& root, const FileState& log);

// Whether discovery is to look again what is there of it: it is gone, or its form has changed, as
// one that was cut off does when it becomes whole. While it is parked or queued it is read anyway,
// and of a log whose job is known to be over a form says no more.
bool may_have_come_back(WatchedRoot& root, const FileState& log);

}  // namespace llmb::ingest
