#include "storage/run_choices.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmb::storage {
namespace {

std::string question_of(const char* column) {
  return fmt::format(
      "SELECT DISTINCT {0} FROM run_tally WHERE is_superseded = 0 AND runs > 0 AND {0} IS NOT NULL",
      column);
}

// The order is the program's: that of text is each database's own.
template <typename Value>
void put_in_order(std::vector<Value>& values) {
  std::sort(values.begin(), values.end());
  if (values.size() > kChoicesMax) values.resize(kChoicesMax);
}

std::vector<std::string> texts_of(Connection& connection, const char* column) {
  std::vector<std::string> values;
  Statement select(connection, question_of(column));
  while (select.step()) {
    std::string value = select.read_text();
    if (!value.empty()) values.push_back(std::move(value));
  }
  put_in_order(values);
  return values;
}

std::vector<std::int64_t> numbers_of(Connection& connection, const char* column) {
  std::vector<std::int64_t> values;
  Statement select(connection, question_of(column));
  while (select.step()) values.push_back(select.read_integer());
  put_in_order(values);
  return values;
}

}  // namespace

RunChoices read_run_choices(Connection& connection) {
  return {.workload = texts_of(connection, "workload"),
          .model_size = texts_of(connection, "model_size"),
          .dtype = texts_of(connection, "dtype"),
          .gpu_type = texts_of(connection, "gpu_type"),
          .gpu_count = numbers_of(connection, "gpu_count"),
          .release = texts_of(connection, "release"),
          .cluster = texts_of(connection, "cluster"),
          .failure_cause = texts_of(connection, "failure_cause")};
}

}  // namespace llmb::storage
