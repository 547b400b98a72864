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

// Reads one column after another, and keeps the names of those that were cut.
class ChoiceReader {
 public:
  explicit ChoiceReader(Connection& connection) : connection_(connection) {}

  std::vector<std::string> texts(const char* column) {
    std::vector<std::string> values;
    Statement select(connection_, question_of(column));
    while (select.step()) {
      std::string value = select.read_text();
      if (!value.empty()) values.push_back(std::move(value));
    }
    put_in_order(values, column);
    return values;
  }

  std::vector<std::int64_t> numbers(const char* column) {
    std::vector<std::int64_t> values;
    Statement select(connection_, question_of(column));
    while (select.step()) values.push_back(select.read_integer());
    put_in_order(values, column);
    return values;
  }

  std::vector<std::string> take_cut() { return std::move(cut_); }

 private:
  // The order is the program's: that of text is each database's own.
  template <typename Value>
  void put_in_order(std::vector<Value>& values, const char* column) {
    std::sort(values.begin(), values.end());
    if (values.size() <= kChoicesMax) return;
    values.resize(kChoicesMax);
    cut_.emplace_back(column);
  }

  Connection& connection_;
  std::vector<std::string> cut_;
};

}  // namespace

RunChoices read_run_choices(Connection& connection) {
  ChoiceReader read(connection);
  RunChoices choices{.workload = read.texts("workload"),
                     .model_size = read.texts("model_size"),
                     .dtype = read.texts("dtype"),
                     .gpu_type = read.texts("gpu_type"),
                     .gpu_count = read.numbers("gpu_count"),
                     .release = read.texts("release"),
                     .cluster = read.texts("cluster"),
                     .failure_cause = read.texts("failure_cause"),
                     .cut = {}};
  choices.cut = read.take_cut();
  return choices;
}

}  // namespace llmb::storage
