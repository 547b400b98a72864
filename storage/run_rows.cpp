#include "storage/run_rows.h"

#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <string_view>

#include "parser/foundation/text.h"
#include "storage/listed_marks.h"
#include "storage/new_run_counts.h"

namespace llmb::storage {
namespace {

using parser::RunSummary;
using parser::WindowStatistics;

// The groups of run's columns that are written together, each with one function that binds it and
// one that reads it, in this order.
constexpr std::array kPathColumns = {"experiment", "launched_at", "launch_id",
                                     "account",    "job_id",      "retry"};
constexpr std::array kFactColumns = {"dialect",
                                     "log_declared_last_iteration",
                                     "reported_tflops_per_gpu",
                                     "reported_tflops_per_gpu_is_nan",
                                     "nccl_trace_seen",
                                     "nccl_lines_torn",
                                     "nccl_other_calls",
                                     "nccl_other_bytes",
                                     "rank_values_left_out",
                                     "checkpoint_count",
                                     "bytes_read",
                                     "lines_too_long",
                                     "lines_not_understood"};
constexpr std::array kSummaryColumns = {"status",
                                        "status_reason",
                                        "failure_cause",
                                        "silent_s",
                                        "window_first_iteration",
                                        "window_last_iteration",
                                        "window_source",
                                        "logged_global_batch_size",
                                        "segment",
                                        "segment_count",
                                        "window_is_whole",
                                        "iterations_missing_in_window",
                                        "window_interruptions",
                                        "printed_tokens_per_s_per_gpu",
                                        "energy_j_per_gpu_mean",
                                        "is_function_check",
                                        "last_iteration",
                                        "declared_last_iteration",
                                        "step_time_s_count",
                                        "step_time_s_mean",
                                        "step_time_s_stddev_population",
                                        "step_time_s_stddev_sample",
                                        "step_time_s_median",
                                        "step_time_s_min",
                                        "step_time_s_max",
                                        "step_time_s_p95",
                                        "tflops_per_gpu_count",
                                        "tflops_per_gpu_mean",
                                        "tflops_per_gpu_stddev_population",
                                        "tflops_per_gpu_stddev_sample",
                                        "tflops_per_gpu_median",
                                        "tflops_per_gpu_min",
                                        "tflops_per_gpu_max",
                                        "tflops_per_gpu_p95"};

constexpr std::array kIdentityColumns = {"workload", "model_size", "dtype", "gpu_type",
                                         "gpu_count"};
constexpr std::array kListedColumns = {"tokens_per_s_per_gpu", "mfu", "speed_against_reference",
                                       "marks", "listed_by_catalog"};

// {"a", "b"} with " = ?" and ", " gives "a = ?, b = ?".
std::string join(std::span<const char* const> names, std::string_view suffix) {
  std::string joined;
  for (const char* name : names) {
    if (!joined.empty()) joined += ", ";
    joined += name;
    joined += suffix;
  }
  return joined;
}

std::string placeholders(std::size_t count) {
  std::string marks;
  for (std::size_t i = 0; i < count; ++i) marks += i == 0 ? "?" : ", ?";
  return marks;
}

void bind_path(Statement& statement, const parser::RunPath& path) {
  statement.text(path.experiment).text(path.launched_at).text(path.launch_id);
  statement.text(path.account).integer(path.job_id).integer(path.retry);
}

void read_path(Statement& row, parser::RunPath& path) {
  path.experiment = row.read_text();
  path.launched_at = row.read_optional_text();
  path.launch_id = row.read_optional_text();
  path.account = row.read_optional_text();
  path.job_id = row.read_optional_integer();
  path.retry = row.read_optional_integer();
}

void bind_facts(Statement& statement, const parser::LogFacts& facts) {
  const std::optional<double>& reported = facts.reported_tflops_per_gpu;
  statement.text(parser::dialect_name(facts.dialect)).integer(facts.declared_last_iteration);
  statement.real(reported).boolean(reported && *reported != *reported);
  statement.boolean(facts.nccl_trace_seen).integer(facts.nccl.torn_lines);
  statement.integer(facts.nccl.other_calls).integer(facts.nccl.other_bytes);
  statement.integer(facts.ranks.values_left_out);
  statement.integer(facts.checkpoint_count).bits(facts.bytes_read);
  statement.integer(facts.lines_too_long).integer(facts.lines_not_understood);
}

void read_facts(Statement& row, parser::LogFacts& facts) {
  facts.dialect = parser::dialect_from_name(row.read_text()).value_or(parser::Dialect::unknown);
  facts.declared_last_iteration = row.read_optional_integer();
  facts.reported_tflops_per_gpu = row.read_optional_real();
  if (row.read_boolean()) {
    facts.reported_tflops_per_gpu = std::numeric_limits<double>::quiet_NaN();
  }
  facts.nccl_trace_seen = row.read_boolean();
  facts.nccl.torn_lines = row.read_integer();
  facts.nccl.other_calls = row.read_integer();
  facts.nccl.other_bytes = row.read_integer();
  facts.ranks.values_left_out = row.read_integer();
  facts.checkpoint_count = row.read_integer();
  facts.bytes_read = row.read_bits();
  facts.lines_too_long = row.read_integer();
  facts.lines_not_understood = row.read_integer();
}

void bind_statistics(Statement& statement, const std::optional<WindowStatistics>& statistics) {
  if (!statistics) {
    for (int i = 0; i < 8; ++i) statement.null();
    return;
  }
  statement.integer(statistics->count).real(statistics->mean);
  if (statistics->has_deviation()) {
    statement.real(statistics->stddev_population).real(statistics->stddev_sample);
  } else {
    statement.null().null();
  }
  statement.real(statistics->median).real(statistics->min).real(statistics->max);
  statement.real(statistics->p95);
}

std::optional<WindowStatistics> read_statistics(Statement& row) {
  const bool is_absent = row.next_is_null();
  WindowStatistics statistics;
  statistics.count = row.read_integer();
  // Statistics are over finite values; a NULL beside a count can only have been a NaN.
  for (double* value : {&statistics.mean, &statistics.stddev_population, &statistics.stddev_sample,
                        &statistics.median, &statistics.min, &statistics.max, &statistics.p95}) {
    *value = row.read_optional_real().value_or(std::numeric_limits<double>::quiet_NaN());
  }
  if (!statistics.has_deviation()) statistics.stddev_population = statistics.stddev_sample = 0;
  return is_absent ? std::nullopt : std::optional(statistics);
}

void bind_verdict(Statement& statement, const IngestBatch& batch) {
  const RunSummary& summary = batch.summary;
  statement.text(parser::run_status_name(summary.status)).text(summary.status_reason);
  statement.text(summary.failure_cause).real(summary.silent_s);
  statement.integer(summary.window.first_iteration).integer(summary.window.last_iteration);
  statement.text(batch.window_source).integer(batch.logged_global_batch_size);
  statement.integer(std::int64_t{summary.segment}).integer(std::int64_t{summary.segment_count});
  statement.boolean(summary.window_is_whole).integer(summary.iterations_missing_in_window);
  statement.text(summary.window_interruptions).real(summary.printed_tokens_per_s_per_gpu);
  statement.real(summary.energy_j_per_gpu_mean).boolean(summary.is_function_check);
  statement.integer(summary.last_iteration).integer(summary.declared_last_iteration);
  bind_statistics(statement, summary.step_time_s);
  bind_statistics(statement, summary.tflops_per_gpu);
}

void read_verdict(Statement& row, RunRecord& run) {
  RunSummary& summary = run.summary;
  summary.status = read_status(row);
  summary.status_reason = row.read_text();
  summary.failure_cause = row.read_text();
  summary.silent_s = row.read_optional_real();
  summary.window.first_iteration = row.read_integer();
  summary.window.last_iteration = row.read_integer();
  run.window_source = row.read_text();
  run.logged_global_batch_size = row.read_optional_integer();
  summary.segment = static_cast<std::int32_t>(row.read_integer());
  summary.segment_count = static_cast<std::int32_t>(row.read_integer());
  summary.window_is_whole = row.read_boolean();
  summary.iterations_missing_in_window = row.read_integer();
  summary.window_interruptions = row.read_text();
  summary.printed_tokens_per_s_per_gpu = row.read_optional_real();
  summary.energy_j_per_gpu_mean = row.read_optional_real();
  summary.is_function_check = row.read_boolean();
  summary.last_iteration = row.read_optional_integer();
  summary.declared_last_iteration = row.read_optional_integer();
  summary.step_time_s = read_statistics(row);
  summary.tflops_per_gpu = read_statistics(row);
}

void bind_listed(Statement& statement, const ListedResult& listed) {
  statement.real(listed.tokens_per_s_per_gpu).real(listed.mfu);
  const std::int64_t all_steps = listed.has_run_all_steps ? kAllStepsRunBit : 0;
  statement.real(listed.speed_against_reference).integer(bits_of_marks(listed.marks) | all_steps);
  if (listed.catalog_hash) {
    statement.bits(*listed.catalog_hash);
  } else {
    statement.null();
  }
}

parser::RunIdentity read_identity(Statement& row) {
  parser::RunIdentity identity;
  identity.workload = row.read_optional_text().value_or("");
  identity.model_size = row.read_optional_text().value_or("");
  identity.dtype = row.read_optional_text().value_or("");
  identity.gpu_type = row.read_optional_text().value_or("");
  identity.gpu_count = row.read_optional_integer();
  return identity;
}

void read_listed(Statement& row, RunRecord& run) {
  ListedResult& listed = run.listed;
  listed.tokens_per_s_per_gpu = row.read_optional_real();
  listed.mfu = row.read_optional_real();
  listed.speed_against_reference = row.read_optional_real();
  const std::int64_t bits = row.read_integer();
  listed.marks = marks_of_bits(bits);
  listed.has_run_all_steps = (bits & kAllStepsRunBit) != 0;
  if (const auto hash = row.read_optional_integer()) {
    listed.catalog_hash = static_cast<std::uint64_t>(*hash);
  }
  run.is_profiled = listed.marks.contains(parser::RunMark::profiled);
}

}  // namespace

std::optional<StoredRun> find_run(Connection& connection, const IngestBatch& batch) {
  Statement& find = connection.kept(
      "SELECT id, size_bytes, bytes_read, step_count FROM run"
      " WHERE root_id = ? AND relative_path = ? AND generation = ?");
  find.integer(batch.root_id).text(batch.relative_path).integer(batch.generation);
  if (!find.step()) return std::nullopt;
  StoredRun stored;
  stored.id = find.read_integer();
  stored.size_bytes = find.read_bits();
  stored.bytes_read = find.read_bits();
  stored.step_count = find.read_integer();
  find.reset();
  return stored;
}

namespace {

// Older generations count no more. True: there is a newer one, and this one does not count either.
bool has_newer_generation(Connection& connection, const IngestBatch& batch) {
  Statement& newer = connection.kept(
      "SELECT EXISTS (SELECT 1 FROM run WHERE root_id = ? AND relative_path = ?"
      " AND generation > ?)");
  newer.integer(batch.root_id).text(batch.relative_path).integer(batch.generation);
  const bool is_superseded = newer.step() && newer.read_boolean();
  newer.reset();
  return is_superseded;
}

bool asks_for_profile(const parser::RunConfiguration& configuration) {
  const auto enabled = configuration.all().find("profile_enabled");
  return enabled != configuration.all().end() &&
         parser::equal_but_for_case(enabled->second.front().value, "true");
}

// As mark_profiled() finds it in what is stored.
bool is_profiled(const IngestBatch& batch) {
  const bool has_profiles = batch.profiles && !batch.profiles->empty();
  return has_profiles || asks_for_profile(batch.configuration);
}

std::string insert_run_sql() {
  constexpr std::size_t kFirst = 11;  // named here
  return "INSERT INTO run (id, root_id, relative_path, generation, is_superseded, first_seen_at,"
         " grown_at, vanished_at, size_bytes, step_count, reading, " +
         join(kPathColumns, "") + ", " + join(kFactColumns, "") + ", " + join(kSummaryColumns, "") +
         ", " + join(kListedColumns, "") + ", " + join(kIdentityColumns, "") +
         ", release, cluster) VALUES (" +
         placeholders(kFirst + kPathColumns.size() + kFactColumns.size() + kSummaryColumns.size() +
                      kListedColumns.size()) +
         ", ?, ?, ?, ?, ?, ?,"
         " coalesce((SELECT nullif(cluster, '') FROM root WHERE id = ?2), ?))";
}

}  // namespace

std::vector<RunId> supersede_older(Connection& connection, const IngestBatch& batch) {
  Statement& update = connection.kept(
      "UPDATE run SET is_superseded = 1, revision = revision + 1"
      " WHERE root_id = ? AND relative_path = ? AND generation < ? AND is_superseded = 0"
      " RETURNING id");
  update.integer(batch.root_id).text(batch.relative_path).integer(batch.generation);
  std::vector<RunId> superseded;
  while (update.step()) superseded.push_back(update.read_integer());
  return superseded;
}

RunId RunIds::take() {
  if (!next_) {
    // A run that was removed leaves its id to no other: ETags and links name it by that.
    next_ = connection_
                .kept(
                    "SELECT coalesce(max(taken.id), 0) + 1 FROM (SELECT max(id) AS id FROM run"
                    " UNION ALL SELECT last_run_id FROM removal_total) AS taken")
                .run_for_id();
  }
  return (*next_)++;
}

void insert_run(Connection& connection, RunId run, const IngestBatch& batch, const RunTimes& times,
                bool is_only_generation) {
  const bool is_superseded = !is_only_generation && has_newer_generation(connection, batch);
  static const std::string sql = insert_run_sql();
  Statement& insert = connection.kept(sql);
  insert.integer(run).integer(batch.root_id).text(batch.relative_path);
  insert.integer(batch.generation).boolean(is_superseded).text(times.first_seen_at);
  insert.text(times.grown_at).text(times.vanished_at).bits(batch.size_bytes);
  insert.integer(static_cast<std::int64_t>(batch.samples.size()));
  insert.integer(batch.reading.value_or(0));
  bind_path(insert, batch.path);
  bind_facts(insert, batch.facts);
  bind_verdict(insert, batch);
  ListedResult listed = batch.listed;
  if (is_profiled(batch)) listed.marks.insert(parser::RunMark::profiled);
  bind_listed(insert, listed);
  bind_chosen(insert, batch.configuration, batch.listed);
  insert.run();
  count_new_runs(connection, run, run);
}

void update_run(Connection& connection, RunId run, const IngestBatch& batch, bool grown) {
  static const std::string sql =
      "UPDATE run SET revision = revision + 1, grown_at = CASE WHEN ? THEN ? ELSE grown_at END,"
      " vanished_at = NULL, size_bytes = ?, reading = coalesce(?, reading), " +
      join(kPathColumns, " = ?") + ", " + join(kFactColumns, " = ?") + ", " +
      join(kSummaryColumns, " = ?") + ", " + join(kListedColumns, " = ?") + " WHERE id = ?";
  Statement& update = connection.kept(sql);
  update.boolean(grown).text(batch.observed_at).bits(batch.size_bytes);
  update.integer(batch.reading);
  bind_path(update, batch.path);
  bind_facts(update, batch.facts);
  bind_verdict(update, batch);
  bind_listed(update, batch.listed);
  update.integer(run).run();
}

void set_step_count(Connection& connection, RunId run, std::int64_t step_count) {
  connection.kept("UPDATE run SET step_count = ? WHERE id = ?")
      .integer(step_count)
      .integer(run)
      .run();
}

void write_listed(Connection& connection, RunId run, const ListedResult& listed) {
  static const std::string sql = "UPDATE run SET " + join(kListedColumns, " = ?") + ", " +
                                 join(kIdentityColumns, " = ?") + " WHERE id = ?";
  Statement& update = connection.kept(sql);
  bind_listed(update, listed);
  bind_identity(update, listed.catalog_hash
                            ? listed.identity
                            : parser::identity_of({}, read_configuration(connection, run)));
  update.integer(run).run();
}

bool write_verdict_of_vanished(Connection& connection, const RunRecord& run) {
  static const std::string sql = "UPDATE run SET revision = revision + 1, " +
                                 join(kSummaryColumns, " = ?") +
                                 " WHERE id = ? AND (vanished_at IS NOT NULL OR is_superseded = 1)";
  IngestBatch verdict;
  verdict.summary = run.summary;
  verdict.window_source = run.window_source;
  verdict.logged_global_batch_size = run.logged_global_batch_size;
  Statement& update = connection.kept(sql);
  bind_verdict(update, verdict);
  update.integer(run.id).run();
  if (connection.changes() == 0) return false;
  write_listed(connection, run.id, run.listed);
  return true;
}

void mark_profiled(Connection& connection, RunId run,
                   const parser::RunConfiguration& configuration) {
  connection
      .kept(
          "UPDATE run SET marks = marks | ? WHERE id = ? AND"
          " (? <> 0 OR EXISTS (SELECT 1 FROM run_profile AS p WHERE p.run_id = run.id))")
      .integer(kProfiledBit)
      .integer(run)
      .boolean(asks_for_profile(configuration))
      .run();
}

std::string select_run_sql() {
  return "SELECT id, root_id, relative_path, generation, is_superseded, revision, first_seen_at,"
         " grown_at, vanished_at, size_bytes, step_count, reading, cluster, " +
         join(kIdentityColumns, "") + ", " + join(kPathColumns, "") + ", " +
         join(kFactColumns, "") + ", " + join(kSummaryColumns, "") + ", " +
         join(kListedColumns, "") + " FROM run";
}

parser::RunStatus read_status(Statement& row) {
  return parser::run_status_from_name(row.read_text()).value_or(parser::RunStatus::no_data);
}

RunRecord read_run_row(Statement& row) {
  RunRecord run;
  run.id = row.read_integer();
  run.root_id = row.read_integer();
  run.relative_path = row.read_text();
  run.generation = row.read_integer();
  run.is_superseded = row.read_boolean();
  run.revision = row.read_integer();
  run.first_seen_at = row.read_text();
  run.grown_at = row.read_text();
  run.vanished_at = row.read_optional_text();
  run.size_bytes = row.read_bits();
  run.step_count = row.read_integer();
  run.reading = row.read_integer();
  run.cluster = row.read_optional_text();
  run.listed.identity = read_identity(row);
  read_path(row, run.path);
  read_facts(row, run.facts);
  read_verdict(row, run);
  read_listed(row, run);
  return run;
}

}  // namespace llmb::storage
