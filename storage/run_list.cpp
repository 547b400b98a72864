#include "storage/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "parser/foundation/parse_number.h"
#include "storage/listed_marks.h"
#include "storage/run_rows.h"

namespace llmb::storage {
namespace {

using Parameter = std::variant<std::int64_t, double, std::string>;

constexpr const char* kNoRun = "1 = 0";

// A longer text is in no path.
constexpr std::size_t kTextFilterBytesMax = 4'096;

struct Where {
  std::vector<std::string> terms;
  std::vector<Parameter> parameters;

  void add(std::string term) { terms.push_back(std::move(term)); }
  void add(std::string term, Parameter parameter) {
    terms.push_back(std::move(term));
    parameters.push_back(std::move(parameter));
  }
  std::string sql() const {
    std::string text;
    for (const std::string& term : terms) text += (text.empty() ? " WHERE " : " AND ") + term;
    return text;
  }
  void bind(Statement& statement) const {
    for (const Parameter& parameter : parameters) {
      if (const auto* integer = std::get_if<std::int64_t>(&parameter)) statement.integer(*integer);
      if (const auto* real = std::get_if<double>(&parameter)) statement.real(*real);
      if (const auto* text = std::get_if<std::string>(&parameter)) statement.text(*text);
    }
  }
};

std::string like_pattern(const std::string& text) {
  std::string pattern = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

// The filter as terms. SqlDialect::without_index stands before each column but those for which
// `may_drive` is true. With several values a column drives only where `lists_may_drive`: along the
// order of its own index they would have to be sorted.
template <typename MayDrive>
class FilterTerms {
 public:
  FilterTerms(const SqlDialect& dialect, const RunFilter& filter, MayDrive may_drive,
              bool lists_may_drive)
      : dialect_(dialect),
        filter_(filter),
        may_drive_(may_drive),
        lists_may_drive_(lists_may_drive) {}

  Where make() {
    if (!filter_.include_superseded) where_.add(column_of("is_superseded", false) + " = 0");
    add_any("experiment", filter_.experiment);
    add_any("job_id", filter_.job_id);
    add_any("workload", filter_.workload);
    add_any("model_size", filter_.model_size);
    add_any("dtype", filter_.dtype);
    add_any("gpu_type", filter_.gpu_type);
    add_any("gpu_count", filter_.gpu_count);
    add_any("release", filter_.release);
    add_any("cluster", filter_.cluster);
    add_any("root_id", filter_.root_id);
    std::vector<std::string> statuses;
    for (const auto status : filter_.status) statuses.emplace_back(parser::run_status_name(status));
    add_any("status", statuses);
    add_any("failure_cause", filter_.failure_cause);
    add_marks();
    add_range("tokens_per_s_per_gpu", filter_.tokens_per_s_per_gpu);
    add_range("mfu_model_flops_reference", filter_.mfu_model_flops_reference);
    add_range("speed_against_reference", filter_.speed_against_reference);
    add_since();
    add_text();
    return std::move(where_);
  }

 private:
  std::string column_of(const char* name, bool drives) const {
    return std::string(drives ? "" : dialect_.without_index) + name;
  }

  template <typename Value>
  void add_any(const char* name, const std::vector<Value>& values) {
    if (values.empty()) return;
    const bool drives = may_drive_(name) && (values.size() == 1 || lists_may_drive_);
    const std::string column = column_of(name, drives);
    if (values.size() == 1) return where_.add(column + " = ?", values.front());
    std::string places;
    for (const Value& value : values) {
      places += places.empty() ? "?" : ", ?";
      where_.parameters.emplace_back(value);
    }
    where_.add(column + " IN (" + places + ")");
  }

  void add_marks() {
    const std::int64_t bits = bits_of_marks(filter_.marks);
    if (bits != 0) {
      const char* const unmarked = filter_.is_unmarked ? " OR marks = 0)" : ")";
      where_.add(std::string("((marks & ?) <> 0") + unmarked, bits);
    } else if (filter_.is_unmarked || !filter_.marks.empty()) {
      where_.add(filter_.is_unmarked ? "marks = 0" : kNoRun);
    }
  }

  void add_range(const char* name, const NumberRange& range) {
    const std::string column = column_of(name, may_drive_(name));
    if (range.at_least) where_.add(column + " >= ?", *range.at_least);
    if (range.at_most) where_.add(column + " <= ?", *range.at_most);
  }

  void add_since() {
    if (!filter_.since) return;
    // In the second words run_filter covers it: SQLite reads a generated column from the row.
    where_.add(
        may_drive_("began_at") ? "began_at >= ?" : "coalesce(launched_at, first_seen_at) >= ?",
        *filter_.since);
  }

  void add_text() {
    if (!filter_.text || filter_.text->empty()) return;
    if (filter_.text->size() > kTextFilterBytesMax) return where_.add(kNoRun);
    const std::string pattern = like_pattern(*filter_.text);
    where_.add(fmt::format("(experiment {0} ? ESCAPE '\\' OR relative_path {0} ? ESCAPE '\\')",
                           dialect_.like),
               pattern);
    where_.parameters.emplace_back(pattern);
  }

  const SqlDialect& dialect_;
  const RunFilter& filter_;
  MayDrive may_drive_;
  bool lists_may_drive_;
  Where where_;
};

template <typename MayDrive>
Where where_of(const SqlDialect& dialect, const RunFilter& filter, MayDrive may_drive,
               bool lists_may_drive) {
  return FilterTerms<MayDrive>(dialect, filter, may_drive, lists_may_drive).make();
}

// Of all runs: by the one index with few runs to a value, else through run_filter, which covers
// all of them but the text.
Where where_of_all(const SqlDialect& dialect, const RunFilter& filter) {
  const bool has_narrow = !filter.experiment.empty() || !filter.job_id.empty();
  return where_of(
      dialect, filter,
      [&](std::string_view column) {
        if (!filter.job_id.empty()) return column == "job_id";
        return column == (has_narrow ? "experiment" : "workload");
      },
      true);
}

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

std::optional<Parameter> parse_sort_value(ValueKind kind, const std::string& text) {
  switch (kind) {
    case ValueKind::integer:
      if (const auto value = parse_number<std::int64_t>(text)) return Parameter(*value);
      return std::nullopt;
    case ValueKind::real:
      if (const auto value = parse_number<double>(text)) return Parameter(*value);
      return std::nullopt;
    case ValueKind::text:
      break;
  }
  return Parameter(text);
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

// So many runs that match a filter are gathered before a page of them is found; of more, a walk
// along the sort key's index is expected to find a page soon.
constexpr std::size_t kGatheredRunsMax = 5'000;
// So many are sorted, which is quicker than the walk.
constexpr std::size_t kSortedRunsMax = 500;

using GatheredRuns = std::optional<std::vector<RunId>>;

// The runs that match; nothing where all do, or more than kGatheredRunsMax.
GatheredRuns gather_runs(Connection& connection, const RunFilter& filter) {
  const Where where = where_of_all(connection.dialect(), filter);
  const std::size_t terms_of_every_list = filter.include_superseded ? 0 : 1;
  if (where.terms.size() == terms_of_every_list) return std::nullopt;
  Statement select(connection, "SELECT id FROM run" + where.sql() + " LIMIT ?");
  where.bind(select);
  select.integer(static_cast<std::int64_t>(kGatheredRunsMax + 1));
  std::vector<RunId> ids;
  while (select.step()) ids.push_back(select.read_integer());
  if (ids.size() > kGatheredRunsMax) return std::nullopt;
  return ids;
}

bool are_sorted(const GatheredRuns& gathered) {
  return gathered && gathered->size() <= kSortedRunsMax;
}

Where where_of_page(const SqlDialect& dialect, const RunQuery& query,
                    const GatheredRuns& gathered) {
  if (!gathered) {
    const std::string_view sorted_by = sort_column(query.sort).column;
    return where_of(
        dialect, query.filter, [&](std::string_view column) { return column == sorted_by; }, false);
  }
  Where where;
  where.add(
      fmt::format("{}id{}", are_sorted(gathered) ? "" : dialect.without_index, dialect.is_in_list),
      dialect.list_text(*gathered));
  return where;
}

// Runs of one half of the list: those with a sort value, or, after all of them, those without.
struct Half {
  bool has_value;
  std::optional<RunKeyset> after;
};

struct Question {
  std::string sql;
  Where where;
};

// Asks for id and sort value; the last parameter is the number of rows.
Question question_of(const SqlDialect& dialect, const RunQuery& query, const GatheredRuns& gathered,
                     const Half& half) {
  const SortColumn& column = sort_column(query.sort);
  const bool is_walked = !are_sorted(gathered) || column.key == RunSortKey::id;
  const std::string name = std::string(is_walked ? "" : dialect.without_index) + column.column;
  const char* compare = query.descending ? " < " : " > ";
  Where where = where_of_page(dialect, query, gathered);
  where.add(name + (half.has_value ? " IS NOT NULL" : " IS NULL"));
  if (half.after && half.has_value) {
    where.add("(" + name + ", id)" + compare + "(?, ?)",
              *parse_sort_value(column.kind, *half.after->sort_value));
    where.parameters.emplace_back(half.after->id);
  } else if (half.after) {
    where.add(std::string("id") + compare + "?", half.after->id);
  }
  const char* direction = query.descending ? " DESC" : " ASC";
  std::string order = " ORDER BY ";
  if (half.has_value && column.key != RunSortKey::id) order += name + direction + ", ";
  std::string sql = "SELECT id, " + std::string(column.column) + " FROM run" + where.sql() + order +
                    "id" + direction + " LIMIT ?";
  return {std::move(sql), std::move(where)};
}

struct PageKeys {
  std::vector<RunId> ids;
  std::vector<RunKeyset> keysets;
};

void append_half(Connection& connection, const SortColumn& column, const Question& question,
                 std::size_t wanted, PageKeys& keys) {
  Statement select(connection, question.sql);
  question.where.bind(select);
  select.integer(static_cast<std::int64_t>(wanted - keys.ids.size()));
  while (select.step()) {
    const RunId id = select.read_integer();
    keys.ids.push_back(id);
    keys.keysets.push_back(keyset_of(column, select, id));
  }
}

PageKeys find_page(Connection& connection, const RunQuery& query, const GatheredRuns& gathered,
                   std::size_t wanted) {
  PageKeys keys;
  if (gathered && gathered->empty()) return keys;
  const SqlDialect& dialect = connection.dialect();
  const SortColumn& column = sort_column(query.sort);
  const bool is_among_nulls = query.after && !query.after->sort_value;
  if (!is_among_nulls) {
    append_half(connection, column, question_of(dialect, query, gathered, {true, query.after}),
                wanted, keys);
  }
  if (keys.ids.size() < wanted && column.may_be_absent) {
    Half absent{false, {}};
    if (is_among_nulls) absent.after = query.after;
    append_half(connection, column, question_of(dialect, query, gathered, absent), wanted, keys);
  }
  return keys;
}

// In the order of `ids`, which were found in this transaction.
std::vector<RunRecord> read_listed_runs(Connection& connection, const std::vector<RunId>& ids) {
  std::unordered_map<RunId, std::size_t> places;
  for (const RunId id : ids) places.emplace(id, places.size());
  const SqlDialect& dialect = connection.dialect();
  Statement& select =
      connection.kept(fmt::format("{} WHERE id{}", select_run_sql(), dialect.is_in_list));
  select.text(dialect.list_text(ids));
  std::vector<RunRecord> runs(ids.size());
  while (select.step()) {
    RunRecord run = read_run_row(select);
    runs[places.at(run.id)] = std::move(run);
  }
  read_listed_parts(connection, runs);
  return runs;
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
  std::vector<std::string> texts = {
      question_of(dialect, query, std::nullopt, {true, query.after}).sql};
  if (sort_column(query.sort).may_be_absent) {
    texts.push_back(question_of(dialect, query, std::nullopt, {false, std::nullopt}).sql);
  }
  return texts;
}

std::string count_sql(const SqlDialect& dialect, const RunFilter& filter) {
  return "SELECT count(*) FROM run" + where_of_all(dialect, filter).sql();
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
  const GatheredRuns gathered = gather_runs(connection, query.filter);
  // One more than the page shows whether there is a next one.
  const std::size_t wanted = limit + 1;
  auto [ids, keysets] = find_page(connection, query, gathered, wanted);

  RunPage page;
  if (query.wants_total) {
    page.total = gathered ? static_cast<std::int64_t>(gathered->size())
                          : count_runs(connection, query.filter);
  }
  if (ids.size() == wanted) {
    ids.pop_back();
    page.next = keysets[limit - 1];
  }
  page.runs = read_listed_runs(connection, ids);
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
