#include <algorithm>

#include "storage/cluster_match.h"
#include "storage/database.h"
#include "storage/log_copies.h"
#include "storage/log_text_rows.h"
#include "storage/open_database.h"
#include "storage/push_rows.h"
#include "storage/removal_plan.h"
#include "storage/removal_undo.h"
#include "storage/removed_log_rows.h"
#include "storage/root_cluster.h"
#include "storage/run_choices.h"
#include "storage/run_failures.h"
#include "storage/run_list.h"
#include "storage/run_rows.h"
#include "storage/run_versions.h"
#include "storage/step_rows.h"
#include "storage/tree_clusters.h"

namespace llmb::storage {
namespace {

// The first two columns of the jobs that a run may be of, the best first.
struct FittingJob {
  std::int64_t fit = 0;
  std::string cluster;
};

FittingJob read_fitting_job(Statement& row) {
  FittingJob job;
  job.fit = row.read_integer();
  job.cluster = row.read_text();
  return job;
}

// Whether none of the rows behind it is another cluster's job that fits as well. Resets `rows`.
bool fits_best(const FittingJob& best, Statement& rows) {
  bool is_sure = true;
  while (is_sure && rows.step()) {
    const FittingJob next = read_fitting_job(rows);
    if (next.fit < best.fit) break;
    is_sure = next.cluster == best.cluster;
  }
  rows.reset();
  return is_sure;
}

constexpr std::string_view kSelectKnownFiles =
    "SELECT id, root_id, relative_path, generation, grown_at, status, window_source <> '', "
    "gpu_type,"
    " vanished_at IS NOT NULL, reading, device, inode, head_hash, head_length, tail_hash, "
    "tail_length,"
    " byte_offset, parser_state"
    " FROM run JOIN log_cursor ON log_cursor.run_id = run.id WHERE is_superseded = 0";

std::vector<Reader::KnownFile> read_known_files(Statement& select) {
  std::vector<Reader::KnownFile> files;
  while (select.step()) {
    Reader::KnownFile file;
    file.run = select.read_integer();
    file.root_id = select.read_integer();
    file.relative_path = select.read_text();
    file.generation = select.read_integer();
    file.grown_at = select.read_text();
    file.status = read_status(select);
    file.has_window_source = select.read_boolean();
    file.gpu_type = select.read_optional_text().value_or("");
    file.is_vanished = select.read_boolean();
    file.reading = select.read_integer();
    file.cursor = read_cursor_columns(select);
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

struct Reader::Impl {
  std::unique_ptr<OpenDatabase> database;
  Connection& connection;

  explicit Impl(const std::string& place)
      : database(open_reader(place)), connection(database->connection()) {}

  // Runs `question` in one read transaction: all it reads is of one instant.
  template <typename Question>
  auto ask(Question question) {
    Transaction transaction(connection, Transaction::Kind::read);
    auto answer = question();
    transaction.commit();
    return answer;
  }

  std::optional<RunRecord> read_full_run(Statement& select) {
    if (!select.step()) return std::nullopt;
    RunRecord run = read_run_row(select);
    select.reset();
    read_run_parts(connection, run);
    return run;
  }
};

Reader::Reader(const std::string& place) : impl_(std::make_unique<Impl>(place)) {}
Reader::~Reader() = default;

bool Reader::is_current() {
  return impl_->database->is_current();
}

std::int64_t Reader::data_revision() {
  Statement& select = impl_->connection.kept("SELECT revision FROM data_revision");
  const std::int64_t revision = select.step() ? select.read_integer() : 0;
  select.reset();
  return revision;
}

std::vector<std::string> Reader::trees_of_both(const std::string& from, const std::string& to) {
  return impl_->ask([&] { return trees_of_both_clusters(impl_->connection, from, to); });
}

std::vector<RootRecord> Reader::roots() {
  return impl_->ask([&] {
    std::vector<RootRecord> roots;
    Statement& select = impl_->connection.kept(
        "SELECT id, path, cluster, last_scan_at, last_scan_s, files_seen, error, pushed_from"
        " FROM root ORDER BY id");
    while (select.step()) {
      RootRecord root;
      root.id = select.read_integer();
      root.path = select.read_text();
      root.cluster = select.read_text();
      root.last_scan_at = select.read_optional_text();
      root.last_scan_s = select.read_optional_real();
      root.files_seen = select.read_integer();
      root.error = select.read_text();
      root.pushed_from = select.read_text();
      roots.push_back(std::move(root));
    }
    return roots;
  });
}

parser::TreeClusters Reader::tree_clusters() {
  return impl_->ask([&] { return read_tree_clusters(impl_->connection); });
}

RunPage Reader::runs(const RunQuery& query) {
  return impl_->ask([&] {
    RunQuery whole = query;
    whole.filter = with_unnamed_runs(impl_->connection, query.filter);
    return list_runs(impl_->connection, whole);
  });
}

RunChoices Reader::run_choices() {
  return impl_->ask([&] { return read_run_choices(impl_->connection); });
}

FailureCounts Reader::failure_counts(const RunFilter& filter) {
  return impl_->ask([&] {
    return count_failures(impl_->connection, with_unnamed_runs(impl_->connection, filter));
  });
}

std::int64_t Reader::run_count(const RunFilter& filter) {
  return impl_->ask(
      [&] { return count_runs(impl_->connection, with_unnamed_runs(impl_->connection, filter)); });
}

std::vector<RunVersion> Reader::newest_run_versions(const RunFilter& filter, std::int64_t limit) {
  return impl_->ask([&] {
    return storage::newest_run_versions(impl_->connection,
                                        with_unnamed_runs(impl_->connection, filter), limit);
  });
}

std::vector<RunRecord> Reader::listed_runs(std::span<const RunId> ids) {
  return impl_->ask([&] { return read_listed_runs(impl_->connection, ids); });
}

std::vector<LikelyCopy> Reader::likely_copies(std::span<const RunId> ids) {
  return impl_->ask([&] { return find_likely_copies(impl_->connection, ids); });
}

std::vector<RunId> Reader::runs_that_look_like(RunId id) {
  return impl_->ask([&] { return find_runs_that_look_like(impl_->connection, id); });
}

std::optional<RunRecord> Reader::run(RunId id) {
  return impl_->ask([&] {
    static const std::string sql = select_run_sql() + " WHERE id = ?";
    Statement& select = impl_->connection.kept(sql);
    select.integer(id);
    return impl_->read_full_run(select);
  });
}

std::vector<RunRecord> Reader::runs_not_listed_by(std::uint64_t catalog_hash, RunId after,
                                                  std::int64_t limit) {
  return impl_->ask([&] {
    static const std::string sql =
        select_run_sql() +
        " WHERE listed_by_catalog IS DISTINCT FROM ? AND id > ? ORDER BY id LIMIT ?";
    std::vector<RunRecord> runs;
    Statement& select = impl_->connection.kept(sql);
    select.bits(catalog_hash).integer(after).integer(limit);
    while (select.step()) runs.push_back(read_run_row(select));
    read_listed_parts(impl_->connection, runs);
    return runs;
  });
}

std::optional<std::int64_t> Reader::run_revision(RunId id) {
  Statement& select = impl_->connection.kept("SELECT revision FROM run WHERE id = ?");
  select.integer(id);
  if (!select.step()) return std::nullopt;
  const std::int64_t revision = select.read_integer();
  select.reset();
  return revision;
}

std::int64_t Reader::steps_at_most(RunId id, const std::optional<parser::Window>& window) {
  Statement& select =
      impl_->connection.kept("SELECT step_count, segment_count FROM run WHERE id = ?");
  if (!select.integer(id).step()) return 0;
  const std::int64_t steps = select.read_integer();
  const std::int64_t segments = std::max<std::int64_t>(1, select.read_integer());
  select.reset();
  if (!window || window->size() > steps / segments) return steps;
  return window->size() * segments;
}

std::optional<RunJob> Reader::job_of(RunId id) {
  // The launch tells a job from a later one with the same number.
  static const std::string sql =
      "SELECT " + fit_of_job("job.run_folder", "run.relative_path") +
      " AS fit, job.cluster, job.id, job.revision, job.state, job.trouble,"
      " job.limit_ends_at FROM run"
      " JOIN root ON root.id = run.root_id JOIN job"
      " ON job.job_id = run.job_id AND (job.launch_id = run.launch_id"
      " OR (run.launch_id IS NULL AND job.experiment = run.experiment))"
      " WHERE run.id = ? AND" +
      may_hold_jobs_of("job.cluster") + " ORDER BY fit DESC, job.id DESC";
  Statement& select = impl_->connection.kept(sql);
  if (!select.integer(id).step()) return std::nullopt;
  const FittingJob fitting = read_fitting_job(select);
  RunJob job;
  job.id = select.read_integer();
  job.revision = select.read_integer();
  job.state = select.read_text();
  job.trouble = select.read_text();
  job.limit_ends_at = select.read_optional_text();
  if (!fits_best(fitting, select)) return std::nullopt;
  return job;
}

std::optional<RunId> Reader::superseding_run(RunId id) {
  Statement& select = impl_->connection.kept(
      "SELECT newest.id FROM run JOIN run AS newest ON newest.root_id = run.root_id"
      " AND newest.relative_path = run.relative_path AND newest.is_superseded = 0"
      " WHERE run.id = ? AND run.is_superseded = 1");
  std::optional<RunId> newest;
  if (select.integer(id).step()) newest = select.read_integer();
  select.reset();
  return newest;
}

std::optional<JobProgress> Reader::last_state_of_job(RootId root, const std::string& relative_path,
                                                     const parser::RunPath& log) {
  if (!log.job_id) return std::nullopt;
  static const std::string sql =
      "SELECT " + fit_of_job("job.run_folder", "CAST(?5 AS TEXT)") +
      " AS fit, job.cluster, job.state, job.restart_count, job.exit_code"
      " FROM job JOIN root ON root.id = ?1"
      " WHERE job.job_id = ?2 AND (job.launch_id = ?3 OR (?3 IS NULL AND job.experiment = ?4)) "
      "AND" +
      may_hold_jobs_of("job.cluster") + " ORDER BY fit DESC, job.id DESC";
  Statement& select = impl_->connection.kept(sql);
  select.integer(root).integer(log.job_id).text(log.launch_id).text(log.experiment);
  select.text(relative_path);
  if (!select.step()) return std::nullopt;
  const FittingJob fitting = read_fitting_job(select);
  JobProgress job;
  job.state = job_state_from_name(select.read_text());
  job.restart_count = select.read_integer();
  job.exit_code = select.read_optional_integer();
  if (!fits_best(fitting, select)) return std::nullopt;
  return job;
}

std::optional<RunRecord> Reader::run_at(RootId root, const std::string& relative_path) {
  return impl_->ask([&] {
    static const std::string sql =
        select_run_sql() +
        " WHERE root_id = ? AND relative_path = ? ORDER BY generation DESC LIMIT 1";
    Statement& select = impl_->connection.kept(sql);
    select.integer(root).text(relative_path);
    return impl_->read_full_run(select);
  });
}

std::optional<LogCursor> Reader::cursor(RunId id) {
  return impl_->ask([&] { return read_cursor(impl_->connection, id); });
}

std::vector<RunId> Reader::vanished_while_running(RootId root) {
  std::vector<RunId> runs;
  Statement& select = impl_->connection.kept(
      "SELECT id FROM run WHERE status = 'running' AND root_id = ?"
      " AND (vanished_at IS NOT NULL OR is_superseded = 1) ORDER BY id");
  select.integer(root);
  while (select.step()) runs.push_back(select.read_integer());
  return runs;
}

LogEnds Reader::log_ends(RunId id) {
  LogEnds ends;
  Statement& select = impl_->connection.kept(
      "SELECT head_hash, head_length, tail_hash FROM log_cursor WHERE run_id = ?1 UNION ALL"
      " SELECT head_hash, head_length, NULL FROM pushed_run WHERE run_id = ?1");
  if (select.integer(id).step()) {
    ends.head_hash = select.read_bits();
    ends.head_length = static_cast<std::uint32_t>(select.read_integer());
    if (const auto tail = select.read_optional_integer()) {
      ends.tail_hash = static_cast<std::uint64_t>(*tail);
    }
  }
  select.reset();
  return ends;
}

std::vector<parser::StepSample> Reader::steps(RunId id, std::optional<parser::Window> window) {
  std::vector<parser::StepSample> samples;
  visit_steps(id, window, std::nullopt,
              [&](parser::StepSample&& sample) { samples.push_back(std::move(sample)); });
  return samples;
}

std::vector<double> Reader::latest_step_times_s(RunId id, std::int64_t count) {
  return impl_->ask([&] { return storage::latest_step_times_s(impl_->connection, id, count); });
}

void Reader::visit_steps(RunId id, std::optional<parser::Window> window,
                         std::optional<std::int32_t> segment,
                         const std::function<void(parser::StepSample&&)>& visit) {
  impl_->ask([&] {
    storage::visit_steps(impl_->connection, id, window, segment, visit);
    return true;
  });
}

std::vector<ExperimentRecord> Reader::experiments(const RunFilter& filter, std::int64_t limit,
                                                  const std::string& after_experiment) {
  return impl_->ask([&] {
    return list_experiments(impl_->connection, with_unnamed_runs(impl_->connection, filter), limit,
                            after_experiment);
  });
}

std::vector<ParkedFile> Reader::parked_files() {
  return impl_->ask([&] {
    std::vector<ParkedFile> files;
    Statement& select = impl_->connection.kept(
        "SELECT root_id, relative_path, reason, parked_at, retry_at, failures FROM parked_file"
        " ORDER BY root_id, relative_path");
    while (select.step()) {
      ParkedFile file;
      file.root_id = select.read_integer();
      file.relative_path = select.read_text();
      file.reason = select.read_text();
      file.parked_at = select.read_text();
      file.retry_at = select.read_text();
      file.failures = select.read_integer();
      files.push_back(std::move(file));
    }
    return files;
  });
}

std::vector<PushAgentRecord> Reader::push_agents() {
  return impl_->ask([&] { return read_push_agents(impl_->connection, ""); });
}

std::vector<PushAgentRecord> Reader::listed_push_agents(parser::Instant now) {
  return impl_->ask([&] {
    return read_push_agents(impl_->connection, parser::instant_text(now - kListedSilence));
  });
}

std::vector<HeldLog> Reader::held_logs(const std::string& store_id, const std::string& cluster,
                                       RunId after, std::int64_t limit) {
  return impl_->ask(
      [&] { return read_held_logs(impl_->connection, store_id, cluster, after, limit); });
}

std::uint64_t Reader::log_text_end(RunId id) {
  return impl_->ask([&] { return storage::log_text_end(impl_->connection, id); });
}

std::vector<LogBlockPlace> Reader::log_block_places(RunId id) {
  return impl_->ask([&] { return read_log_block_places(impl_->connection, id); });
}

std::vector<LogBlock> Reader::log_blocks(RunId id, std::uint64_t begin, std::uint64_t end) {
  return impl_->ask([&] { return read_log_blocks(impl_->connection, id, begin, end); });
}

std::vector<Reader::KnownFile> Reader::known_files() {
  return impl_->ask([&] {
    static const std::string sql = std::string(kSelectKnownFiles) + " ORDER BY id";
    return read_known_files(impl_->connection.kept(sql));
  });
}

std::vector<Reader::KnownFile> Reader::known_files(RootId root) {
  return impl_->ask([&] {
    static const std::string sql = std::string(kSelectKnownFiles) + " AND root_id = ? ORDER BY id";
    return read_known_files(impl_->connection.kept(sql).integer(root));
  });
}

RemovalPlan Reader::removal_plan(const RetentionPolicy& policy, parser::Instant now) {
  return impl_->ask([&] { return plan_removal(impl_->connection, policy, now); });
}

UndoPlan Reader::undo_plan(const UndoFilter& filter) {
  return impl_->ask([&] { return plan_undo(impl_->connection, filter); });
}

std::int64_t Reader::held_logs_mark() {
  return impl_->ask([&] { return impl_->database->agents_mark(); });
}

std::optional<RemovedLog> Reader::removed_log(RootId root, const std::string& relative_path) {
  return impl_->ask([&] { return find_removed_log(impl_->connection, root, relative_path); });
}

std::optional<RemovedRun> Reader::removed_run(RunId id) {
  return impl_->ask([&] { return find_removed_run(impl_->connection, id); });
}

std::vector<RemovedLog> Reader::removed_logs() {
  return impl_->ask([&] { return read_removed_logs(impl_->connection); });
}

RemovalTotal Reader::removal_total() {
  return impl_->ask([&] { return read_removal_total(impl_->connection); });
}

Reader::Totals Reader::totals() {
  return impl_->ask([&] {
    Totals totals;
    Connection& connection = impl_->connection;
    totals.runs = connection.read_one_integer("SELECT count(*) FROM run");
    totals.steps = connection.read_one_integer("SELECT coalesce(sum(step_count), 0) FROM run");
    totals.parked = connection.read_one_integer("SELECT count(*) FROM parked_file");
    Statement& quietest = connection.kept(
        "SELECT min(grown_at) FROM run WHERE status = 'running' AND is_superseded = 0");
    if (quietest.step()) totals.longest_silent_since = quietest.read_optional_text();
    quietest.reset();
    const DatabaseBytes bytes = impl_->database->bytes();
    totals.database_bytes = bytes.database;
    totals.wal_bytes = bytes.write_ahead_log;
    return totals;
  });
}

std::int64_t Reader::hung_run_count(parser::Instant since) {
  return impl_->ask([&] {
    Statement& count = impl_->connection.kept(
        "SELECT count(*) FROM run WHERE failure_cause = 'hung' AND is_superseded = 0"
        " AND grown_at >= ?");
    count.text(parser::instant_text(since));
    const std::int64_t hung = count.step() ? count.read_integer() : 0;
    count.reset();
    return hung;
  });
}

}  // namespace llmb::storage
