#include "storage/database_check.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "parser/layout/run_path.h"
#include "parser/reader/reading.h"
#include "storage/copy_mark.h"
#include "storage/database_place.h"
#include "storage/open_database.h"
#include "storage/schema.h"
#include "storage/sqlite_connection.h"
#include "storage/step_chunks.h"
#include "storage/table_layout.h"

namespace llmb::storage {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCountRuns = "SELECT count(*) FROM run";
constexpr const char* kCountSteps = "SELECT coalesce(sum(step_count), 0) FROM run";

std::uint64_t bytes_of(const fs::path& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  return error ? 0 : bytes;
}

std::uint64_t free_bytes_at(const fs::path& file) {
  struct statvfs found {};
  const fs::path folder = file.parent_path();
  if (statvfs(folder.c_str(), &found) != 0) {
    throw StorageError(StorageError::Kind::io, "cannot ask how much room " + folder.string() +
                                                   " has: " + std::strerror(errno) + ".");
  }
  return std::uint64_t{found.f_bavail} * found.f_frsize;
}

// SQLite gives up on a page that makes no sense; what it had said before, and why it gave up, is
// the finding.
std::vector<std::string> find_damage(SqliteConnection& connection, CheckDepth depth) {
  const std::string pragma = depth == CheckDepth::quick ? "quick_check" : "integrity_check";
  std::vector<std::string> damage;
  try {
    Statement check(connection, fmt::format("PRAGMA {}({})", pragma, kFindingsMax));
    while (check.step()) {
      std::string found = check.read_text();
      if (found != "ok") damage.push_back(std::move(found));
    }
  } catch (const StorageError& error) {
    damage.emplace_back(error.what());
  }
  return damage;
}

std::vector<std::string> find_dangling(Connection& connection) {
  std::vector<std::string> dangling;
  Statement check(connection, "PRAGMA foreign_key_check");
  while (static_cast<int>(dangling.size()) < kFindingsMax && check.step()) {
    std::string sentence = "a row of " + check.read_text();
    if (const auto row = check.read_optional_integer()) sentence += fmt::format(" ({})", *row);
    sentence.append(" refers to a row of ").append(check.read_text());
    dangling.push_back(sentence.append(" that is not there"));
  }
  return dangling;
}

// A database of an earlier version lacks some.
bool has_table(Connection& connection, std::string_view table) {
  const std::vector<std::string> names = table_names(connection);
  return std::find(names.begin(), names.end(), table) != names.end();
}

std::vector<std::string> find_miscounted(Connection& connection, bool has_chunks) {
  std::vector<std::string> miscounted;
  const std::string_view in_chunks =
      has_chunks ? "(SELECT coalesce(sum(step_count), 0) FROM step_chunk AS c"
                   " WHERE c.run_id = run.id)"
                 : "0";
  Statement count(
      connection,
      fmt::format(
          "SELECT id, step_count, counted FROM (SELECT id, step_count, {} +"
          " (SELECT count(*) FROM step_sample AS s WHERE s.run_id = run.id) AS counted FROM run)"
          " AS found WHERE step_count <> counted ORDER BY id LIMIT {}",
          in_chunks, kFindingsMax));
  while (count.step()) {
    const std::int64_t run = count.read_integer();
    const std::int64_t said = count.read_integer();
    const std::int64_t stored = count.read_integer();
    miscounted.push_back(fmt::format("run {} says {} steps, and {} are stored", run, said, stored));
  }
  return miscounted;
}

std::vector<std::string> find_unreadable_chunks(Connection& connection) {
  std::vector<std::string> unreadable;
  Statement runs(connection, "SELECT DISTINCT run_id FROM step_chunk ORDER BY run_id");
  while (static_cast<int>(unreadable.size()) < kFindingsMax && runs.step()) {
    const RunId run = runs.read_integer();
    for (const ChunkRange& chunk : chunks_from(connection, run, kBeforeAllSteps)) {
      if (static_cast<int>(unreadable.size()) == kFindingsMax) break;
      try {
        read_chunk(connection, run, chunk);
      } catch (const StorageError& error) {
        unreadable.emplace_back(error.what());
      }
    }
  }
  return unreadable;
}

// What lists count by, beside the runs themselves.
std::vector<std::string> find_wrong_tallies(Connection& connection) {
  constexpr std::string_view kColumns =
      "is_superseded, root_id, cluster, workload, model_size, dtype, gpu_type, gpu_count, release,"
      " status, failure_cause, marks";
  const std::string counted =
      fmt::format("SELECT {0}, count(*) AS runs FROM run GROUP BY {0}", kColumns);
  const std::string tallied = fmt::format("SELECT {}, runs FROM run_tally", kColumns);
  const std::int64_t wrong = connection.read_one_integer(
      fmt::format("SELECT count(*) FROM (SELECT * FROM ({0} EXCEPT {1}) AS lacking"
                  " UNION ALL SELECT * FROM ({1} EXCEPT {0}) AS wrong) AS found",
                  counted, tallied));
  if (wrong == 0) return {};
  return {
      fmt::format("run_tally differs from the runs in {} rows: lists show wrong totals", wrong)};
}

// Nothing where a table of a file cannot be read; why it was that of the first is damage.
class Questions {
 public:
  explicit Questions(DatabaseCheck& check) : check_(check) {}

  template <typename Question>
  auto ask(const Question& question) -> std::optional<decltype(question())> {
    try {
      return question();
    } catch (const StorageError& unreadable) {
      if (!check_.is_file || unreadable.kind == StorageError::Kind::busy_elsewhere) throw;
      if (!has_failed_) check_.damage.emplace_back(unreadable.what());
      has_failed_ = true;
      return std::nullopt;
    }
  }

