// PostgresqlStatement: a statement in a PostgresqlSession. One that is kept is prepared in the
// session in which it is first run, and in each that follows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/connection.h"
#include "storage/postgresql_result.h"
#include "storage/postgresql_session.h"
#include "storage/postgresql_text.h"

namespace llmb::storage {

class PostgresqlStatement : public EngineStatement {
 public:
  // `name`: empty of a statement that is run once.
  PostgresqlStatement(PostgresqlSession& session, std::string_view sql, std::string name)
      : session_(session), sql_(with_numbered_parameters(sql)), name_(std::move(name)) {}

  void bind_integer(int parameter, std::int64_t value) override;
  void bind_real(int parameter, double value) override;
  void bind_text(int parameter, std::string_view value, bool is_borrowed) override;
  void bind_bytes(int parameter, std::string_view value) override;
  void bind_null(int parameter) override;

  bool step() override;
  void run() override;
  void reset() override;

  bool is_null(int column) const override;
  std::int64_t integer(int column) const override;
  double real(int column) const override;
  std::string text(int column) const override;
  std::string bytes(int column) const override;

 private:
  struct Value {
    std::optional<std::string> bytes;
    int format = 0;
  };
  // As libpq takes them; they stand as long as the values.
  struct Parameters {
    std::vector<const char*> values;
    std::vector<int> lengths;
    std::vector<int> formats;
  };

  void set(int parameter, std::optional<std::string> bytes, int format);
  std::string_view raw(int column) const;
  Parameters parameters() const;
  PostgresqlResult ask();
  void send();

  PostgresqlSession& session_;
  NumberedSql sql_;
  std::string name_;
  std::uint64_t prepared_in_session_ = 0;
  std::vector<Value> values_;
  PostgresqlResult rows_;
  int row_ = -1;
};

}  // namespace llmb::storage
