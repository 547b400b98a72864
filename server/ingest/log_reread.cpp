// LogWorker: a log that has settled is read once more, by other rules. Its run is replaced as a
// whole by one batch, or stays as it is: a part of a log must not stand where all of it was told.
#include <sys/stat.h>

#include "parser/foundation/instant.h"
#include "parser/statistics/status_reason.h"
#include "server/ingest/file_identity.h"
#include "server/ingest/log_worker.h"

namespace llmb::ingest {
namespace {

WorkResult ended(FileOutcome::Kind kind, const ReadJob& job, std::string error = {}) {
  WorkResult result;
  result.outcome = make_outcome(kind, job, std::move(error));
  return result;
}

WorkResult left_as_it_is(const ReadJob& job, RereadRefusal refusal) {
  WorkResult result = ended(FileOutcome::Kind::unchanged, job);
  result.outcome.refusal = refusal;
  return result;
}

// Of the text as it was told; a compressed form may come of a log that was not settled.
std::uint64_t told_size(const storage::TailState& state, const storage::LogCursor& cursor) {
  return state.settled_size != 0 ? state.settled_size : cursor.offset;
}

bool is_file_as_settled(const OpenLog& log, const storage::TailState& state,
                        const storage::LogCursor& cursor) {
  return state.settled_size != 0 && looks_untouched(log.facts, cursor, state);
}

bool is_text_as_told(const LogTail& tail, const storage::TailState& state,
                     const storage::LogCursor& cursor) {
  if (tail.verdict() != LogTail::Verdict::reread) return false;
  if (tail.read_to() != told_size(state, cursor)) return false;
  const auto now = storage::decode_tail_state(tail.cursor().parser_state);
  return tail.cursor().offset != cursor.offset || !now || now->content_hash == state.content_hash;
}

}  // namespace

WorkResult LogWorker::reread(const ReadJob& job, const OpenLog& log,
                             const storage::LogCursor& before) {
  const auto other = [&](bool checks_content) {
    if (log.is_packed_form) {
      texts_.forget();
      return left_as_it_is(job, RereadRefusal::of_another_text);
    }
    ReadJob as_ever = job;
    as_ever.is_reread = false;
    as_ever.checks_content = checks_content;
    return read_from(as_ever, log, before);
  };
  const auto state = storage::decode_tail_state(before.parser_state);
  if (!state || !(log.is_packed_form || is_file_as_settled(log, *state, before))) {
    return other(false);
  }
  if (told_size(*state, before) > kWholeReadBytesMax) {
    return left_as_it_is(job, RereadRefusal::too_long);
  }
  const auto text = texts_.of(log, goes_on());
  if (!text) {
    return links_.stop ? ended(FileOutcome::Kind::postponed, job, text.error().message)
                       : left_as_it_is(job, RereadRefusal::unreadable);
  }
  struct stat status {};
  if (fstat(text->fd, &status) != 0) return left_as_it_is(job, RereadRefusal::unreadable);
  if (static_cast<std::uint64_t>(status.st_size) != told_size(*state, before)) return other(false);
  TailOptions options = tail_options(log);
  options.is_reread = true;
  auto tail = LogTail::read(text->fd, before, options);
  if (!tail) return left_as_it_is(job, RereadRefusal::unreadable);
  const bool is_same_log = tail->verdict() == LogTail::Verdict::reread;
  if (is_same_log && !tail->reached_end()) return ended(FileOutcome::Kind::postponed, job);
  if (!is_text_as_told(*tail, *state, before)) return other(true);
  texts_.forget();
  parser::RunPath path = parser::parse_run_path(job.layout_path);
  const auto job_end = job_end_of(database_, job.root_id, job.relative_path, path);
  return assemble(job, before, *tail, std::move(path), job_end);
}

// That a run hangs is told in time, and nothing is told to hang that nobody saw hang.
std::optional<parser::Silence> LogWorker::kept_silence(const storage::RunRecord& told,
                                                       SteadyTime silent_since,
                                                       double typical_s) const {
  const std::chrono::duration<double> quiet = links_.clock.steady() - silent_since;
  const auto told_s = told.summary.silent_s;
  if (!told_s && quiet.count() < parser::kHungLessThanS) return std::nullopt;
  parser::Silence silence = {told_s.value_or(quiet.count()), typical_s};
  silence.since =
      std::chrono::floor<parser::Instant::duration>(wall_time_of(links_.clock, silent_since));
  return silence;
}

void LogWorker::keep_configuration(const storage::RunRecord& told, const ReadJob& job,
                                   parser::RunConfiguration& configuration) {
  // Of a llmb-config that is gone, or that cannot be understood any more.
  if (configuration.from(parser::ConfigSource::llmb_config).all().empty()) {
    configuration.merge(told.configuration.from(parser::ConfigSource::llmb_config));
  }
  // Of a tree whose GPU was named when it was read first.
  if (!job.gpu_type.empty()) return;
  const auto gpu_type = told.configuration.from(parser::ConfigSource::path).value("gpu_type");
  if (gpu_type) configuration.fill_in("gpu_type", *gpu_type, parser::ConfigSource::path);
}

}  // namespace llmb::ingest
