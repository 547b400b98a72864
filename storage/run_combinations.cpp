#include "storage/run_combinations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "storage/run_filter_terms.h"

namespace llmb::storage {
namespace {

bool is_tallied_but_for_time(const RunFilter& filter) {
  return filter.experiment.empty() && filter.job_id.empty() && !filter.has_text() &&
         !filter.tokens_per_s_per_gpu.is_set() && !filter.mfu.is_set() &&
         !filter.speed_against_reference.is_set();
}

RunFilter at_any_time(RunFilter filter) {
  filter.since.reset();
  filter.before.reset();
  return filter;
}

// Its last parameter is the number of rows.
Question tally_question(const SqlDialect& dialect, const RunFilter& filter) {
  Where where = where_of_all(dialect, at_any_time(filter));
  Where times;
  times.add_times(filter, "began_at", "began_at");
  where.parameters.insert(where.parameters.begin(), times.parameters.begin(),
                          times.parameters.end());
  const std::string runs = filter.has_time() ? fmt::format(fmt::runtime(dialect.runs_in_time),
                                                           fmt::join(times.terms, " AND "))
                                             : "runs";
  return {fmt::format("SELECT key, {} FROM run_tally{} LIMIT ?", runs, where.sql()),
          std::move(where)};
}

}  // namespace

bool is_tallied(const RunFilter& filter) {
  return is_tallied_but_for_time(filter) && !filter.has_time();
}

std::optional<RunCombinations> RunCombinations::of(Connection& connection,
                                                   const RunFilter& filter) {
  if (!is_tallied_but_for_time(filter)) return std::nullopt;
  RunCombinations found(connection, filter);
  if (!found.read(at_any_time(filter))) return std::nullopt;
  // Row by row, so only where these are few.
  if (filter.has_time() && !found.read(filter)) return std::nullopt;
  return found;
}

bool RunCombinations::read(const RunFilter& filter) {
  keys_.clear();
  run_count_ = 0;
  const Question question = tally_question(connection_.dialect(), filter);
  Statement select(connection_, question.sql);
  question.where.bind(select);
  const std::int64_t combinations_max = connection_.dialect().combinations_max;
  select.integer(combinations_max + 1);
  std::int64_t combinations = 0;
  while (select.step()) {
    std::string key = select.read_text();
    const std::int64_t runs = select.read_integer();
    run_count_ += runs;
    if (runs > 0) keys_.push_back(std::move(key));
    ++combinations;
  }
  return combinations <= combinations_max;
}

std::vector<RunId> RunCombinations::ids() {
  std::vector<RunId> ids;
  for (const std::string& key : keys_) {
    const Question question = ids_of_combination(connection_.dialect(), filter_, key);
    Statement& select = connection_.kept(question.sql);
    question.where.bind(select);
    while (select.step()) ids.push_back(select.read_integer());
  }
  return ids;
}

PageKeys RunCombinations::first_runs(const RunQuery& query, std::size_t wanted) {
  const PageQuestion questions(connection_.dialect(), query, nullptr);
  const std::vector<Stretch> parts = parts_of(query.sort, {true, query.after, {}, {}, {}, {}});
  FirstRuns first(query, wanted);
  for (const std::string& key : keys_) {
    for (const Stretch& part : parts) {
      if (!offer(questions.of_combination(key, part), wanted, first)) break;
    }
  }
  return first.take();
}

// False: of those that follow none is one of the first.
bool RunCombinations::offer(const Question& question, std::size_t wanted, FirstRuns& first) {
  Statement& select = connection_.kept(question.sql);
  question.where.bind(select);
  select.integer(static_cast<std::int64_t>(wanted));
  bool is_first = true;
  while (is_first && select.step()) {
    const RunId id = select.read_integer();
    is_first = first.offer(id, read_sort_value(sort_column(RunSortKey::launched_at), select));
  }
  select.reset();
  return is_first;
}

std::vector<std::string> combination_sql(const SqlDialect& dialect, const RunQuery& query) {
  const PageQuestion questions(dialect, query, nullptr);
  std::vector<std::string> texts = {ids_of_combination(dialect, query.filter, "").sql};
  for (const Stretch& part : parts_of(query.sort, {true, query.after, {}, {}, {}, {}})) {
    texts.push_back(questions.of_combination("", part).sql);
  }
  return texts;
}

std::string tally_sql(const SqlDialect& dialect, const RunFilter& filter) {
  return tally_question(dialect, filter).sql;
}

}  // namespace llmb::storage
