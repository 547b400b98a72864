#include "server/ingest/read_job.h"

#include <utility>

namespace llmb::ingest {

FileOutcome make_outcome(FileOutcome::Kind kind, const ReadJob& job, std::string error) {
  FileOutcome outcome;
  outcome.kind = kind;
  outcome.file = job.file;
  outcome.is_configuration = job.kind == ReadJob::Kind::configure;
  outcome.is_rest = job.is_rest;
  outcome.error = std::move(error);
  outcome.memory = job.memory;
  return outcome;
}

}  // namespace llmb::ingest
