// Who writes into a PostgreSQL database: one process all of it, alone (a copy), or several, each
// the runs of the trees that it has claimed, and any of them what belongs to no tree. Transactions
// that write take their turn one after the other (PostgresqlConnection::begin), so that ids,
// tallies and the data's revision are those of one writer. A tree is claimed by a lock of the
// session that writes it: what is committed there was committed by who had the lock.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "storage/postgresql_database.h"
#include "storage/postgresql_neighbours.h"
#include "storage/postgresql_open_database.h"
#include "storage/postgresql_schema.h"
#include "storage/writer_mark.h"

namespace llmb::storage {
namespace {

using Mode = PostgresqlConnection::Mode;

// Held by every writer, shared by those of trees. An earlier version takes it for itself.
constexpr std::int64_t kWriters = 0x4C4C4D42'4F4E4C59;  // "LLMBONLY"

constexpr std::chrono::milliseconds kLook{50};
constexpr std::chrono::seconds kSharePatience{2};       // somebody migrates an empty database
constexpr std::chrono::seconds kMigrationPatience{10};  // others are about to begin, too

// Of a writer that stands still in a transaction all others would wait for.
constexpr const char* kEndsWhereItStandsStill = "SET idle_in_transaction_session_timeout = '60s'";

// Until `attempt` succeeds; false where it does not within `patience`.
template <typename Attempt>
bool succeeds_within(std::chrono::milliseconds patience, Attempt attempt) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!attempt()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

std::vector<std::string> trees_only_in(const std::vector<std::string>& trees,
                                       const std::vector<std::string>& others) {
  std::vector<std::string> only;
  std::set_difference(trees.begin(), trees.end(), others.begin(), others.end(),
                      std::back_inserter(only));
  return only;
}

std::string this_process() {
  std::array<char, 256> name{};
  const bool is_named = gethostname(name.data(), name.size() - 1) == 0;
  return fmt::format("{}, process {}", is_named ? name.data() : "a host without a name", getpid());
}

// Of all of the database.
class PostgresqlWriter : public PostgresqlDatabase {
 public:
  PostgresqlWriter(const std::string& url, const AdmitDatabase& admit)
      : PostgresqlDatabase(url, Mode::read_write) {
    take_lock();
    connection().on_new_session([this] { take_lock(); });
    require_our_postgresql(connection());
    admit(connection());
    migrate_postgresql(connection());
  }
  // The server ends the session some time after it was closed, and whoever writes next is not to
  // find the lock held.
  ~PostgresqlWriter() override { connection().release_locks(); }
  PostgresqlWriter(const PostgresqlWriter&) = delete;
  PostgresqlWriter& operator=(const PostgresqlWriter&) = delete;

 private:
  void take_lock() {
    const std::string sql = fmt::format("SELECT pg_try_advisory_lock({})", kWriters);
    if (connection().read_one_integer(sql) != 0) return;
    throw StorageError(StorageError::Kind::busy_elsewhere,
                       fmt::format("cannot write to {}: another process is already writing to it. "
                                   "Stop that one, or give this one a database of its own.",
                                   connection().place()));
  }
};

// One of several.
class PostgresqlWriterOf : public PostgresqlDatabase {
 public:
  PostgresqlWriterOf(const std::string& url, RootClaim root, const AdmitDatabase& admit)
      : PostgresqlDatabase(url, Mode::read_write), root_(std::move(root)), neighbours_(root_) {
    connection().execute(kEndsWhereItStandsStill);
    if (!succeeds_within(kSharePatience, [&] { return try_share(); })) refuse_share();
    connection().on_new_session([this] { begin_session(); });
    require_our_postgresql(connection());
    admit(connection());
    bring_up_to_date();
  }
  ~PostgresqlWriterOf() override;

  void check() override {
    connection().ensure();
    if (is_of_tree() && !claim_) refuse_taken_over();
  }
  ClaimOutcome claim(std::chrono::milliseconds inner_rest) override;
  TreeHolder holder() override;
  std::vector<std::string> left_out() override { return left_out_; }
  void require_same_neighbours() override;
  void outdate_tree(const std::string& path) override;
  void outdate_agents() override;
  void announce(const DataChange& change) override;
  void note_committed() override {
    if (claim_) claim_->known = claim_->tried;
  }

 private:
  // What this writer committed last: where an answer to COMMIT was lost, it is either.
  struct Claim {
    std::string name;
    std::int64_t known = 0;
    std::int64_t tried = 0;
    bool fits(std::int64_t stored) const { return stored == known || stored == tried; }
  };

