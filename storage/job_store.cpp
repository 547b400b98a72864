#include "storage/job_store.h"

#include <fmt/format.h>

#include <mutex>

#include "parser/foundation/parse_number.h"
#include "storage/cluster_match.h"
#include "storage/open_database.h"

namespace llmb::storage {
namespace {

constexpr std::string_view kJobColumns =
    "id, submission_id, cluster, job_id, submit_time_s, revision, state, state_reason, trouble,"
    " cancel_requested_at, experiment, launch_id, run_folder, submission, submitted_by,"
    " restart_count, exit_code, nodes, created_at, started_at, ended_at, updated_at, is_queued,"
    " sbatch_called_at, sbatch_ended_at, is_lost, limit_ends_at";

// The launch tells a job from a later one with the same number. The tree of 2024 has no folder for
// a launch: there, its logs are named by the job. A run that fits another job better, or one of
// another cluster equally well, is not of this one.
const std::string& from_runs_of_job() {
  static const std::string sql =
      " FROM run JOIN root ON root.id = run.root_id WHERE run.job_id = ?1"
      " AND (run.launch_id = ?2 OR (run.launch_id IS NULL AND run.experiment = ?3))"
      " AND run.is_superseded = 0 AND" +
      may_hold_jobs_of("?4") +
      " AND NOT EXISTS (SELECT 1 FROM job AS rival WHERE rival.job_id = ?1"
      " AND (rival.launch_id = run.launch_id"
      " OR (run.launch_id IS NULL AND rival.experiment = run.experiment)) AND" +
      may_hold_jobs_of("rival.cluster") +
      fmt::format(" AND ({0} > {1} OR ({0} = {1} AND rival.cluster <> ?4)))",
                  fit_of_job("rival.run_folder", "run.relative_path"),
                  fit_of_job("CAST(?5 AS TEXT)", "run.relative_path"));
  return sql;
}

void bind_job(Statement& select, const JobRecord& job) {
  select.integer(*job.job_id).text(job.launch_id).text(job.experiment).text(job.cluster);
  select.text(job.run_folder);
}

JobRecord read_job(Statement& row) {
  JobRecord job;
  job.id = row.read_integer();
  job.submission_id = row.read_text();
  job.cluster = row.read_text();
  job.job_id = row.read_optional_integer();
  job.submit_time_s = row.read_optional_integer();
  job.revision = row.read_integer();
  job.state = job_state_from_name(row.read_text());
  job.state_reason = row.read_text();
  job.trouble = row.read_text();
  job.cancel_requested_at = row.read_optional_text();
  job.experiment = row.read_text();
  job.launch_id = row.read_text();
  job.run_folder = row.read_text();
  job.submission = row.read_text();
  job.submitted_by = row.read_text();
  job.restart_count = row.read_integer();
  job.exit_code = row.read_optional_integer();
  job.nodes = row.read_text();
  job.created_at = row.read_text();
  job.started_at = row.read_optional_text();
  job.ended_at = row.read_optional_text();
  job.updated_at = row.read_text();
  job.is_queued = row.read_boolean();
  job.sbatch_called_at = row.read_optional_text();
  job.sbatch_ended_at = row.read_optional_text();
  job.is_lost = row.read_boolean();
  job.limit_ends_at = row.read_optional_text();
  return job;
}

// The columns that may change, in the order of both statements below.
void bind_changing(Statement& statement, const JobRecord& job) {
  statement.integer(job.job_id)
      .integer(job.submit_time_s)
      .text(job_state_name(job.state))
      .text(job.state_reason)
      .text(job.trouble)
      .text(job.cancel_requested_at)
      .integer(job.restart_count)
      .integer(job.exit_code)
      .text(job.nodes)
      .text(job.started_at)
      .text(job.ended_at)
      .text(job.updated_at)
      .text(job.launch_id)
      .text(job.run_folder)
      .boolean(job.is_queued)
      .text(job.sbatch_called_at)
      .text(job.sbatch_ended_at)
      .boolean(job.is_lost)
      .text(job.limit_ends_at);
}

// "state NOT IN (…)" for every state in which a job is over; the names are constants.
std::string not_final() {
  std::string names;
  for (const JobState state : final_job_states()) {
    names.append(names.empty() ? "'" : ", '").append(job_state_name(state)).append("'");
  }
  return "state NOT IN (" + names + ")";
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find(' ', begin);
    if (end == std::string::npos) end = text.size();
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

TokenRecord read_token(Statement& row) {
  TokenRecord token;
  token.id = row.read_integer();
  token.name = row.read_text();
  token.sha256 = row.read_text();
  token.scopes = words_of(row.read_text());
  token.created_at = row.read_text();
  token.expires_at = row.read_text();
  token.revoked_at = row.read_optional_text();
  token.cluster = row.read_text();
  token.former_cluster = row.read_text();
  return token;
}

}  // namespace

struct JobStore::Impl {
  std::mutex mutex;
  std::unique_ptr<OpenDatabase> database;
  Connection& connection;

