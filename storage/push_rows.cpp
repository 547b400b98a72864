#include "storage/push_rows.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "parser/statistics/job_failure.h"
#include "storage/covered_log_rows.h"
#include "storage/evidence_rows.h"
#include "storage/removed_log_rows.h"
#include "storage/run_rows.h"
#include "storage/step_rows.h"

namespace llmb::storage {
namespace {

// While one store tells a log, another waits that long before it takes over.
constexpr std::chrono::seconds kTakeOverAfter{30};

// A run that was pushed, with what tells whether a telling has anything new to say of it.
struct StoredWord {
  RunId run = 0;
  std::string store_id;
  std::int64_t generation = 0;  // the store's
  std::int64_t revision = 0;
  std::uint64_t head_hash = 0;
  std::uint32_t head_length = 0;
  std::string told_at;
  std::int64_t run_generation = 0;
  std::uint64_t bytes_read = 0;
  std::string status_reason;
  bool is_vanished = false;
  std::int64_t step_count = 0;
  std::optional<double> step_time_s_mean;
  std::int64_t reading = 0;
  parser::RunStatus status = parser::RunStatus::no_data;
};

// Newest first.
std::vector<StoredWord> stored_words(Connection& connection, RootId root,
                                     const std::string& relative_path) {
  Statement& select = connection.kept(
      "SELECT p.run_id, p.store_id, p.generation, p.revision, p.head_hash, p.head_length,"
      " p.told_at, run.generation, run.bytes_read, run.status_reason, run.vanished_at IS NOT NULL,"
      " run.step_count, run.step_time_s_mean, run.reading, run.status FROM run JOIN pushed_run AS "
      "p ON "
      "p.run_id = run.id"
      " WHERE run.root_id = ? AND run.relative_path = ? ORDER BY run.generation DESC");
  select.integer(root).text(relative_path);
  std::vector<StoredWord> words;
  while (select.step()) {
    StoredWord word;
    word.run = select.read_integer();
    word.store_id = select.read_text();
    word.generation = select.read_integer();
    word.revision = select.read_integer();
    word.head_hash = select.read_bits();
    word.head_length = static_cast<std::uint32_t>(select.read_integer());
    word.told_at = select.read_text();
    word.run_generation = select.read_integer();
    word.bytes_read = select.read_bits();
    word.status_reason = select.read_text();
    word.is_vanished = select.read_boolean();
    word.step_count = select.read_integer();
    word.step_time_s_mean = select.read_optional_real();
    word.reading = select.read_integer();
    word.status = read_status(select);
    words.push_back(std::move(word));
  }
  return words;
}

// Heads of different lengths prove nothing: that of a log is longer once the log is.
bool may_be_of_one_content(std::uint64_t head_hash, std::uint32_t head_length,
                           const LogTelling& log) {
  return head_length != log.head_length || head_hash == log.head_hash;
}

// As the run's row has it.
std::optional<double> mean_of(const parser::RunSummary& summary) {
  if (!summary.step_time_s) return std::nullopt;
  return summary.step_time_s->mean;
}

// Heads of a kilobyte are alike where launchers print the same at each start. A log that its agent
// saw change after more of it had been told than it now has, and that was read to its end, was
// written anew.
bool was_written_anew(const StoredWord& word, const PushSender& sender, const LogTelling& log) {
  const bool is_shorter =
      log.run.facts.bytes_read == log.run.size_bytes && log.run.size_bytes < word.bytes_read;
  const auto changed_at = parser::parse_instant(log.run.grown_at);
  // A request takes its time, by which the sender's clock seems to be behind.
  return is_shorter && changed_at &&
         parser::instant_text(*changed_at - sender.clock_ahead - kTakeOverAfter) > word.told_at;
}

// The sender saw the log for the first time when the word had been told already. A store that was
// begun anew counts generations from 0 again.
bool was_seen_later(const StoredWord& word, const PushSender& sender, const LogTelling& log) {
  const auto seen_at = parser::parse_instant(log.run.first_seen_at);
  return seen_at && parser::instant_text(*seen_at - sender.clock_ahead) > word.told_at;
}

// What its agent may know of the log by now beside its bytes: that it is gone, how its job ended,
// what its llmb-config says.
bool knows_more_than_bytes(Connection& connection, const StoredWord& word, const LogTelling& log) {
  if (log.run.vanished_at && !word.is_vanished) return true;
  if (parser::has_ended_early(word.status) && parser::is_blamed(log.run.summary)) return true;
  const auto said = log.run.configuration.from(parser::ConfigSource::llmb_config);
  return !said.all().empty() &&
         said != read_configuration(connection, word.run).from(parser::ConfigSource::llmb_config);
}

// Of the same bytes an earlier reading has nothing to add to a later one's word, once that is the
// last one.
bool is_of_earlier_reading(Connection& connection, const StoredWord& word, const LogTelling& log) {
  return word.bytes_read == log.run.facts.bytes_read && log.run.reading < word.reading &&
         word.status != parser::RunStatus::running && !knows_more_than_bytes(connection, word, log);
}

bool says_the_same(Connection& connection, const StoredWord& word, const LogTelling& log) {
  return log.run.reading <= word.reading && word.bytes_read == log.run.facts.bytes_read &&
         word.step_count == log.run.step_count && word.status == log.run.summary.status &&
         word.status_reason == log.run.summary.status_reason &&
         word.step_time_s_mean == mean_of(log.run.summary) &&
         word.is_vanished == log.run.vanished_at.has_value() &&
         read_configuration(connection, word.run) == log.run.configuration &&
         read_profiles(connection, word.run) == log.run.profiles;
}

PushDecision answer_of(PushVerdict verdict, const StoredWord& word) {
  return {verdict, word.revision, word.step_count, word.run, word.run_generation, false, 0};
}

constexpr PushDecision kNothingHeld{PushVerdict::conflict, 0, 0, 0, 0, false, 0};
// There is no run to it, and its agent need not send it.
constexpr PushDecision kRemoved{PushVerdict::covered, 0, 0, 0, 0, false, 0};

// What the telling adds is all that came behind the steps before it, in the same revision.
bool is_last_word(Connection& connection, const StoredWord& own, const LogTelling& log) {
  if (own.revision != log.run.revision) return false;
  const std::int64_t steps_before = count_steps_before(connection, own.run, log.from);
  return own.step_count == steps_before + static_cast<std::int64_t>(log.steps.size());
}

PushDecision decide_on_own(Connection& connection, const StoredWord& own, const LogTelling& log) {
  if (own.revision == log.known_revision && own.step_count == log.known_step_count) {
    return answer_of(PushVerdict::taken, own);
  }
  const bool is_repeated = is_last_word(connection, own, log);
  return answer_of(is_repeated ? PushVerdict::known : PushVerdict::conflict, own);
}

// False of an agent that has said its last word.
bool is_agent(Connection& connection, const std::string& store_id) {
  Statement& find = connection.kept("SELECT 1 FROM push_agent WHERE store_id = ?");
  const bool is_there = find.text(store_id).step();
  find.reset();
  return is_there;
}

// Nothing: the log is another by now, and is not taken for the one that was told.
std::optional<PushDecision> decide_on_other(Connection& connection, const StoredWord& word,
                                            const PushSender& sender, const LogTelling& log) {
  const bool is_new = was_written_anew(word, sender, log);
  const bool has_less = !is_new && (log.run.facts.bytes_read < word.bytes_read ||
                                    is_of_earlier_reading(connection, word, log));
  if (has_less || says_the_same(connection, word, log)) {
    PushDecision covered = answer_of(PushVerdict::covered, word);
    covered.revision = log.run.revision;
    covered.step_count = log.run.step_count;
    return covered;
  }
  const bool is_fresh = word.told_at > parser::instant_text(sender.now - kTakeOverAfter) &&
                        word.told_at <= parser::instant_text(sender.now) &&
                        is_agent(connection, word.store_id);
  if (is_fresh) {
    return PushDecision{PushVerdict::deferred, 0, 0, word.run, word.run_generation, false, 0};
  }
  if (!log.is_whole() || log.known_revision != 0) return kNothingHeld;
  if (is_new) return std::nullopt;
  return answer_of(PushVerdict::taken, word);
}

bool adds_bytes(const RemovedLog& removed, const LogTelling& log) {
  return log.run.facts.bytes_read > removed.bytes_read;
}

// What the sender itself had told of the log before that was removed. Nothing: not so, or the log
// has grown, or was rewritten, and is new; `grown` is then the row that goes with that.
std::optional<PushDecision> decide_on_own_removed(Connection& connection,
                                                  std::span<const RemovedLog> all,
                                                  const PushSender& sender, const LogTelling& log,
                                                  RunId& grown) {
  bool is_older = false;
  for (const RemovedLog& removed : all) {
    if (removed.store_id != sender.store_id) continue;
    is_older |= log.run.generation < removed.store_generation;
    if (log.run.generation != removed.store_generation) continue;
    if (adds_bytes(removed, log)) {
      grown = removed.id;
      return std::nullopt;
    }
    PushDecision decision = kRemoved;
    decision.revision = log.run.revision;
    decision.step_count = log.run.step_count;
    if (decision.revision != removed.store_revision ||
        decision.step_count != removed.store_step_count) {
      update_removed_word(connection, removed.id, decision.revision, decision.step_count);
    }
    return decision;
  }
  return is_older ? std::optional(kRemoved) : std::nullopt;
}

bool is_removed_of_other(std::span<const RemovedLog> all, const PushSender& sender,
                         const LogTelling& log) {
  return std::any_of(all.begin(), all.end(), [&](const RemovedLog& removed) {
    return removed.store_id != sender.store_id && !adds_bytes(removed, log) &&
           may_be_of_one_content(removed.cursor.head_hash, removed.cursor.head_length, log);
  });
}

bool is_taken(std::span<const StoredWord> words, std::int64_t generation) {
  return std::any_of(words.begin(), words.end(),
                     [&](const StoredWord& word) { return word.run_generation == generation; });
}

// The store's own number, so that older ones find their place; but above all where another log has
// it, or one that is older would stand above it: of the same store, or what another store told last
// before this one was seen at all.
std::int64_t place_on_top(std::span<const StoredWord> words, const PushSender& sender,
                          const LogTelling& log) {
  const std::int64_t own = log.run.generation;
  const auto others = std::find_if(words.begin(), words.end(), [&](const StoredWord& word) {
    return word.store_id != sender.store_id;
  });
  const bool is_seen_later =
      others != words.end() && others->run_generation > own && was_seen_later(*others, sender, log);
  const bool has_older_above = std::any_of(words.begin(), words.end(), [&](const StoredWord& word) {
    return word.store_id == sender.store_id && word.generation < log.run.generation &&
           word.run_generation > own;
  });
  const bool is_newest = is_taken(words, own) || is_seen_later || has_older_above;
  return is_newest ? words.front().run_generation + 1 : own;
}

// Where a generation of which nothing is held is to stand: `place`, but below all younger ones of
// the same store, which may have been told before it. Nothing: there is no room.
std::optional<std::int64_t> below_younger(std::span<const StoredWord> words,
                                          const PushSender& sender, const LogTelling& log,
                                          std::int64_t place) {
  bool has_younger = false;
  for (const StoredWord& word : words) {
    if (word.store_id != sender.store_id || word.generation < log.run.generation) continue;
    has_younger = true;
    place = std::min(place, word.run_generation - 1);
  }
  while (has_younger && place >= 0 && is_taken(words, place)) --place;
  return place >= 0 ? std::optional(place) : std::nullopt;
}

// `grown`: a row of removed_log, or 0.
PushDecision take_as_new(std::span<const StoredWord> words, const PushSender& sender,
                         const LogTelling& log, std::int64_t place, RunId grown) {
  const auto generation = below_younger(words, sender, log, place);
  if (generation) return {PushVerdict::taken, 0, 0, 0, *generation, words.empty(), grown};
  PushDecision left_out = kRemoved;
  left_out.revision = log.run.revision;
  left_out.step_count = log.run.step_count;
  return left_out;
}

}  // namespace

RootId pushed_root(Connection& connection, const std::string& cluster, const std::string& path) {
  connection
      .kept(
          "INSERT INTO root (path, cluster, pushed_from) VALUES (?1, ?2, ?2)"
          " ON CONFLICT (pushed_from, path) DO NOTHING")
      .text(path)
      .text(cluster)
      .run();
  Statement& find = connection.kept("SELECT id FROM root WHERE pushed_from = ? AND path = ?");
  find.text(cluster).text(path);
  const RootId id = find.step() ? find.read_integer() : 0;
  find.reset();
  return id;
}

PushDecision decide_on(Connection& connection, RootId root, const PushSender& sender,
                       const LogTelling& log) {
  const auto words = stored_words(connection, root, log.run.relative_path);
  for (const StoredWord& word : words) {
    const bool is_own = word.store_id == sender.store_id && word.generation == log.run.generation;
    if (is_own) return decide_on_own(connection, word, log);
  }
  const auto removed = find_removed_pushed_logs(connection, root, log.run.relative_path);
  RunId grown = 0;
  if (const auto answer = decide_on_own_removed(connection, removed, sender, log, grown)) {
    return *answer;
  }
  for (const StoredWord& word : words) {
    if (word.store_id == sender.store_id ||
        !may_be_of_one_content(word.head_hash, word.head_length, log)) {
      continue;
    }
    if (const auto answer = decide_on_other(connection, word, sender, log)) return *answer;
    return take_as_new(words, sender, log, words.front().run_generation + 1, grown);
  }
  if (is_removed_of_other(removed, sender, log)) return kRemoved;
  if (!log.is_whole() || log.known_revision != 0) return kNothingHeld;
  return take_as_new(words, sender, log, place_on_top(words, sender, log), grown);
}

PushDecision decide_on_new(const LogTelling& log) {
  if (!log.is_whole() || log.known_revision != 0) return kNothingHeld;
  return {PushVerdict::taken, 0, 0, 0, log.run.generation, true, 0};
}

IngestBatch take_batch_of(LogTelling& log, RootId root, std::int64_t generation) {
  RunRecord& run = log.run;
  IngestBatch batch;
  batch.root_id = root;
  batch.relative_path = run.relative_path;
  batch.generation = generation;
  batch.observed_at = run.grown_at;
  batch.size_bytes = run.size_bytes;
  batch.path = run.path;
  batch.configuration = std::move(run.configuration);
  batch.facts = std::move(run.facts);
  batch.summary = std::move(run.summary);
  batch.window_source = run.window_source;
  batch.logged_global_batch_size = run.logged_global_batch_size;
  batch.listed = std::move(run.listed);
  batch.samples = std::move(log.steps);
  batch.packed_samples = std::move(log.packed_steps);
  batch.reading = run.reading;
  batch.profiles = std::move(run.profiles);
  batch.replaces_all_samples = log.is_whole();
  batch.is_settled = log.is_settled_now();
  return batch;
}

void write_pushed_run(Connection& connection, RunId run, const PushSender& sender,
                      const LogTelling& log) {
  static const std::string sql = put_row_sql(
      "pushed_run", 1, "run_id, store_id, generation, revision, head_hash, head_length, told_at");
  connection.kept(sql)
      .integer(run)
      .text(sender.store_id)
      .integer(log.run.generation)
      .integer(log.run.revision)
      .bits(log.head_hash)
      .integer(std::int64_t{log.head_length})
      .text(parser::instant_text(sender.now))
      .run();
}

void write_pushed_times(Connection& connection, RunId run, const RunRecord& told) {
  connection.kept("UPDATE run SET first_seen_at = ?, grown_at = ?, vanished_at = ? WHERE id = ?")
      .text(told.first_seen_at)
      .text(told.grown_at)
      .text(told.vanished_at)
      .integer(run)
      .run();
}

void write_push_agent(Connection& connection, const PushAgentRecord& agent) {
  static const std::string sql =
      put_row_sql("push_agent", 1,
                  "store_id, cluster, name, version, last_seen_at, logs_pending, pending_since");
  connection.kept(sql)
      .text(agent.store_id)
      .text(agent.cluster)
      .text(agent.name)
      .text(agent.version)
      .text(agent.last_seen_at)
      .integer(agent.logs_pending)
      .text(agent.pending_since)
      .run();
}

void erase_push_agent(Connection& connection, const std::string& store_id) {
  connection.kept("DELETE FROM push_agent WHERE store_id = ?").text(store_id).run();
  erase_covered_logs_of(connection, store_id);
}

std::vector<PushAgentRecord> read_push_agents(Connection& connection,
                                              const std::string& seen_since) {
  Statement& select = connection.kept(
      "SELECT store_id, cluster, name, version, last_seen_at, logs_pending, pending_since"
      " FROM push_agent WHERE logs_pending > 0 OR last_seen_at >= ?"
      " ORDER BY cluster, name, store_id");
  select.text(seen_since);
  std::vector<PushAgentRecord> agents;
  while (select.step()) {
    PushAgentRecord agent;
    agent.store_id = select.read_text();
    agent.cluster = select.read_text();
    agent.name = select.read_text();
    agent.version = select.read_text();
    agent.last_seen_at = select.read_text();
    agent.logs_pending = select.read_integer();
    agent.pending_since = select.read_optional_text();
    agents.push_back(std::move(agent));
  }
  return agents;
}

std::vector<HeldLog> read_held_logs(Connection& connection, const std::string& store_id,
                                    const std::string& cluster, RunId after, std::int64_t limit) {
  Statement& select = connection.kept(
      "SELECT run.id AS id, root.path, run.relative_path, p.generation, p.revision,"
      " run.step_count,"
      " (SELECT t.first_byte + t.byte_count FROM log_text AS t WHERE t.run_id = run.id"
      "  ORDER BY t.first_byte DESC LIMIT 1)"
      " FROM pushed_run AS p JOIN run ON run.id = p.run_id JOIN root ON root.id = run.root_id"
      " WHERE p.store_id = ?1 AND root.pushed_from = ?2 AND p.run_id > ?3"
      " UNION ALL SELECT run.id, root.path, run.relative_path, w.generation, w.revision,"
      " w.step_count,"
      " (SELECT t.first_byte + t.byte_count FROM log_text AS t WHERE t.run_id = run.id"
      "  ORDER BY t.first_byte DESC LIMIT 1)"
      " FROM covered_log AS w JOIN run ON run.id = w.run_id JOIN root ON root.id = run.root_id"
      " WHERE w.store_id = ?1 AND root.pushed_from = ?2 AND w.run_id > ?3"
      " UNION ALL SELECT r.id, root.path, r.relative_path, r.store_generation, r.store_revision,"
      " r.store_step_count, r.bytes_read FROM removed_log AS r JOIN root ON root.id = r.root_id"
      " WHERE r.store_id = ?1 AND root.pushed_from = ?2 AND r.id > ?3 ORDER BY id LIMIT ?4");
  select.text(store_id).text(cluster).integer(after).integer(limit);
  std::vector<HeldLog> logs;
  while (select.step()) {
    HeldLog log;
    log.run = select.read_integer();
    log.root_path = select.read_text();
    log.relative_path = select.read_text();
    log.generation = select.read_integer();
    log.revision = select.read_integer();
    log.step_count = select.read_integer();
    log.text_bytes = select.read_bits();
    logs.push_back(std::move(log));
  }
  return logs;
}

void mark_steps_changed(Connection& connection, RunId run, StepKey from) {
  for (const char* sql :
       {"UPDATE push_state SET from_segment = ?1, from_iteration = ?2,"
        " is_pending = 1 WHERE run_id = ?3 AND (from_segment, from_iteration) > (?1, ?2)",
        "UPDATE push_state SET next_segment = ?1, next_iteration = ?2"
        " WHERE run_id = ?3 AND (next_segment, next_iteration) > (?1, ?2)"}) {
    connection.kept(sql).integer(from.segment).integer(from.iteration).integer(run).run();
  }
}

}  // namespace llmb::storage
