#include "storage/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "storage/first_runs.h"
#include "storage/run_combinations.h"
#include "storage/run_filter_terms.h"
#include "storage/run_page_question.h"
#include "storage/run_rows.h"

namespace llmb::storage {
namespace {

// So many are sorted at once, which is quicker than a walk along the sort key's index.
constexpr std::size_t kSortedRunsMax = 500;
// A walk that has found no page so far is given up: what matches stands together elsewhere, and is
// sorted. A walk among gathered runs reads an index only, any other one rows; sorting takes several
// times longer where run_filter does not hold the sort value, and more the more runs match: a walk
// of as many rows takes a third of it.
constexpr std::int64_t kWalkedKeysMax = 5'000;
constexpr std::int64_t kWalkedRowsMax = 2'000;
constexpr std::int64_t kWalkedRowsOfUncoveredMax = 10'000;
// Where sorting is quick and nobody counted what is to be sorted, a walk begins with so many rows,
// and goes on where so many of them match: then its end is near.
constexpr std::int64_t kFirstRowsOfAWalk = 500;
constexpr std::size_t kFirstMatchesMin = 3;

// What is known of the runs that match before a page of them is looked for.
struct Matching {
  bool is_filtered = false;
  std::optional<std::int64_t> total;      // nothing: more than kCountedRunsMax
  std::optional<std::vector<RunId>> ids;  // of all of them, where they are not more

  bool are_sorted() const { return ids && ids->size() <= kSortedRunsMax; }
};

// Beside the one that every list has.
bool has_terms(const Connection& connection, const RunFilter& filter) {
  const std::size_t terms_of_every_list = filter.include_superseded ? 0 : 1;
  return where_of_all(connection.dialect(), filter).terms.size() > terms_of_every_list;
}

// By an index that holds what they are filtered by, but for a text. Nothing: they are more than
// kCountedRunsMax.
std::optional<std::vector<RunId>> gather(Connection& connection, const RunFilter& filter) {
  const Question question = gathering(connection.dialect(), filter);
  Statement select(connection, question.sql);
  question.where.bind(select);
  select.integer(kCountedRunsMax + 1);
  std::vector<RunId> ids;
  while (select.step()) ids.push_back(select.read_integer());
  if (ids.size() > kCountedRunsMax) return std::nullopt;
  return ids;
}

Matching find_matching(Connection& connection, const RunFilter& filter, bool is_filtered,
                       std::optional<RunCombinations>& combinations) {
  Matching matching;
  matching.is_filtered = is_filtered;
  if (combinations) {
    matching.total = combinations->run_count();
  } else if (is_tallied(filter)) {
    matching.total = count_runs(connection, filter);
  }
  const bool are_many = matching.total > kCountedRunsMax;
  if (!matching.is_filtered || matching.total == 0 || are_many) return matching;
  matching.ids = combinations ? combinations->ids() : gather(connection, filter);
  if (matching.ids) matching.total = static_cast<std::int64_t>(matching.ids->size());
  return matching;
}

// Whether run_filter holds the sort value.
bool is_covered(RunSortKey key) {
  constexpr std::array kCovered = {RunSortKey::id,
                                   RunSortKey::launched_at,
                                   RunSortKey::status,
                                   RunSortKey::gpu_count,
                                   RunSortKey::failure_cause,
                                   RunSortKey::tokens_per_s_per_gpu,
                                   RunSortKey::mfu,
                                   RunSortKey::speed_against_reference};
  return std::find(kCovered.begin(), kCovered.end(), key) != kCovered.end();
}

class PageSearch {
 public:
  PageSearch(Connection& connection, const RunQuery& query, const Matching& matching,
             std::size_t wanted)
      : connection_(connection),
        query_(query),
        matching_(matching),
        column_(sort_column(query.sort)),
        question_(connection.dialect(), query, matching.ids ? &*matching.ids : nullptr),
        wanted_(wanted) {}

  PageKeys find() {
    if (matching_.total == 0) return {};
    const bool is_among_nulls = query_.after && !query_.after->sort_value;
    if (!is_among_nulls) append({true, query_.after, {}, {}, {}, {}});
    if (keys_.ids.size() < wanted_ && column_.may_be_absent) {
      append({false, is_among_nulls ? query_.after : std::nullopt, {}, {}, {}, {}});
    }
    return std::move(keys_);
  }