  Impl(const OpenOptions& options, JobAccess access)
      : database(access == JobAccess::read ? open_reader(options.path)
                                           : open_beside_writer(options)),
        connection(database->connection()) {}

  // One call at a time, in one transaction.
  template <typename Action>
  auto within(Transaction::Kind kind, Action action) {
    const std::lock_guard lock(mutex);
    database->check();  // what is written to a file that nobody finds again is lost
    Transaction transaction(connection, kind);
    auto result = action();
    transaction.commit();
    return result;
  }

  std::optional<JobRecord> find(JobRowId id) {
    Statement& select =
        connection.kept("SELECT " + std::string(kJobColumns) + " FROM job WHERE id = ?");
    if (!select.integer(id).step()) return std::nullopt;
    JobRecord job = read_job(select);
    select.reset();
    return job;
  }

  JobRowId insert(const JobRecord& job) {
    Statement& insert = connection.kept(
        "INSERT INTO job (job_id, submit_time_s, state, state_reason, trouble,"
        " cancel_requested_at, restart_count, exit_code, nodes, started_at, ended_at, updated_at,"
        " launch_id, run_folder, is_queued, sbatch_called_at, sbatch_ended_at, is_lost,"
        " limit_ends_at, submission_id, cluster, experiment, submission, submitted_by, created_at)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING id");
    bind_changing(insert, job);
    insert.text(job.submission_id).text(job.cluster).text(job.experiment);
    insert.text(job.submission).text(job.submitted_by).text(job.created_at);
    const JobRowId id = insert.run_for_id();
    database->announce_job(id);
    return id;
  }

  // By who submitted it and its key; nothing for a request without one.
  std::optional<JobRequest> find_request(const JobRequest& wanted) {
    if (wanted.idempotency_key.empty()) return std::nullopt;
    Statement& select = connection.kept(
        "SELECT request_hash, job_ids FROM job_request"
        " WHERE submitted_by = ? AND idempotency_key = ?");
    if (!select.text(wanted.submitted_by).text(wanted.idempotency_key).step()) return std::nullopt;
    JobRequest found = wanted;
    found.request_hash = select.read_text();
    found.jobs.clear();
    for (const std::string& word : words_of(select.read_text())) {
      if (const auto id = parser::parse_digits(word)) found.jobs.push_back(*id);
    }
    select.reset();
    return found;
  }

  // Nothing where the key is not known.
  std::optional<RecordedRequest> repeated(const JobRequest& request) {
    const auto first = find_request(request);
    if (!first) return std::nullopt;
    RecordedRequest recorded;
    recorded.kind = first->request_hash == request.request_hash ? RecordedRequest::Kind::repeated
                                                                : RecordedRequest::Kind::conflict;
    if (recorded.kind == RecordedRequest::Kind::conflict) return recorded;
    for (const JobRowId id : first->jobs) {
      if (auto job = find(id)) recorded.jobs.push_back(std::move(*job));
    }
    recorded.is_new.assign(recorded.jobs.size(), false);
    return recorded;
  }

  void keep_request(const JobRequest& request, const std::string& ids,
                    const std::string& created_at) {
    Statement& keep = connection.kept(
        "INSERT INTO job_request (submitted_by, idempotency_key, request_hash, job_ids, created_at)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT (submitted_by, idempotency_key)"
        " DO UPDATE SET job_ids = excluded.job_ids");
    keep.text(request.submitted_by).text(request.idempotency_key).text(request.request_hash);
    keep.text(ids).text(created_at).run();
  }

  std::int64_t count(Statement& select) {
    std::int64_t number = 0;
    if (select.step()) number = select.read_integer();
    select.reset();
    return number;
  }

