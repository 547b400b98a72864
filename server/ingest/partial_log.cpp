#include "server/ingest/partial_log.h"

#include <fmt/format.h>

#include "parser/foundation/instant.h"
#include "server/ingest/file_identity.h"
#include "server/ingest/poll_schedule.h"
#include "storage/tail_state.h"

namespace llmb::ingest {

std::optional<FileOutcome> parked_until_written(const ReadJob& job, const OpenLog& log,
                                                const std::string& flaw, const Clock& clock) {
  if (flaw.empty()) return std::nullopt;
  const auto rest =
      may_be_written_for(parser::instant_of_unix_ns(log.facts.modified_ns), clock.wall());
  if (!rest) return std::nullopt;
  FileOutcome outcome = make_outcome(
      FileOutcome::Kind::failed, job,
      fmt::format("{}; it is read up to there once it has not changed for ten minutes", flaw));
  outcome.rest_max = *rest;
  return outcome;
}

FileOutcome outcome_of_shorter(const ReadJob& job, const std::string& flaw) {
  if (flaw.empty()) return make_outcome(FileOutcome::Kind::shorter, job);
  return make_outcome(
      FileOutcome::Kind::failed, job,
      fmt::format("{}; that is before the end of what was read earlier, which is kept", flaw));
}

bool is_as_read_before(const OpenLog& log, const std::optional<storage::LogCursor>& before) {
  if (!before) return false;
  const auto state = storage::decode_tail_state(before->parser_state);
  return state && looks_untouched(log.facts, *before, *state);
}

}  // namespace llmb::ingest
