// RunCombinations: the runs of a filter by the rows of run_tally that it chooses. Those of one row
// stand together in an index, in the order in which they began, so that the newest of all, and how
// many began in a time, cost by the rows and not by the runs that match.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/first_runs.h"
#include "storage/run_page_question.h"
#include "storage/run_query.h"

namespace llmb::storage {

// Whether run_tally holds all that a filter asks for.
bool is_tallied(const RunFilter& filter);

class RunCombinations {
 public:
  // Nothing: the filter asks for what run_tally does not hold, but for a time, or chooses so many
  // rows that a scan of all runs is quicker. Connection and filter outlive it.
  static std::optional<RunCombinations> of(Connection& connection, const RunFilter& filter);

  std::int64_t run_count() const { return run_count_; }
  std::vector<RunId> ids();
  // Of a page that is sorted by launched_at.
  PageKeys first_runs(const RunQuery& query, std::size_t wanted);

 private:
  RunCombinations(Connection& connection, const RunFilter& filter)
      : connection_(connection), filter_(filter) {}
  // The rows that this filter chooses, and their runs; false where they are too many.
  bool read(const RunFilter& filter);
  bool offer(const Question& question, std::size_t wanted, FirstRuns& first);

  Connection& connection_;
  const RunFilter& filter_;
  std::vector<std::string> keys_;  // of rows with runs that match
  std::int64_t run_count_ = 0;
};

// For whoever wants to know how an engine answers: the rows, the runs of one, and those of a page.
std::string tally_sql(const SqlDialect& dialect, const RunFilter& filter);
std::vector<std::string> combination_sql(const SqlDialect& dialect, const RunQuery& query);

}  // namespace llmb::storage
