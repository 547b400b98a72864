#include "storage/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "parser/foundation/parse_number.h"
#include "storage/run_filter_terms.h"
#include "storage/run_rows.h"

namespace llmb::storage {
namespace {

enum class ValueKind { integer, real, text };
struct SortColumn {
  RunSortKey key;
  const char* column;
  ValueKind kind;
  bool may_be_absent = true;
};
constexpr std::array kSortColumns = {
    SortColumn{RunSortKey::id, "id", ValueKind::integer, false},
    SortColumn{RunSortKey::launched_at, "began_at", ValueKind::text, false},
    SortColumn{RunSortKey::grown_at, "grown_at", ValueKind::text, false},
    SortColumn{RunSortKey::experiment, "experiment", ValueKind::text, false},
    SortColumn{RunSortKey::status, "status", ValueKind::text, false},
    SortColumn{RunSortKey::gpu_count, "gpu_count", ValueKind::integer},
    SortColumn{RunSortKey::step_time_s_mean, "step_time_s_mean", ValueKind::real},
    SortColumn{RunSortKey::step_time_s_stddev_sample, "step_time_s_stddev_sample", ValueKind::real},
    SortColumn{RunSortKey::step_time_s_median, "step_time_s_median", ValueKind::real},
    SortColumn{RunSortKey::step_time_s_p95, "step_time_s_p95", ValueKind::real},
    SortColumn{RunSortKey::tflops_per_gpu_mean, "tflops_per_gpu_mean", ValueKind::real},
    SortColumn{RunSortKey::tokens_per_s_per_gpu, "tokens_per_s_per_gpu", ValueKind::real},
    SortColumn{RunSortKey::mfu_model_flops_reference, "mfu_model_flops_reference", ValueKind::real},
    SortColumn{RunSortKey::speed_against_reference, "speed_against_reference", ValueKind::real},
    SortColumn{RunSortKey::failure_cause, "cause_or_null", ValueKind::text},
    SortColumn{RunSortKey::last_iteration, "last_iteration", ValueKind::integer},
    SortColumn{RunSortKey::step_count, "step_count", ValueKind::integer, false},
};

const SortColumn& sort_column(RunSortKey key) {
  const auto found = std::find_if(kSortColumns.begin(), kSortColumns.end(),
                                  [key](const SortColumn& column) { return column.key == key; });
  return found == kSortColumns.end() ? kSortColumns.front() : *found;
}

// A NaN stands nowhere in an order.
template <typename Number>
std::optional<Number> parse_number(const std::string& text) {
  const auto number = parser::parse_number<Number>(text);
  return number && *number == *number ? number : std::nullopt;
}

std::optional<SqlParameter> parse_sort_value(ValueKind kind, const std::string& text) {
  switch (kind) {
    case ValueKind::integer:
      if (const auto value = parse_number<std::int64_t>(text)) return SqlParameter(*value);
      return std::nullopt;
    case ValueKind::real:
      if (const auto value = parse_number<double>(text)) return SqlParameter(*value);
      return std::nullopt;
    case ValueKind::text:
      break;
  }
  return SqlParameter(text);
}

// The shortest text that reads back as the same double.
std::string exact_text(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

RunKeyset keyset_of(const SortColumn& column, Statement& row, RunId id) {
  RunKeyset keyset;
  keyset.id = id;
  if (row.next_is_null()) return keyset;
  keyset.sort_value =
      column.kind == ValueKind::real ? exact_text(row.read_real()) : row.read_text();
  return keyset;
}

// So many runs that match a filter are looked up one by one.
constexpr std::size_t kGatheredRunsMax = 5'000;
// So many are sorted at once, which is quicker than a walk along the sort key's index.
constexpr std::size_t kSortedRunsMax = 500;
// Gathered to be counted, where run_tally does not hold what they are filtered by. Of a text all
// are: looking for it takes longer than anything else.
constexpr std::size_t kCountedRunsMax = 20'000;
// A walk that has found no page so far is given up: what matches stands together elsewhere, and is
// sorted. A walk among gathered runs reads an index only, any other one rows; sorting takes several
// times longer where run_filter does not hold the sort value.
constexpr std::int64_t kWalkedKeysMax = 5'000;
constexpr std::int64_t kWalkedRowsMax = 2'000;
constexpr std::int64_t kWalkedRowsOfUncoveredMax = 10'000;

// What is known of the runs that match before a page of them is looked for.
struct Matching {
  bool is_filtered = false;
  std::optional<std::int64_t> total;
  std::optional<std::vector<RunId>> ids;  // of all of them, where they are not too many

  bool are_sorted() const { return ids && ids->size() <= kSortedRunsMax; }
};

bool is_tallied(const RunFilter& filter) {
  return filter.experiment.empty() && filter.job_id.empty() && !filter.since &&
         (!filter.text || filter.text->empty()) && !filter.tokens_per_s_per_gpu.is_set() &&
         !filter.mfu_model_flops_reference.is_set() && !filter.speed_against_reference.is_set();
}

Matching find_matching(Connection& connection, const RunFilter& filter) {
  Matching matching;
  const Where where = where_of_all(connection.dialect(), filter);
  const std::size_t terms_of_every_list = filter.include_superseded ? 0 : 1;
  matching.is_filtered = where.terms.size() > terms_of_every_list;
  const bool has_tally = is_tallied(filter);
  if (has_tally) matching.total = count_runs(connection, filter);
  if (!matching.is_filtered || matching.total > std::int64_t{kGatheredRunsMax}) return matching;
  std::vector<RunId> ids;
  const bool has_text = filter.text && !filter.text->empty();
  const std::size_t ids_max =
      has_tally || has_text ? std::numeric_limits<std::int32_t>::max() : kCountedRunsMax;
  if (matching.total != 0) {
    Statement select(connection, "SELECT id FROM run" + where.sql() + " LIMIT ?");
    where.bind(select);
    select.integer(static_cast<std::int64_t>(ids_max + 1));
    while (select.step()) ids.push_back(select.read_integer());
  }
  if (ids.size() > ids_max) return matching;
  matching.total = static_cast<std::int64_t>(ids.size());
  if (ids.size() <= kGatheredRunsMax) matching.ids = std::move(ids);
  return matching;
}

// A part of the list: of the runs with a sort value or, after all of them, of those without.
struct Stretch {
  bool has_value = true;
  std::optional<RunKeyset> after;
  std::optional<RunKeyset> until;  // it ends with this one
};

// How a page is found: along the sort key's index, or by sorting all that match.
enum class Search { walk, sort };

struct Question {
  std::string sql;
  Where where;
};

class PageQuestion {
 public:
  PageQuestion(const SqlDialect& dialect, const RunQuery& query, const Matching& matching)
      : dialect_(dialect),
        query_(query),
        matching_(matching),
        column_(sort_column(query.sort)),
        direction_(query.descending ? " DESC" : " ASC") {}

  // Asks for id and sort value; the last parameter is the number of rows.
  Question of(const Stretch& stretch, Search search) const {
    if (search == Search::sort && !matching_.ids) return of_all_sorted(stretch);
    const bool is_walked = search == Search::walk || column_.key == RunSortKey::id;
    const std::string name = std::string(is_walked ? "" : dialect_.without_index) + column_.column;
    Where where = where_of_page(is_walked);
    add_stretch(stretch, name, where);
    return {fmt::format("SELECT id, {} FROM run{}{} LIMIT ?", column_.column, where.sql(),
                        order_by(stretch, name)),
            std::move(where)};
  }

  // The same of the run so many places behind the stretch's beginning, whether it matches or not;
  // the last parameter is that number.
  Question of_its_end(const Stretch& stretch) const {
    Where where;
    add_stretch(stretch, column_.column, where);
    return {fmt::format("SELECT id, {} FROM run{}{} LIMIT 1 OFFSET ?", column_.column, where.sql(),
                        order_by(stretch, column_.column)),
            std::move(where)};
  }

 private:
  // In words that run_filter covers where it can.
  const char* covered_column() const {
    if (column_.key == RunSortKey::launched_at) return "coalesce(launched_at, first_seen_at)";
    if (column_.key == RunSortKey::failure_cause) return "nullif(failure_cause, '')";
    return column_.column;
  }

  Question of_all_sorted(const Stretch& stretch) const {
    Where where = where_of_all(dialect_, query_.filter);
    const std::string matching = where.sql();
    Where outer;
    add_stretch(stretch, "sorted_by", outer);
    std::string sql = fmt::format(
        "WITH matching AS MATERIALIZED (SELECT id, {} AS sorted_by FROM run{})"
        " SELECT id, sorted_by FROM matching{}{} LIMIT ?",
        covered_column(), matching, outer.sql(), order_by(stretch, "sorted_by"));
    std::move(outer.parameters.begin(), outer.parameters.end(),
              std::back_inserter(where.parameters));
    return {std::move(sql), std::move(where)};
  }

  Where where_of_page(bool is_walked) const {
    if (!matching_.ids) {
      return where_of(
          dialect_, query_.filter,
          [&](std::string_view column) { return column == column_.column; }, false);
    }
    Where where;
    where.add(fmt::format("{}id{}", is_walked ? dialect_.without_index : "", dialect_.is_in_list),
              dialect_.list_text(*matching_.ids));
    return where;
  }

  void add_stretch(const Stretch& stretch, const std::string& name, Where& where) const {
    // A comparison says it, too, and is the one to begin the index with.
    const bool is_compared = stretch.after || stretch.until;
    if (!stretch.has_value) where.add(name + " IS NULL");
    if (stretch.has_value && !is_compared) where.add(name + " IS NOT NULL");
    const auto add_bound = [&](const std::optional<RunKeyset>& keyset, const char* compare) {
      if (!keyset) return;
      if (!stretch.has_value) return where.add(fmt::format("id {} ?", compare), keyset->id);
      where.add(fmt::format("({}, id) {} (?, ?)", name, compare),
                *parse_sort_value(column_.kind, *keyset->sort_value));
      where.parameters.emplace_back(keyset->id);
    };
    add_bound(stretch.after, query_.descending ? "<" : ">");
    add_bound(stretch.until, query_.descending ? ">=" : "<=");
  }

  std::string order_by(const Stretch& stretch, const std::string& name) const {
    const bool has_key = stretch.has_value && column_.key != RunSortKey::id;
    return fmt::format(" ORDER BY {}id{}", has_key ? name + direction_ + ", " : "", direction_);
  }

  const SqlDialect& dialect_;
  const RunQuery& query_;
  const Matching& matching_;
  const SortColumn& column_;
  const std::string direction_;
};

struct PageKeys {
  std::vector<RunId> ids;
  std::vector<RunKeyset> keysets;
};

// Whether run_filter holds the sort value.
bool is_covered(RunSortKey key) {
  constexpr std::array kCovered = {RunSortKey::id,
                                   RunSortKey::launched_at,
                                   RunSortKey::status,
                                   RunSortKey::gpu_count,
                                   RunSortKey::failure_cause,
                                   RunSortKey::tokens_per_s_per_gpu,
                                   RunSortKey::mfu_model_flops_reference,
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
        question_(connection.dialect(), query, matching),
        wanted_(wanted) {}

  PageKeys find() {
    if (matching_.total == 0) return {};
    const bool is_among_nulls = query_.after && !query_.after->sort_value;
    if (!is_among_nulls) append({true, query_.after, {}});
    if (keys_.ids.size() < wanted_ && column_.may_be_absent) {
      append({false, is_among_nulls ? query_.after : std::nullopt, {}});
    }
    return std::move(keys_);
  }

 private:
  void append(Stretch stretch) {
    if (matching_.are_sorted()) return ask(question_.of(stretch, Search::sort));
    if (matching_.is_filtered) stretch.until = end_of_walk(stretch);
    const std::size_t before = keys_.ids.size();
    ask(question_.of(stretch, Search::walk));
    if (!stretch.until || keys_.ids.size() == wanted_) return;
    keys_.ids.resize(before);
    keys_.keysets.resize(before);
    stretch.until.reset();
    ask(question_.of(stretch, Search::sort));
  }

  // Nothing: the walk is short.
  std::optional<RunKeyset> end_of_walk(const Stretch& stretch) {
    const Question question = question_.of_its_end(stretch);
    Statement select(connection_, question.sql);
    question.where.bind(select);
    const std::int64_t rows_max =
        is_covered(column_.key) ? kWalkedRowsMax : kWalkedRowsOfUncoveredMax;
    select.integer(matching_.ids ? kWalkedKeysMax : rows_max);
    if (!select.step()) return std::nullopt;
    const RunId id = select.read_integer();
    return keyset_of(column_, select, id);
  }

  void ask(const Question& question) {
    Statement select(connection_, question.sql);
    question.where.bind(select);
    select.integer(static_cast<std::int64_t>(wanted_ - keys_.ids.size()));
    while (select.step()) {
      const RunId id = select.read_integer();
      keys_.ids.push_back(id);
      keys_.keysets.push_back(keyset_of(column_, select, id));
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

Question experiments_question(const SqlDialect& dialect, const RunFilter& filter,
                              const std::string& after) {
  Where where = where_of_experiments(dialect, filter, after);
  std::string sql = "SELECT experiment, root_id, status, grown_at, step_time_s_mean FROM run" +
                    where.sql() + " ORDER BY experiment, root_id, grown_at, id";
  return {std::move(sql), std::move(where)};
}

}  // namespace

bool is_valid_keyset(RunSortKey sort, const RunKeyset& keyset) {
  const SortColumn& column = sort_column(sort);
  return keyset.sort_value ? parse_sort_value(column.kind, *keyset.sort_value).has_value()
                           : column.may_be_absent;
}

std::vector<std::string> walk_sql(const SqlDialect& dialect, const RunQuery& query) {
  const Matching many;
  const PageQuestion question(dialect, query, many);
  const RunKeyset some{"1", 1};
  Stretch first{true, query.after, {}};
  std::vector<std::string> texts = {question.of(first, Search::walk).sql,
                                    question.of_its_end(first).sql};
  first.until = some;
  texts.push_back(question.of(first, Search::walk).sql);
  if (sort_column(query.sort).may_be_absent) {
    const Stretch absent{false, {}, {}};
    texts.push_back(question.of(absent, Search::walk).sql);
    texts.push_back(question.of_its_end(absent).sql);
    texts.push_back(question.of({false, {}, some}, Search::walk).sql);
  }
  return texts;
}

std::string sorting_sql(const SqlDialect& dialect, const RunQuery& query) {
  return PageQuestion(dialect, query, Matching{}).of({true, query.after, {}}, Search::sort).sql;
}

std::string count_sql(const SqlDialect& dialect, const RunFilter& filter) {
  const std::string where = where_of_all(dialect, filter).sql();
  if (!is_tallied(filter)) return "SELECT count(*) FROM run" + where;
  return "SELECT CAST(coalesce(sum(runs), 0) AS bigint) FROM run_tally" + where;
}

std::string experiments_sql(const SqlDialect& dialect, const RunFilter& filter) {
  return experiments_question(dialect, filter, "").sql;
}

RunPage list_runs(Connection& connection, const RunQuery& query) {
  if (query.after && !is_valid_keyset(query.sort, *query.after)) {
    throw std::invalid_argument("the cursor does not belong to a list sorted by " +
                                std::string(run_sort_key_name(query.sort)));
  }
  const auto limit = static_cast<std::size_t>(std::clamp<std::int64_t>(query.limit, 1, 500));
  const Matching matching = find_matching(connection, query.filter);
  // One more than the page shows whether there is a next one.
  const std::size_t wanted = limit + 1;
  auto [ids, keysets] = PageSearch(connection, query, matching, wanted).find();

  RunPage page;
  if (query.wants_total) {
    page.total = matching.total ? matching.total : count_runs(connection, query.filter);
  }
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
  const Question question = experiments_question(connection.dialect(), filter, after_experiment);
  Statement select(connection, question.sql);
  question.where.bind(select);
  std::vector<ExperimentRecord> experiments;
  const auto size_max = static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, 500));
  while (select.step()) {
    std::string name = select.read_text();
    const RootId root = select.read_integer();
    const auto status = parser::run_status_from_name(select.read_text());
    const bool is_new = experiments.empty() || experiments.back().experiment != name;
    if (is_new && experiments.size() >= size_max) break;
    if (is_new || experiments.back().root_id != root) {
      experiments.push_back(ExperimentRecord{});
      experiments.back().experiment = std::move(name);
      experiments.back().root_id = root;
    }
    ExperimentRecord& experiment = experiments.back();
    ++experiment.run_count;
    if (status == parser::RunStatus::complete) ++experiment.complete_count;
    if (status == parser::RunStatus::running) ++experiment.running_count;
    experiment.last_grown_at = select.read_text();  // rises within an experiment
    const std::optional<double> mean = select.read_optional_real();
    experiment.latest_step_time_s_mean = mean;
    std::optional<double>& best = experiment.best_step_time_s_mean;
    if (status == parser::RunStatus::complete && mean && (!best || *mean < *best)) best = mean;
  }
  return experiments;
}

}  // namespace llmb::storage
