#include "storage/postgresql_database.h"

#include <fmt/format.h>

#include <string>

#include "storage/postgresql_open_database.h"
#include "storage/postgresql_schema.h"
#include "storage/writer_mark.h"

namespace llmb::storage {

using Mode = PostgresqlConnection::Mode;

bool PostgresqlDatabase::leads(const std::string& task) {
  connection_.ensure();
  const auto led = led_in_session_.find(task);
  if (led != led_in_session_.end() && led->second == connection_.session()) return true;
  if (!try_lock("task " + task)) return false;
  led_in_session_[task] = connection_.session();
  return true;
}

void PostgresqlDatabase::announce_text(const std::string& text) {
  connection_.kept(fmt::format("SELECT pg_notify({}, ?)", kChannelSql)).text(text).run();
}

std::optional<std::int64_t> PostgresqlDatabase::stored_mark(const std::string& name) {
  Statement& find = connection_.kept("SELECT last_revision FROM writer_mark WHERE name = ?");
  std::optional<std::int64_t> mark;
  if (find.text(name).step()) mark = find.read_integer();
  find.reset();
  return mark;
}

std::int64_t PostgresqlDatabase::agents_mark() {
  return stored_mark(kAgentsMark).value_or(0);
}

DatabaseBytes PostgresqlDatabase::bytes() {
  return {static_cast<std::uint64_t>(
              connection_.read_one_integer("SELECT pg_database_size(current_database())")),
          0};
}

bool PostgresqlDatabase::try_lock(const std::string& name) {
  return connection_
             .kept(
                 "SELECT pg_try_advisory_lock("
                 "hashtextextended(current_schema() || ' ' || CAST(? AS text), 0))")
             .text(name)
             .run_for_id() != 0;
}

namespace {

std::string read_channel(Connection& connection) {
  Statement select(connection, fmt::format("SELECT {}", kChannelSql));
  return select.step() ? select.read_text() : "";
}

class PostgresqlListener : public ChangeListener {
 public:
  explicit PostgresqlListener(const std::string& url) : connection_(url, Mode::read_only) {
    connection_.execute("LISTEN " + read_channel(connection_));
  }
  std::optional<DataChange> wait(std::chrono::milliseconds timeout, int wake) override {
    const auto payload = connection_.wait_for_notice(timeout, wake);
    return payload ? parse_announcement(*payload) : std::nullopt;
  }

 private:
  PostgresqlConnection connection_;
};

}  // namespace

std::unique_ptr<OpenDatabase> open_postgresql_beside_writer(const std::string& url) {
  auto database = std::make_unique<PostgresqlDatabase>(url, Mode::read_write);
  require_current_postgresql(database->connection());
  return database;
}

std::unique_ptr<ChangeListener> listen_to_postgresql(const std::string& url) {
  const std::unique_ptr<OpenDatabase> asked = open_postgresql_reader(url);
  const bool follows = asked->connection().read_one_integer("SELECT pg_is_in_recovery()") != 0;
  return follows ? nullptr : std::make_unique<PostgresqlListener>(url);
}

std::unique_ptr<OpenDatabase> open_postgresql_reader(const std::string& url) {
  auto database = std::make_unique<PostgresqlDatabase>(url, Mode::read_only);
  require_current_postgresql(database->connection());
  return database;
}

}  // namespace llmb::storage