 private:
  void append(const Stretch& stretch) {
    if (matching_.are_sorted()) return ask(question_.of(stretch, PageSearchKind::sort));
    if (matching_.is_filtered && !matching_.total && is_covered(column_.key)) {
      const Walk beginning = walk(stretch, kFirstRowsOfAWalk);
      if (beginning.has_ended) return;
      if (beginning.matches < kFirstMatchesMin) {
        return ask(question_.of(stretch, PageSearchKind::sort));
      }
    }
    if (!walk(stretch, walked_max()).has_ended) ask(question_.of(stretch, PageSearchKind::sort));
  }

  struct Walk {
    bool has_ended = true;    // with the page or the stretch, and what it found is kept
    std::size_t matches = 0;  // of one that has not
  };

  Walk walk(Stretch stretch, std::int64_t rows_max) {
    if (matching_.is_filtered) stretch.until = end_of_walk(stretch, rows_max);
    const std::size_t before = keys_.ids.size();
    for (const Stretch& part : parts_of(column_.key, stretch)) {
      ask(question_.of(part, PageSearchKind::walk));
      if (keys_.ids.size() == wanted_) return {};
    }
    if (!stretch.until) return {};
    const std::size_t matches = keys_.ids.size() - before;
    keys_.ids.resize(before);
    keys_.keysets.resize(before);
    return {false, matches};
  }

  // Nothing: the walk is short.
  std::optional<RunKeyset> end_of_walk(const Stretch& stretch, std::int64_t places) {
    for (const Stretch& part : parts_of(column_.key, stretch)) {
      if (auto end = keyset_at(part, places)) return end;
      if (part.equal_value) places -= length_of(part);
    }
    return std::nullopt;
  }

  std::int64_t walked_max() const {
    if (matching_.ids) return kWalkedKeysMax;
    if (matching_.total && is_covered(column_.key)) return kWalkedRowsMax;
    return std::max(kWalkedRowsOfUncoveredMax, matching_.total.value_or(0));
  }

  std::optional<RunKeyset> keyset_at(const Stretch& stretch, std::int64_t places) {
    const Question question = question_.of_its_end(stretch);
    Statement select(connection_, question.sql);
    question.where.bind(select);
    select.integer(places);
    if (!select.step()) return std::nullopt;
    const RunId id = select.read_integer();
    return keyset_of(read_sort_value(column_, select), id);
  }

  // Which is short.
  std::int64_t length_of(const Stretch& stretch) {
    const Question question = question_.of_its_length(stretch);
    Statement count(connection_, question.sql);
    question.where.bind(count);
    return count.step() ? count.read_integer() : 0;
  }

  void ask(const Question& question) {
    Statement select(connection_, question.sql);
    question.where.bind(select);
    select.integer(static_cast<std::int64_t>(wanted_ - keys_.ids.size()));
    while (select.step()) {
      const RunId id = select.read_integer();
      keys_.ids.push_back(id);
      keys_.keysets.push_back(keyset_of(read_sort_value(column_, select), id));
    }
  }

