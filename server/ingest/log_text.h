// The text of a log for whoever shows lines of it: the log itself, or what a compressed one holds.
#pragma once

#include <string>

#include "parser/result.h"
#include "server/ingest/open_log.h"
#include "server/ingest/root_directory.h"

namespace llmb::ingest {

// Opens the log of a run as ingest does, following no link. Where it was compressed since, its
// compressed form is unpacked: the offsets of the run are bytes of what comes back. Of one that
// ends in the middle that is the text up to there. Fails where that cannot be done; what cannot be
// opened is the OpenResult's error.
parser::Result<OpenResult> open_log_text(const RootDirectory& root,
                                         const std::string& relative_path);

// The same of a log that is open.
parser::Result<parser::FileDescriptor> text_of_log(LogFile file);

// What a file with the text of the log would be called: without its folders, and without the suffix
// of a compressed one.
std::string text_file_name(const std::string& relative_path);

}  // namespace llmb::ingest
