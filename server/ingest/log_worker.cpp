#include "server/ingest/log_worker.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <span>

#include "parser/dialects/stated_configuration.h"
#include "parser/foundation/instant.h"
#include "parser/foundation/safe_text.h"
#include "parser/layout/llmb_config.h"
#include "parser/layout/run_path.h"
#include "parser/reader/log_reader.h"
#include "parser/reader/reading.h"
#include "parser/statistics/status_reason.h"
#include "server/ingest/file_identity.h"
#include "server/ingest/listed_result.h"
#include "server/ingest/partial_log.h"
#include "server/ingest/poll_schedule.h"
#include "server/ingest/profile_listing.h"
#include "server/ingest/same_verdict.h"

namespace llmb::ingest {
namespace {

constexpr std::size_t kConfigBytesMax = 1 << 20;
constexpr std::size_t kConfigsKept = 256;

bool was_settled(const storage::LogCursor& cursor) {
  const auto state = storage::decode_tail_state(cursor.parser_state);
  return state && state->settled_size != 0;
}

bool job_has_ended(const parser::LogFacts& facts, const parser::RunSummary& summary) {
  const bool is_finished =
      std::any_of(facts.events.begin(), facts.events.end(), [](const parser::LogEvent& event) {
        return event.kind == parser::LogEvent::Kind::finish_marker;
      });
  return is_finished || summary.status == parser::RunStatus::complete;
}

// One look at the database for the steps that tell the batch and for those of most windows.
parser::Window early_window(const parser::LogFacts& facts) {
  const parser::Window batch = parser::batch_evidence_window(facts);
  const parser::Window usual = parser::default_window(facts.dialect);
  if (batch.last_iteration < usual.first_iteration ||
      usual.last_iteration < batch.first_iteration) {
    return batch;
  }
  return {std::min(batch.first_iteration, usual.first_iteration),
          std::max(batch.last_iteration, usual.last_iteration)};
}

// What is stored of a window, and what was read of it just now.
std::vector<parser::StepSample> merged_samples(std::vector<parser::StepSample> stored,
                                               const std::vector<parser::StepSample>& later,
                                               const parser::Window& window) {
  std::vector<parser::StepSample> inside;
  std::copy_if(later.begin(), later.end(), std::back_inserter(inside),
               [&](const auto& sample) { return window.contains(sample.iteration); });
  parser::merge_samples(stored, std::move(inside));
  return stored;
}

// Before the window is reached there is no mean over it.
double mean_step_time_s(const parser::RunSummary& summary, double typical_s) {
  return summary.step_time_s ? summary.step_time_s->mean : typical_s;
}

// How the log's file stands after what was read of it; what is told of its run is not in it yet.
FileOutcome outcome_of_read(const ReadJob& job, const LogTail& tail) {
  FileOutcome outcome = make_outcome(FileOutcome::Kind::unchanged, job);
  outcome.size_bytes = tail.file().size_bytes;
  outcome.reached_end = tail.reached_end();
  LogMemory& memory = outcome.memory;
  if (tail.verdict() == LogTail::Verdict::rewritten) ++memory.generation;
  memory.offset = tail.cursor().offset;
  memory.window_is_judged = true;
  // Of what is read once more the file is known already, and a compressed form is not the log's.
  if (job.is_reread) return outcome;
  memory.inode = tail.file().inode;
  memory.modified_us_seen = tail.file().modified_us();
  memory.size_seen = tail.size_seen();
  memory.was_read_to_end |= tail.reached_end();
  return outcome;
}

}  // namespace

LogWorker::LogWorker(const std::string& database_path, Links links)
    : database_(database_path), links_(links) {}

WorkResult LogWorker::work(const ReadJob& job) {
  const WatchedCall call(links_.watch);
  WorkResult result;
  try {
    return job.kind == ReadJob::Kind::read ? read_log(job) : configure(job);
  } catch (const storage::StorageError& error) {
    result.outcome = make_outcome(FileOutcome::Kind::postponed, job, error.what());
  } catch (const std::exception& error) {
    result.outcome = make_outcome(FileOutcome::Kind::failed, job, error.what());
  }
  return result;
}

WorkResult LogWorker::read_log(const ReadJob& job) {
  WorkResult result;
  LogFile opened = open_log_file(*job.root, job.relative_path, job.is_reread || job.is_rest);
  if (opened.error != 0) {
    const auto kind =
        means_no_such_file(opened.error) ? FileOutcome::Kind::vanished : FileOutcome::Kind::failed;
    result.outcome = make_outcome(
        kind, job, fmt::format("cannot open the log: {}", std::strerror(opened.error)));
    return result;
  }
  const auto log = examine_log(std::move(opened));
  if (!log) {
    result.outcome = make_outcome(FileOutcome::Kind::failed, job, log.error().message);
    return result;
  }
  std::optional<storage::LogCursor> before;
  if (job.memory.run != 0) before = database_.cursor(job.memory.run);
  if (before) return job.is_reread ? reread(job, *log, *before) : read_from(job, *log, before);
  ReadJob anew = job;  // there is no such run, any more
  anew.memory.run = 0;
  anew.memory.is_removed = false;
  anew.memory.is_of_earlier_reading = anew.is_reread = false;
  if (log->is_packed_form) {
    result.outcome = make_outcome(FileOutcome::Kind::unchanged, anew);
    return result;
  }
  if (const auto removed = database_.removed_log(job.root_id, job.relative_path)) {
    if (auto outcome = removed_outcome(anew, *log, *removed)) {
      result.outcome = std::move(*outcome);
      return result;
    }
  }
  return read_from(anew, *log, std::nullopt);
}

WorkResult LogWorker::read_from(const ReadJob& job, const OpenLog& log,
                                const std::optional<storage::LogCursor>& before) {
  WorkResult result;
  parser::RunPath path = parser::parse_run_path(job.layout_path);
  const std::optional<JobEnd> job_end = job_end_of(database_, job.root_id, job.relative_path, path);
  if (before && !job.checks_content && !log.is_packed_form) {
    if (auto settled = unchanged_outcome(job, log, *before, job_end)) {
      result.outcome = std::move(*settled);
      return result;
    }
  }
  TailOptions options = tail_options(log);
  // A compressed form may be of another text.
  const bool is_new_form = log.is_packed_form && before && before->inode != log.facts.inode;
  options.checks_content = job.checks_content || is_new_form;
  const auto text = texts_.of(log, goes_on());
  if (!text) {
    const auto kind = links_.stop ? FileOutcome::Kind::postponed : FileOutcome::Kind::failed;
    result.outcome = make_outcome(kind, job, text.error().message);
    return result;
  }
  // Its size is not stale; but a text that is cut off says nothing of what was behind.
  options.shrink_is_believed = text->flaw.empty() && (job.shrink_is_believed || log.is_packed_form);
  const std::string flaw = is_as_read_before(log, before) ? std::string() : text->flaw;
  if (auto parked = parked_until_written(job, log, flaw, links_.clock)) {
    texts_.forget();
    result.outcome = *std::move(parked);
    return result;
  }
  auto tail = LogTail::read(text->fd, before, options);
  if (!tail || tail->verdict() == LogTail::Verdict::shorter) {
    result.outcome = tail ? outcome_of_shorter(job, text->flaw)
                          : make_outcome(FileOutcome::Kind::failed, job, tail.error().message);
    if (!text->flaw.empty()) texts_.forget();
    return result;
  }
  if (tail->reached_end()) texts_.forget();
  result = assemble(job, before, *tail, std::move(path), job_end);
  result.outcome.flaw = flaw;
  return result;
}

TailOptions LogWorker::tail_options(const OpenLog& log) const {
  TailOptions options;
  options.stop = &links_.stop;
  options.bytes_read = &links_.bytes_read;
  options.watch = &links_.watch;
  if (log.is_packed() || log.is_packed_form) options.packed_file = log.facts;
  return options;
}

std::function<bool()> LogWorker::goes_on() const {
  return [this] {
    links_.watch.begin_call();
    return !links_.stop.load();
  };
}

std::optional<FileOutcome> LogWorker::removed_outcome(ReadJob& job, const OpenLog& log,
                                                      const storage::RemovedLog& removed) {
  const auto failed = [&](const std::string& why) {
    return make_outcome(FileOutcome::Kind::failed, job, why);
  };
  struct stat status {};
  const auto text = texts_.of(log, goes_on());
  if (!text) return failed(text.error().message);
  if (auto parked = parked_until_written(job, log, text->flaw, links_.clock)) return parked;
  const auto identity = check_identity(text->fd, removed.cursor);
  if (!identity) return failed(identity.error().message);
  if (fstat(text->fd, &status) != 0) {
    return failed(fmt::format("cannot examine the log: {}", std::strerror(errno)));
  }
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  if (*identity == Identity::same && size_bytes == removed.size_bytes) {
    FileOutcome outcome = make_outcome(FileOutcome::Kind::unchanged, job);
    outcome.size_bytes = size_bytes;
    LogMemory& memory = outcome.memory;
    memory.is_removed = memory.is_settled = memory.job_has_ended = true;
    memory.inode = log.facts.inode;
    memory.size_seen = log.facts.size_bytes;
    memory.offset = size_bytes;
    memory.modified_us_seen = log.facts.modified_us();
    memory.was_read_to_end = true;
    texts_.forget();
    return outcome;
  }
  const bool is_shorter = *identity != Identity::rewritten && size_bytes < removed.size_bytes;
  if (is_shorter && (!job.shrink_is_believed || !text->flaw.empty())) {
    return outcome_of_shorter(job, text->flaw);
  }
  job.memory.generation = removed.generation + (*identity == Identity::same ? 0 : 1);
  return std::nullopt;
}

std::optional<FileOutcome> LogWorker::unchanged_outcome(const ReadJob& job, const OpenLog& log,
                                                        const storage::LogCursor& cursor,
                                                        const std::optional<JobEnd>& job_end) {
  const auto state = storage::decode_tail_state(cursor.parser_state);
  if (!state) return std::nullopt;
  const FileFacts& facts = log.facts;
  if (!looks_untouched(facts, cursor, *state)) return {};
  // How long a compressed log's text is, is not known before it is unpacked.
  const bool is_settled =
      state->settled_size != 0 && (log.is_packed() || state->settled_size == facts.size_bytes);
  if (!is_settled && facts.size_bytes != cursor.offset) return {};
  const auto record = database_.run(job.memory.run);
  if (!record) return std::nullopt;
  if (job_end && is_news(*job_end, record->summary)) return std::nullopt;
  if (!job.memory.window_is_judged) {
    if (!knows_gpu_type_of_root(record->configuration, job.gpu_type)) return std::nullopt;
    const parser::RunToJudge run = {
        .facts = record->facts,
        .configuration = record->configuration,
        .samples = {},
        .logged_batch = parser::LoggedBatch{record->logged_global_batch_size}};
    const auto assigned = parser::assign_window(links_.catalog, run, {});
    if (assigned.summary.window != record->summary.window ||
        assigned.window_source != record->window_source) {
      return std::nullopt;
    }
  }
  const double typical_s = is_settled ? 0 : typical_step_time_s(job.memory.run, {});
  const double mean_s = mean_step_time_s(record->summary, typical_s);
  const auto silence = links_.clock.steady() - job.memory.silent_since;
  const bool verdict_is_due = silence >= quiet_limit(mean_s) ||
                              (!job.memory.silence_is_judged && silence >= hung_limit(typical_s));
  if (!is_settled && verdict_is_due) return {};
  FileOutcome outcome = make_outcome(FileOutcome::Kind::unchanged, job);
  outcome.size_bytes = facts.size_bytes;
  LogMemory& memory = outcome.memory;
  memory.inode = facts.inode;
  memory.modified_us_seen = facts.modified_us();
  memory.offset = cursor.offset;
  memory.size_seen = facts.size_bytes;
  memory.is_settled = is_settled;
  memory.job_has_ended = job_has_ended(record->facts, record->summary);
  memory.step_time_s_mean = static_cast<float>(mean_s);
  memory.step_time_s_typical = static_cast<float>(typical_s);
  memory.was_read_to_end = true;
  memory.window_is_judged = true;
  return outcome;
}

WorkResult LogWorker::assemble(const ReadJob& job, const std::optional<storage::LogCursor>& before,
                               LogTail& tail, parser::RunPath path,
                               const std::optional<JobEnd>& job_end) {
  WorkResult result;
  const bool is_rewritten = tail.verdict() == LogTail::Verdict::rewritten;
  const bool is_reread = tail.verdict() == LogTail::Verdict::reread;
  const bool is_new = job.memory.run == 0 || is_rewritten || is_reread;
  const storage::RunId known_run = is_new ? 0 : job.memory.run;
  parser::RunConfiguration configuration = configuration_of(job, path);
  configuration.merge(parser::stated_configuration(tail.facts()));
  std::optional<storage::RunRecord> told;
  if (job.is_reread) told = database_.run(job.memory.run);
  if (told) keep_configuration(*told, job, configuration);
  configuration.fill_in("gpu_type", job.gpu_type, parser::ConfigSource::path);
  const SteadyTime silent_since = silent_since_when(job, tail);
  const auto quiet = links_.clock.steady() - silent_since;
  const double typical_s = typical_step_time_s(known_run, tail.samples());
  std::optional<parser::Silence> silence;
  if (tail.reached_end()) {
    if (!job.is_reread) silence = found_silence(job, silent_since, typical_s);
    if (told) silence = kept_silence(*told, silent_since, typical_s);
  }
  auto judgement = judge(tail, configuration, known_run, true, silence);
  const double mean_s = mean_step_time_s(judgement.summary, typical_s);
  // Should more come after all, the line that was not complete is read again.
  const bool is_over = tail.reached_end() && (job.is_reread || quiet >= quiet_limit(mean_s) ||
                                              job_end.has_value() || tail.is_packed());
  if (is_over) {
    tail.settle();
    judgement = judge(tail, configuration, known_run, false, silence);
    if (job_end && job_end->failure) parser::blame(*job_end->failure, judgement.summary);
  }

  FileOutcome& outcome = result.outcome;
  outcome = outcome_of_read(job, tail);
  LogMemory& memory = outcome.memory;
  memory.silent_since = silent_since;
  memory.step_time_s_mean = static_cast<float>(mean_s);
  memory.step_time_s_typical = static_cast<float>(typical_s);
  memory.job_has_ended = job_has_ended(tail.facts(), judgement.summary);
  memory.is_settled = is_over;
  memory.silence_is_judged = silence.has_value();
  if (is_new) memory.is_of_earlier_reading = false;

  const auto listed = listed_result(links_.catalog, judgement, configuration, tail.facts());
  const bool has_same_cursor = !is_new && before && *before == tail.cursor();
  if (has_same_cursor &&
      is_same_verdict(database_.run(job.memory.run), configuration, judgement, listed)) {
    return result;
  }
  storage::IngestBatch& batch =
      result.batch.emplace(make_batch(job, outcome, tail, std::move(path)));
  batch.configuration = std::move(configuration);
  batch.listed = listed;
  batch.summary = std::move(judgement.summary);
  batch.window_source = std::move(judgement.window_source);
  batch.logged_global_batch_size = judgement.logged_global_batch_size;
  batch.replaces_all_samples = is_reread;
  if (is_new) batch.reading = parser::kReading;
  batch.continues_run = job.memory.run != 0 && !is_rewritten;
  batch.is_settled = is_over;
  if (!is_new && before && was_settled(*before)) batch.drops_steps_from = before->offset;
  // A profiler writes its files when the job ends; before, one look is enough. Years later they may
  // be gone, and the steps were slowed all the same.
  if ((is_new || is_over) && !job.is_reread) {
    batch.profiles = list_profiles(*job.root, job.relative_path, batch.path.job_id);
  }
  return result;
}

parser::Judgement LogWorker::judge(LogTail& tail, const parser::RunConfiguration& configuration,
                                   storage::RunId known_run, bool may_still_grow,
                                   const std::optional<parser::Silence>& silence) {
  const parser::Window early = early_window(tail.facts());
  const auto early_samples = merged_samples(stored_steps(known_run, early), tail.samples(), early);
  std::vector<parser::StepSample> other_samples;
  const auto samples = [&](const parser::Window& window) -> std::span<const parser::StepSample> {
    if (early.contains(window.first_iteration) && early.contains(window.last_iteration)) {
      return early_samples;
    }
    other_samples = merged_samples(stored_steps(known_run, window), tail.samples(), window);
    return other_samples;
  };
  return parser::judge_run(links_.catalog,
                           {.facts = tail.facts(),
                            .configuration = configuration,
                            .samples = samples,
                            .may_still_grow = may_still_grow,
                            .silence = silence},
                           {.tokens_to_train = parser::kTokensToTrainDefault});
}

storage::IngestBatch LogWorker::make_batch(const ReadJob& job, const FileOutcome& outcome,
                                           LogTail& tail, parser::RunPath path) const {
  storage::IngestBatch batch;
  batch.root_id = job.root_id;
  batch.relative_path = job.relative_path;
  batch.generation = outcome.memory.generation;
  batch.observed_at = parser::instant_text(wall_time_of(links_.clock, outcome.memory.silent_since));
  batch.size_bytes = std::max(tail.file().size_bytes, tail.read_to());
  batch.cursor = tail.cursor();
  batch.path = std::move(path);
  batch.facts = tail.facts();
  batch.samples = std::move(tail.samples());
  return batch;
}

std::vector<parser::StepSample> LogWorker::stored_steps(storage::RunId run,
                                                        const parser::Window& window) {
  if (run == 0) return {};
  return database_.steps(run, window);
}

double LogWorker::typical_step_time_s(storage::RunId run,
                                      const std::vector<parser::StepSample>& latest) {
  constexpr auto kTypicalSteps = static_cast<std::size_t>(parser::kTypicalSteps);
  std::vector<double> times_s;
  for (auto sample = latest.rbegin(); sample != latest.rend(); ++sample) {
    if (times_s.size() == kTypicalSteps) break;
    if (sample->step_time_s) times_s.push_back(*sample->step_time_s);
  }
  if (run != 0 && times_s.size() < kTypicalSteps) {
    const auto missing = static_cast<std::int64_t>(kTypicalSteps - times_s.size());
    const auto stored = database_.latest_step_times_s(run, missing);
    times_s.insert(times_s.end(), stored.begin(), stored.end());
  }
  return parser::typical_step_time_s(std::move(times_s));
}

WorkResult LogWorker::configure(const ReadJob& job) {
  WorkResult result;
  result.outcome = make_outcome(FileOutcome::Kind::unchanged, job);
  parser::RunConfiguration now = configuration_of(job, parser::parse_run_path(job.layout_path));
  auto record = database_.run(job.memory.run);
  if (!record) {  // removed: the next look at the log finds that
    result.outcome.memory.run = 0;
    return result;
  }
  // What the log itself stated is not read anew.
  now.merge(record->configuration.from(parser::ConfigSource::log_content));
  now.fill_in("gpu_type", job.gpu_type, parser::ConfigSource::path);
  const bool is_same = now == record->configuration;
  record->configuration = now;
  result.listed = listed_result(links_.catalog, *record);
  // After a restart every configuration arrives, and most are as they were.
  if (is_same && is_same_result(record->listed, *result.listed)) return result;
  result.outcome.memory.window_is_judged = false;
  result.configuration = std::move(now);
  return result;
}

parser::RunConfiguration LogWorker::configuration_of(const ReadJob& job,
                                                     const parser::RunPath& path) {
  parser::RunConfiguration configuration = path.configuration;
  if (!job.config_path.empty()) configuration.merge(llmb_config(job));
  return configuration;
}

const parser::RunConfiguration& LogWorker::llmb_config(const ReadJob& job) {
  ConfigFile read_now;
  const std::string key = fmt::format("{}/{}", job.root_id, job.config_path);
  if (const auto facts = job.root->stat_file(job.config_path)) {
    read_now.inode = facts->inode;
    read_now.changed_ns = facts->changed_ns;
  }
  if (const auto known = configs_.find(key); known != configs_.end() &&
                                             known->second.inode == read_now.inode &&
                                             known->second.changed_ns == read_now.changed_ns) {
    return known->second.configuration;
  }
  const OpenResult opened = job.root->open_file(job.config_path);
  const auto text = opened.error == 0 ? read_at(opened.fd.get(), 0, kConfigBytesMax + 1)
                                      : parser::fail(std::strerror(opened.error));
  const auto config =
      text ? parser::parse_llmb_config(*text) : tl::unexpected<parser::Error>(text.error());
  if (config) {
    read_now.configuration = config->configuration;
  } else {
    spdlog::warn("{}: {}; its runs keep what their paths say", parser::safe_text(job.config_path),
                 parser::safe_text(config.error().message));
  }
  if (configs_.size() >= kConfigsKept) configs_.clear();
  return (configs_[key] = std::move(read_now)).configuration;
}

}  // namespace llmb::ingest