  Connection& connection_;
  const RunQuery& query_;
  const Matching& matching_;
  const SortColumn& column_;
  const PageQuestion question_;
  const std::size_t wanted_;
  PageKeys keys_;
};

// The same from both engines, which differ in what they count besides.
RunTotal total_of(const RunFilter& filter, const std::optional<std::int64_t>& counted) {
  const bool is_exact = counted && (is_tallied(filter) || *counted <= kCountedRunsMax);
  return is_exact ? RunTotal{*counted, true} : RunTotal{kCountedRunsMax, false};
}

PageKeys find_page(Connection& connection, const RunQuery& query, std::size_t wanted,
                   RunTotal& total) {
  const bool is_filtered = has_terms(connection, query.filter);
  // Of all runs the walk along the order's index ends soon.
  auto combinations = is_filtered ? RunCombinations::of(connection, query.filter) : std::nullopt;
  if (combinations && query.sort == RunSortKey::launched_at) {
    total = total_of(query.filter, combinations->run_count());
    return combinations->first_runs(query, wanted);
  }
  const Matching matching = find_matching(connection, query.filter, is_filtered, combinations);
  total = total_of(query.filter, matching.total);
  return PageSearch(connection, query, matching, wanted).find();
}

// In the order of `ids`, which were found in this transaction.
std::vector<RunRecord> read_page(Connection& connection, const std::vector<RunId>& ids) {
  std::unordered_map<RunId, std::size_t> places;
  for (const RunId id : ids) places.emplace(id, places.size());
  std::vector<RunRecord> page(ids.size());
  for (RunRecord& run : read_listed_runs(connection, ids)) {
    page[places.at(run.id)] = std::move(run);
  }
  return page;
}

// Along run_of_experiment, which holds all that is asked for; what it does not hold, other terms
// of the filter, is looked up in run_filter once for all runs.
Where where_of_experiments(const SqlDialect& dialect, const RunFilter& filter,
                           const std::string& after) {
  Where where;
  const std::string_view unused = dialect.without_index;
  if (!filter.include_superseded) where.add(fmt::format("{}is_superseded = 0", unused));
  const bool has_one = filter.experiment.size() == 1;
  if (has_one) where.add("experiment = ?", filter.experiment.front());
  where.add("experiment > ?", after);
  RunFilter others = filter;
  if (has_one) others.experiment.clear();
  others.include_superseded = true;
  Where matching = where_of_all(dialect, others);
  if (matching.terms.empty()) return where;
  where.add(fmt::format("{}id IN (SELECT id FROM run{})", unused, matching.sql()));
  std::move(matching.parameters.begin(), matching.parameters.end(),
            std::back_inserter(where.parameters));
  return where;
}

// A row for each tree's runs of an experiment: how many, when one grew last, the best mean of
// complete ones.
Question experiments_of(Where where) {
  std::string sql =
      "SELECT experiment, root_id, count(*), count(CASE WHEN status = 'complete' THEN 1 END),"
      " count(CASE WHEN status = 'running' THEN 1 END), max(grown_at),"
      " min(CASE WHEN status = 'complete' THEN step_time_s_mean END) FROM run" +
      where.sql() + " GROUP BY experiment, root_id ORDER BY experiment, root_id";
  return {std::move(sql), std::move(where)};
}

// `gathered`: the runs that match, where they are few.
Question experiments_of_gathered(const SqlDialect& dialect, const std::vector<RunId>& gathered,
                                 const std::string& after) {
  Where where;
  where.add(fmt::format("id{}", dialect.is_in_list), dialect.list_text(gathered));
  where.add(fmt::format("{}experiment > ?", dialect.without_index), after);
  return experiments_of(std::move(where));
}

// The mean of the run that grew last, of those that match.
Question latest_mean_question(const SqlDialect& dialect, const RunFilter& filter,
                              const ExperimentRecord& experiment) {
  Where where;
  where.add("experiment = ?", experiment.experiment);
  where.add("root_id = ?", experiment.root_id);
  where.add("grown_at = ?", experiment.last_grown_at);
  RunFilter others = filter;
  others.experiment.clear();
  Where matching = where_of(
      dialect, others, [](std::string_view) { return false; }, false);
  std::move(matching.terms.begin(), matching.terms.end(), std::back_inserter(where.terms));
  std::move(matching.parameters.begin(), matching.parameters.end(),
            std::back_inserter(where.parameters));
  return {"SELECT step_time_s_mean FROM run" + where.sql() + " ORDER BY id DESC LIMIT 1",
          std::move(where)};
}

}  // namespace

bool is_valid_keyset(RunSortKey sort, const RunKeyset& keyset) {
  const SortColumn& column = sort_column(sort);
  return keyset.sort_value ? parse_sort_value(column.kind, *keyset.sort_value).has_value()
                           : column.may_be_absent;
}

std::vector<std::string> walk_sql(const SqlDialect& dialect, const RunQuery& query) {
  const PageQuestion question(dialect, query, nullptr);
  std::vector<std::string> texts;
  const auto add = [&](const Stretch& stretch) {
    for (const Stretch& part : parts_of(query.sort, stretch)) {
      texts.push_back(question.of(part, PageSearchKind::walk).sql);
      texts.push_back(question.of_its_end(part).sql);
      if (part.equal_value) texts.push_back(question.of_its_length(part).sql);
    }
  };
  add({true, query.after, {}, {}, {}, {}});
  if (sort_column(query.sort).may_be_absent) add({false, {}, {}, {}, {}, {}});
  return texts;
}

std::vector<std::string> ended_walk_sql(const SqlDialect& dialect, const RunQuery& query,
                                        const RunKeyset& end) {
  const PageQuestion question(dialect, query, nullptr);
  std::vector<std::string> texts;
  const auto add = [&](const Stretch& stretch) {
    for (const Stretch& part : parts_of(query.sort, stretch)) {
      texts.push_back(question.of(part, PageSearchKind::walk).sql);
    }
  };
  add({true, query.after, end, {}, {}, {}});
  if (sort_column(query.sort).may_be_absent) add({false, {}, end, {}, {}, {}});
  return texts;
}

std::string sorting_sql(const SqlDialect& dialect, const RunQuery& query) {
  return PageQuestion(dialect, query, nullptr)
      .of({true, query.after, {}, {}, {}, {}}, PageSearchKind::sort)
      .sql;
}

std::string count_sql(const SqlDialect& dialect, const RunFilter& filter) {
  const std::string where = where_of_all(dialect, filter).sql();
  if (!is_tallied(filter)) return "SELECT count(*) FROM run" + where;
  return "SELECT CAST(coalesce(sum(runs), 0) AS bigint) FROM run_tally" + where;
}

std::string experiments_sql(const SqlDialect& dialect, const RunFilter& filter) {
  return experiments_of(where_of_experiments(dialect, filter, "")).sql;
}

std::string latest_mean_sql(const SqlDialect& dialect, const RunFilter& filter) {
  return latest_mean_question(dialect, filter, {}).sql;
}

RunPage list_runs(Connection& connection, const RunQuery& query) {
  if (query.after && !is_valid_keyset(query.sort, *query.after)) {
    throw std::invalid_argument("the cursor does not belong to a list sorted by " +
                                std::string(run_sort_key_name(query.sort)));
  }
  const auto limit = static_cast<std::size_t>(std::clamp<std::int64_t>(query.limit, 1, 500));
  // One more than the page shows whether there is a next one.
  const std::size_t wanted = limit + 1;
  RunPage page;
  auto [ids, keysets] = find_page(connection, query, wanted, page.total);
  if (ids.size() == wanted) {
    ids.pop_back();
    page.next = keysets[limit - 1];
  }
  page.runs = read_page(connection, ids);
  return page;
}

std::int64_t count_runs(Connection& connection, const RunFilter& filter) {
  Statement count(connection, count_sql(connection.dialect(), filter));
  where_of_all(connection.dialect(), filter).bind(count);
  return count.step() ? count.read_integer() : 0;
}

std::vector<ExperimentRecord> list_experiments(Connection& connection, const RunFilter& filter,
                                               std::int64_t limit,
                                               const std::string& after_experiment) {
  const SqlDialect& dialect = connection.dialect();
  Matching matching;
  if (has_terms(connection, filter)) {
    auto combinations = RunCombinations::of(connection, filter);
    matching = find_matching(connection, filter, true, combinations);
  }
  if (matching.total == 0) return {};
  const Question question =
      matching.ids ? experiments_of_gathered(dialect, *matching.ids, after_experiment)
                   : experiments_of(where_of_experiments(dialect, filter, after_experiment));
  Statement select(connection, question.sql);
  question.where.bind(select);
  std::vector<ExperimentRecord> experiments;
  const auto size_max = static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, 500));
  while (select.step()) {
    ExperimentRecord experiment;
    experiment.experiment = select.read_text();
    const bool is_new =
        experiments.empty() || experiments.back().experiment != experiment.experiment;
    if (is_new && experiments.size() >= size_max) break;
    experiment.root_id = select.read_integer();
    experiment.run_count = select.read_integer();
    experiment.complete_count = select.read_integer();
    experiment.running_count = select.read_integer();
    experiment.last_grown_at = select.read_text();
    experiment.best_step_time_s_mean = select.read_optional_real();
    experiments.push_back(std::move(experiment));
  }
  if (experiments.empty()) return experiments;
  Statement find(connection, latest_mean_sql(dialect, filter));
  for (ExperimentRecord& experiment : experiments) {
    latest_mean_question(dialect, filter, experiment).where.bind(find);
    if (find.step()) experiment.latest_step_time_s_mean = find.read_optional_real();
    find.reset();
  }
  return experiments;
}

}  // namespace llmb::storage