  std::vector<JobRecord> all_of(Statement& select) {
    std::vector<JobRecord> jobs;
    while (select.step()) jobs.push_back(read_job(select));
    return jobs;
  }
};

JobStore::JobStore(const OpenOptions& options, JobAccess access)
    : impl_(std::make_unique<Impl>(options, access)) {}
JobStore::~JobStore() = default;

JobRowId JobStore::insert(const JobRecord& job) {
  return impl_->within(Transaction::Kind::write, [&] { return impl_->insert(job); });
}

RecordedRequest JobStore::record(const JobRequest& request, std::vector<JobRecord> jobs,
                                 const std::string& created_at) {
  return impl_->within(Transaction::Kind::write, [&] {
    RecordedRequest recorded = impl_->repeated(request).value_or(RecordedRequest{});
    if (recorded.kind == RecordedRequest::Kind::conflict) return recorded;
    std::vector<JobRecord> known = std::move(recorded.jobs);
    recorded.jobs.clear();
    recorded.is_new.clear();
    std::string ids;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const bool is_new = i >= known.size() || known[i].was_never_taken();
      JobRecord& job = is_new ? jobs[i] : known[i];
      if (is_new) {
        job.id = impl_->insert(job);
        job.revision = 1;
      }
      ids.append(ids.empty() ? "" : " ").append(fmt::to_string(job.id));
      recorded.jobs.push_back(std::move(job));
      recorded.is_new.push_back(is_new);
    }
    if (!request.idempotency_key.empty()) impl_->keep_request(request, ids, created_at);
    return recorded;
  });
}

std::optional<RecordedRequest> JobStore::recorded(const JobRequest& request) {
  return impl_->within(Transaction::Kind::read, [&] { return impl_->repeated(request); });
}

bool JobStore::update(const JobRecord& job) {
  return impl_->within(Transaction::Kind::write, [&] {
    std::optional<JobRecord> stored = impl_->find(job.id);
    if (!stored || stored->revision != job.revision) return false;
    stored->updated_at = job.updated_at;
    if (*stored == job) return false;
    Statement& update = impl_->connection.kept(
        "UPDATE job SET job_id = ?, submit_time_s = ?, state = ?, state_reason = ?, trouble = ?,"
        " cancel_requested_at = ?, restart_count = ?, exit_code = ?, nodes = ?, started_at = ?,"
        " ended_at = ?, updated_at = ?, launch_id = ?, run_folder = ?, is_queued = ?,"
        " sbatch_called_at = ?, sbatch_ended_at = ?, is_lost = ?, limit_ends_at = ?,"
        " revision = revision + 1 WHERE id = ?");
    bind_changing(update, job);
    update.integer(job.id).run();
    impl_->database->announce_job(job.id);
    return true;
  });
}

std::optional<JobRecord> JobStore::job(JobRowId id) {
  return impl_->within(Transaction::Kind::read, [&] { return impl_->find(id); });
}

std::vector<JobRecord> JobStore::jobs(std::int64_t limit, std::optional<JobRowId> before) {
  return impl_->within(Transaction::Kind::read, [&] {
    Statement& select = impl_->connection.kept("SELECT " + std::string(kJobColumns) +
                                               " FROM job WHERE id < ? ORDER BY id DESC LIMIT ?");
    select.integer(before.value_or(INT64_MAX)).integer(limit);
    return impl_->all_of(select);
  });
}

std::vector<JobRecord> JobStore::unfinished(const std::string& cluster) {
  return impl_->within(Transaction::Kind::read, [&] {
    Statement& select =
        impl_->connection.kept("SELECT " + std::string(kJobColumns) +
                               " FROM job WHERE cluster = ? AND " + not_final() + " ORDER BY id");
    select.text(cluster);
    return impl_->all_of(select);
  });
}

std::vector<JobRecord> JobStore::queued(const std::string& cluster) {
  return impl_->within(Transaction::Kind::read, [&] {
    Statement& select = impl_->connection.kept(
        "SELECT " + std::string(kJobColumns) +
        " FROM job WHERE cluster = ? AND state = 'submitting' AND is_queued = 1"
        " AND sbatch_called_at IS NULL ORDER BY id");
    select.text(cluster);
    return impl_->all_of(select);
  });
}

std::optional<std::string> JobStore::last_sent_at(const JobRecord& job) {
  return impl_->within(Transaction::Kind::read, [&] {
    Statement& select = impl_->connection.kept(
        "SELECT max(coalesce(sbatch_ended_at, sbatch_called_at)) FROM job"
        " WHERE cluster = ? AND submitted_by = ? AND created_at = ?");
    select.text(job.cluster).text(job.submitted_by).text(job.created_at);
    std::optional<std::string> at;
    if (select.step()) at = select.read_optional_text();
    select.reset();
    return at;
  });
}

std::vector<JobRecord> JobStore::lost_since(const std::string& cluster, const std::string& since) {
  return impl_->within(Transaction::Kind::read, [&] {
    Statement& select = impl_->connection.kept(
        "SELECT " + std::string(kJobColumns) +
        " FROM job WHERE cluster = ? AND state = 'not_submitted' AND is_lost = 1"
        " AND created_at >= ? ORDER BY id");
    select.text(cluster).text(since);
    return impl_->all_of(select);
  });
}

bool JobStore::follows(const std::string& cluster) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->database->leads("jobs of " + cluster);
}