 private:
  DatabaseCheck& check_;
  bool has_failed_ = false;
};

std::vector<CheckedRoot> watched_roots(Connection& connection) {
  static constexpr std::array<std::string_view, 3> kFolders = {"", parser::kTreeFolders[0],
                                                               parser::kTreeFolders[1]};
  std::string sql =
      "SELECT path, files_seen > 0 OR EXISTS (SELECT 1 FROM run WHERE run.root_id = root.id)";
  for (const std::string_view folder : kFolders) {
    sql += fmt::format(
        ", EXISTS (SELECT 1 FROM run WHERE run.root_id = root.id AND is_superseded = 0"
        " AND vanished_at IS NULL AND relative_path LIKE '{}%')",
        folder.empty() ? "" : fmt::format("{}/", folder));
  }
  std::vector<CheckedRoot> roots;
  Statement select(connection, sql + " FROM root WHERE pushed_from = '' ORDER BY id");
  while (select.step()) {
    CheckedRoot root;
    root.path = select.read_text();
    root.was_read = select.read_boolean();
    for (const std::string_view folder : kFolders) {
      if (select.read_boolean()) root.folders_with_logs.emplace_back(folder);
    }
    roots.push_back(std::move(root));
  }
  return roots;
}

std::vector<std::string> parked_logs(Connection& connection) {
  std::vector<std::string> parked;
  Statement select(connection,
                   "SELECT root.path, relative_path, reason FROM parked_file"
                   " JOIN root ON root.id = root_id ORDER BY parked_at DESC, relative_path");
  std::int64_t count = 0;
  while (select.step()) {
    if (++count > kFindingsMax) continue;
    const std::string root = select.read_text();
    const std::string log = select.read_text();
    parked.push_back(fmt::format("{}/{}: {}", root, log, select.read_text()));
  }
  if (count > kFindingsMax) parked.push_back(fmt::format("and {} more", count - kFindingsMax));
  return parked;
}

bool knows_readings(Connection& connection) {
  const TableLayout run = read_layout(connection, "run");
  return std::any_of(run.columns.begin(), run.columns.end(),
                     [](const TableColumn& column) { return column.name == "reading"; });
}

EarlierReadings count_earlier_readings(Connection& connection) {
  EarlierReadings earlier;
  Statement count(connection,
                  "SELECT pushed_from <> '', count(*) FROM run JOIN root ON root.id = root_id"
                  " WHERE reading < ? AND is_superseded = 0 AND vanished_at IS NULL"
                  " GROUP BY pushed_from <> ''");
  count.integer(parser::kReading);
  while (count.step()) {
    std::int64_t& runs = count.read_boolean() ? earlier.pushed : earlier.watched;
    runs = count.read_integer();
  }
  return earlier;
}

void read_contents(Connection& connection, CheckDepth depth, DatabaseCheck& check) {
  Questions questions(check);
  if (check.is_file) {
    check.dangling = questions.ask([&] { return find_dangling(connection); });
  }
  check.runs = questions.ask([&] { return connection.read_one_integer(kCountRuns); });
  check.steps = questions.ask([&] { return connection.read_one_integer(kCountSteps); });
  check.roots = questions.ask([&] { return watched_roots(connection); });
  check.parked = questions.ask([&] { return parked_logs(connection); });
  if (questions.ask([&] { return knows_readings(connection); }).value_or(false)) {
    check.earlier_readings = questions.ask([&] { return count_earlier_readings(connection); });
  }
  if (depth == CheckDepth::quick) return;
  const auto has = [&](std::string_view table) {
    return questions.ask([&] { return has_table(connection, table); }).value_or(false);
  };
  const bool has_chunks = has("step_chunk");
  check.miscounted = questions.ask([&] { return find_miscounted(connection, has_chunks); });
  if (has_chunks) {
    const auto unreadable = questions.ask([&] { return find_unreadable_chunks(connection); });
    if (unreadable) check.damage.insert(check.damage.end(), unreadable->begin(), unreadable->end());
  }
  if (has("run_tally")) {
    check.wrong_tallies = questions.ask([&] { return find_wrong_tallies(connection); });
  }
}

DatabaseCheck check_postgresql(const std::string& url, CheckDepth depth) {
  const std::unique_ptr<OpenDatabase> database = open_reader(url);
  DatabaseCheck check;
  check.is_file = false;
  check.database_bytes = database->bytes().database;
  read_contents(database->connection(), depth, check);
  return check;
}

DatabaseCheck check_file(const std::string& path, CheckDepth depth) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (error) {
    throw StorageError(StorageError::Kind::io,
                       "cannot read the database " + path + ": " + error.message() + ".");
  }
  SqliteConnection connection(file.string(), SqliteConnection::Mode::read_only);
  connection.execute("PRAGMA query_only = ON");
  DatabaseCheck check;
  check.schema_version_newest = static_cast<std::int64_t>(all_migrations().size());
  check.schema_version = require_our_schema(connection);
  refuse_half_copied(connection);
  check.database_bytes = bytes_of(file);
  check.wal_bytes = bytes_of(file.string() + "-wal");
  check.disk_free_bytes = free_bytes_at(file);
  check.has_page_checksums = connection.has_page_checksums();
  if (check.is_empty()) return check;
  for (const std::string& page : connection.changed_pages(kFindingsMax)) {
    check.damage.push_back(fmt::format("{} is not as llmb-report wrote it", page));
  }
  if (check.damage.empty()) check.damage = find_damage(connection, depth);
  read_contents(connection, depth, check);
  return check;
}

}  // namespace

DatabaseCheck check_database(const std::string& place, CheckDepth depth) {
  return is_postgresql(place) ? check_postgresql(place, depth) : check_file(place, depth);
}

}  // namespace llmb::storage
