// A compressed log that ends in the middle, or is damaged: its text up to there is read, once
// nobody can be writing into the file any more.
#pragma once

#include <optional>
#include <string>

#include "server/ingest/clock.h"
#include "server/ingest/open_log.h"
#include "server/ingest/read_job.h"
#include "storage/records.h"

namespace llmb::ingest {

// `flaw`: why not all of the text can be had, as UnpackedText has it. Where the file may still be
// written: the outcome that parks it until that is over. Nothing: it is read.
std::optional<FileOutcome> parked_until_written(const ReadJob& job, const OpenLog& log,
                                                const std::string& flaw, const Clock& clock);

// Of a log whose text ends before what was read of it. With a flaw it is not what the log became:
// the outcome parks it, and what was read stays.
FileOutcome outcome_of_shorter(const ReadJob& job, const std::string& flaw);

// Whether the file is as the database has it, so that what is wrong with it was told.
bool is_as_read_before(const OpenLog& log, const std::optional<storage::LogCursor>& before);

}  // namespace llmb::ingest