  bool try_share() {
    const std::string sql = fmt::format("SELECT pg_try_advisory_lock_shared({})", kWriters);
    return connection().read_one_integer(sql) != 0;
  }
  void begin_session();
  void bring_up_to_date();
  bool is_of_tree() const { return !root_.path.empty(); }
  std::string root_name() const { return "root " + root_.path; }
  std::string random_name();
  void write_mark(Claim& claim);
  void require_what_was_committed(std::optional<std::int64_t> stored);
  [[noreturn]] void refuse_share() {
    throw StorageError(
        StorageError::Kind::busy_elsewhere,
        fmt::format("cannot write to {}: another process has it for itself (copy-db, or an earlier "
                    "version of llmb-report). Wait for its end, or stop it.",
                    connection().place()));
  }
  [[noreturn]] void refuse_taken_over() {
    throw StorageError(
        StorageError::Kind::taken_over,
        fmt::format("the tree {} is, or was meanwhile, written to {} by another process ({}), which"
                    " may have let removed logs in again",
                    root_.path, connection().place(), holder().process));
  }

  const RootClaim root_;
  std::optional<Claim> claim_;
  // Of a tree.
  Neighbours neighbours_;
  bool awaits_outer_ = false;
  std::chrono::milliseconds inner_rest_{0};
  std::vector<std::string> left_out_;
};

// A tree's mark stays. Another one nobody needs any more.
PostgresqlWriterOf::~PostgresqlWriterOf() {
  if (!is_of_tree() && claim_) {
    try {
      connection().kept("DELETE FROM writer_mark WHERE name = ?").text(claim_->name).run();
    } catch (const StorageError&) {  // NOLINT: it is removed with old age
    }
  }
  connection().release_locks();
}

// The locks of the session before are gone: another may have taken them, and written.
void PostgresqlWriterOf::begin_session() {
  connection().execute(kEndsWhereItStandsStill);
  if (!try_share()) refuse_share();
  if (!claim_) return;
  if (is_of_tree() && !try_lock(claim_->name)) {
    claim_.reset();
    refuse_taken_over();
  }
  require_what_was_committed(stored_mark(claim_->name));
}

// Alone: whoever writes by the older version would fail, and the others of this one wait for it.
void PostgresqlWriterOf::bring_up_to_date() {
  const auto is_current = [&] {
    return postgresql_version(connection()) == newest_postgresql_version();
  };
  if (is_current()) return;
  connection().execute(fmt::format("SELECT pg_advisory_unlock_shared({})", kWriters));
  const std::string alone = fmt::format("SELECT pg_try_advisory_lock({})", kWriters);
  const bool is_done = succeeds_within(kMigrationPatience, [&] {
    if (is_current()) return try_share();
    if (connection().read_one_integer(alone) == 0) return false;
    migrate_postgresql(connection());
    const bool is_shared = try_share();
    connection().execute(fmt::format("SELECT pg_advisory_unlock({})", kWriters));
    return is_shared;
  });
  if (is_done) return;
  throw StorageError(
      StorageError::Kind::busy_elsewhere,
      fmt::format("cannot bring the schema of {} up to date: another process writes to it. Stop "
                  "every earlier version of llmb-report that does.",
                  connection().place()));
}

std::string PostgresqlWriterOf::random_name() {
  Statement random(connection(), "SELECT 'writer ' || gen_random_uuid()");
  return random.step() ? random.read_text() : std::string();
}

void PostgresqlWriterOf::write_mark(Claim& claim) {
  claim.known = connection()
                    .kept(
                        "INSERT INTO writer_mark (name, holder, last_revision, cluster)"
                        " VALUES (?, ?, (SELECT revision FROM data_revision), ?)"
                        " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,"
                        " claimed_at = now(), cluster = excluded.cluster RETURNING last_revision")
                    .text(claim.name)
                    .text(this_process())
                    .text(root_.cluster)
                    .run_for_id();
  claim.tried = claim.known;
  connection().execute(
      "DELETE FROM writer_mark WHERE name LIKE 'writer %'"
      " AND claimed_at < now() - interval '1 year'");
}

// Whoever claims has its own lock before it looks at its neighbours, and looks in a transaction
// that writes: so of two at a time the later one sees the other.
ClaimOutcome PostgresqlWriterOf::claim(std::chrono::milliseconds inner_rest) {
  connection().ensure();
  claim_.reset();
  awaits_outer_ = false;
  Claim claim;
  claim.name = is_of_tree() ? root_name() : random_name();
  if (is_of_tree() && !try_lock(claim.name)) return ClaimOutcome::of_another;
  Transaction transaction(connection(), Transaction::Kind::write);
  // The session may be another one by now.
  if (is_of_tree() && !try_lock(claim.name)) return ClaimOutcome::of_another;
  write_mark(claim);
  if (is_of_tree()) {
    neighbours_.look(connection(), inner_rest);
    neighbours_.settle(connection());
  }
  transaction.commit();
  inner_rest_ = inner_rest;
  left_out_ = neighbours_.left_out();
  awaits_outer_ = neighbours_.awaited() != nullptr;
  if (awaits_outer_) return ClaimOutcome::awaits_outer;
  claim_ = std::move(claim);
  return ClaimOutcome::taken;
}

TreeHolder PostgresqlWriterOf::holder() {
  const NeighbourTree* const outer = awaits_outer_ ? neighbours_.awaited() : nullptr;
  if (outer != nullptr) return {outer->path, outer->holder};
  Statement& find = connection().kept("SELECT holder FROM writer_mark WHERE name = ?");
  TreeHolder holder{root_.path, {}};
  if (find.text(root_name()).step()) holder.process = find.read_text();
  find.reset();
  return holder;
}

void PostgresqlWriterOf::require_same_neighbours() {
  if (!is_of_tree() || !claim_) return;
  // Its answer has our own mark, too: to ask for that alone is what a session that is made anew
  // meanwhile does, by the same statement.
  neighbours_.look(connection(), inner_rest_);
  if (!claim_) return;
  require_what_was_committed(neighbours_.own_revision());
  const std::vector<std::string>& now = neighbours_.left_out();
  if (now == left_out_) return;
  claim_.reset();
  const std::vector<std::string> begun = trees_only_in(now, left_out_);
  if (!begun.empty()) {
    const NeighbourTree* const tree = neighbours_.find(begun.front());
    throw StorageError(
        StorageError::Kind::taken_over,
        fmt::format("{} is watched by another process ({}), so the tree {} leaves it out",
                    fmt::join(begun, " and "), tree != nullptr ? tree->holder : "", root_.path));
  }
  throw StorageError(StorageError::Kind::taken_over,
                     fmt::format("no process watches {} any more, so it is read with the tree {}",
                                 fmt::join(trees_only_in(left_out_, now), " and "), root_.path));
}

void PostgresqlWriterOf::require_what_was_committed(std::optional<std::int64_t> stored) {
  if (stored && claim_->fits(*stored)) return;
  if (is_of_tree()) {
    claim_.reset();
    refuse_taken_over();
  }
  throw StorageError(
      StorageError::Kind::lost,
      fmt::format("the database {} went back to an earlier state while it was in use: changes of "
                  "runs that were stored are not in it. Nothing more is written to it by this "
                  "process. Start llmb-report anew: it goes on where that state left off.",
                  connection().place()));
}

void PostgresqlWriterOf::outdate_tree(const std::string& path) {
  outdate_mark(connection(), path, this_process());
}

void PostgresqlWriterOf::outdate_agents() {
  connection()
      .kept(fmt::format("INSERT INTO writer_mark (name, holder, last_revision) VALUES ('{}', ?, {})"
                        " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,"
                        " claimed_at = now(), last_revision = excluded.last_revision",
                        kAgentsMark, kNoRevisionSql))
      .text(this_process())
      .run();
}

void PostgresqlWriterOf::announce(const DataChange& change) {
  if (claim_) {
    Statement& mark = connection().kept(
        "WITH before AS (SELECT last_revision FROM writer_mark WHERE name = ?1)"
        " UPDATE writer_mark SET last_revision = ?2 FROM before WHERE name = ?1"
        " RETURNING before.last_revision");
    mark.text(claim_->name).integer(change.revision);
    std::optional<std::int64_t> stored;
    if (mark.step()) stored = mark.read_integer();
    mark.reset();
    require_what_was_committed(stored);
    claim_->known = *stored;
    claim_->tried = change.revision;
  }
  announce_text(announcement_text(change));
}

}  // namespace

std::unique_ptr<OpenDatabase> open_postgresql_writer(const std::string& url,
                                                     const AdmitDatabase& admit) {
  return std::make_unique<PostgresqlWriter>(url, admit);
}

std::unique_ptr<OpenDatabase> open_postgresql_writer_of(const std::string& url,
                                                        const RootClaim& claim,
                                                        const AdmitDatabase& admit) {
  return std::make_unique<PostgresqlWriterOf>(url, claim, admit);
}

}  // namespace llmb::storage
