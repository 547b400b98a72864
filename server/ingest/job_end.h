// What is stored of a log's job, in the words of a verdict: that it is over, and what ended it. The
// scheduler knows it at once, and the log often never says it.
#pragma once

#include <optional>
#include <string>

#include "parser/layout/run_path.h"
#include "parser/statistics/job_failure.h"
#include "storage/database.h"

namespace llmb::ingest {

struct JobEnd {
  // Of a job that failed, in its last start.
  std::optional<parser::JobFailure> failure;
};

// Nothing where no job of ours wrote the log, its start goes on, or nobody can tell whose it is.
// `path`: what the log's path says.
std::optional<JobEnd> job_end_of(storage::Reader& database, storage::RootId root,
                                 const std::string& relative_path, const parser::RunPath& path);

// Whether the summary of before does not know of the end yet.
bool is_news(const JobEnd& end, const parser::RunSummary& summary);

}  // namespace llmb::ingest