std::int64_t JobStore::count_since(const std::string& submitted_by, const std::string& since) {
  return impl_->within(Transaction::Kind::read, [&] {
    Statement& select = impl_->connection.kept(
        "SELECT count(*) FROM job WHERE submitted_by = ? AND created_at >= ?");
    return impl_->count(select.text(submitted_by).text(since));
  });
}

std::int64_t JobStore::count_unfinished(const std::string& submitted_by) {
  return impl_->within(Transaction::Kind::read, [&] {
    Statement& select = impl_->connection.kept(
        "SELECT count(*) FROM job WHERE submitted_by = ? AND " + not_final());
    return impl_->count(select.text(submitted_by));
  });
}

std::vector<JobRecord> JobStore::ended_since(const std::string& cluster, const std::string& since) {
  return impl_->within(Transaction::Kind::read, [&] {
    Statement select(impl_->connection,
                     "SELECT " + std::string(kJobColumns) +
                         " FROM job WHERE cluster = ? AND updated_at >= ?"
                         " AND ended_at IS NOT NULL AND job_id IS NOT NULL ORDER BY id");
    select.text(cluster).text(since);
    return impl_->all_of(select);
  });
}

std::vector<RunId> JobStore::runs_of(const JobRecord& job) {
  if (!job.job_id) return {};
  return impl_->within(Transaction::Kind::read, [&] {
    static const std::string sql =
        "SELECT run.id" + from_runs_of_job() + " ORDER BY run.retry NULLS FIRST, run.id";
    Statement& select = impl_->connection.kept(sql);
    bind_job(select, job);
    std::vector<RunId> runs;
    while (select.step()) runs.push_back(select.read_integer());
    return runs;
  });
}

std::optional<std::string> JobStore::last_run_status(const JobRecord& job) {
  if (!job.job_id) return std::nullopt;
  return impl_->within(Transaction::Kind::read, [&]() -> std::optional<std::string> {
    static const std::string sql = "SELECT run.status" + from_runs_of_job() +
                                   " ORDER BY run.retry DESC NULLS LAST, run.id DESC LIMIT 1";
    Statement& select = impl_->connection.kept(sql);
    bind_job(select, job);
    if (!select.step()) return std::nullopt;
    std::string status = select.read_text();
    select.reset();
    return status;
  });
}

std::int64_t JobStore::insert_token(const TokenRecord& token) {
  return impl_->within(Transaction::Kind::write, [&] {
    std::string scopes;
    for (const std::string& scope : token.scopes) scopes += (scopes.empty() ? "" : " ") + scope;
    Statement& insert = impl_->connection.kept(
        "INSERT INTO api_token (name, sha256, scopes, created_at, expires_at, cluster,"
        " former_cluster) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id");
    insert.text(token.name).text(token.sha256).text(scopes);
    insert.text(token.created_at).text(token.expires_at);
    insert.text(token.cluster).text(token.former_cluster);
    return insert.run_for_id();
  });
}

std::vector<TokenRecord> JobStore::tokens() {
  return impl_->within(Transaction::Kind::read, [&] {
    Statement& select = impl_->connection.kept(
        "SELECT id, name, sha256, scopes, created_at, expires_at, revoked_at, cluster,"
        " former_cluster FROM api_token"
        " ORDER BY id");
    std::vector<TokenRecord> tokens;
    while (select.step()) tokens.push_back(read_token(select));
    return tokens;
  });
}

std::optional<TokenRecord> JobStore::token_by_hash(const std::string& sha256) {
  return impl_->within(Transaction::Kind::read, [&]() -> std::optional<TokenRecord> {
    Statement& select = impl_->connection.kept(
        "SELECT id, name, sha256, scopes, created_at, expires_at, revoked_at, cluster,"
        " former_cluster FROM api_token"
        " WHERE sha256 = ?");
    if (!select.text(sha256).step()) return std::nullopt;
    TokenRecord token = read_token(select);
    select.reset();
    return token;
  });
}

bool JobStore::revoke_token(const std::string& name, const std::string& at) {
  return impl_->within(Transaction::Kind::write, [&] {
    Statement& update = impl_->connection.kept(
        "UPDATE api_token SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL");
    update.text(at).text(name).run();
    return impl_->connection.changes() == 1;
  });
}

}  // namespace llmb::storage
