#include "storage/run_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <variant>

#include "storage/run_rows.h"

namespace llmb::storage {
namespace {

using Parameter = std::variant<std::int64_t, double, std::string>;

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

// A unary + keeps SQLite from choosing that column's index: with few distinct values in it, a walk
// along the sort key's index that stops at the page's end is much the shorter way.
Where where_of(const RunFilter& filter, RunSortKey sort) {
  Where where;
  if (!filter.include_superseded) where.add("is_superseded = 0");
  if (filter.experiment) where.add("experiment = ?", *filter.experiment);
  if (filter.job_id) where.add("job_id = ?", *filter.job_id);
  if (filter.workload) where.add("workload = ?", *filter.workload);
  if (filter.model_size) where.add("model_size = ?", *filter.model_size);
  if (filter.dtype) where.add("dtype = ?", *filter.dtype);
  if (filter.gpu_type) where.add("gpu_type = ?", *filter.gpu_type);
  if (filter.gpu_count) where.add("+gpu_count = ?", *filter.gpu_count);
  if (filter.release) where.add("release = ?", *filter.release);
  if (filter.cluster) where.add("cluster = ?", *filter.cluster);
  if (filter.root_id) where.add("+root_id = ?", *filter.root_id);
  if (filter.status) {
    where.add("+status = ?", std::string(parser::run_status_name(*filter.status)));
  }
  if (filter.since && sort == RunSortKey::launched_at) {
    where.add("began_at >= ?", *filter.since);  // bounds the walk
  } else if (filter.since) {
    where.add("+began_at >= ?", *filter.since);
  }
  if (filter.text && filter.text->size() > kTextFilterBytesMax) {
    where.add("0");
  } else if (filter.text && !filter.text->empty()) {
    const std::string pattern = like_pattern(*filter.text);
    where.add("(experiment LIKE ? ESCAPE '\\'", pattern);
    where.terms.back() += " OR relative_path LIKE ? ESCAPE '\\')";
    where.parameters.emplace_back(pattern);
  }
  return where;
}

enum class ValueKind { integer, real, text };
struct SortColumn {
  RunSortKey key;
  const char* column;
  ValueKind kind;
};
constexpr std::array kSortColumns = {
    SortColumn{RunSortKey::id, "id", ValueKind::integer},
    SortColumn{RunSortKey::launched_at, "began_at", ValueKind::text},
    SortColumn{RunSortKey::grown_at, "grown_at", ValueKind::text},
    SortColumn{RunSortKey::experiment, "experiment", ValueKind::text},
    SortColumn{RunSortKey::status, "status", ValueKind::text},
    SortColumn{RunSortKey::gpu_count, "gpu_count", ValueKind::integer},
    SortColumn{RunSortKey::step_time_s_mean, "step_time_s_mean", ValueKind::real},
    SortColumn{RunSortKey::step_time_s_stddev_sample, "step_time_s_stddev_sample", ValueKind::real},
    SortColumn{RunSortKey::step_time_s_median, "step_time_s_median", ValueKind::real},
    SortColumn{RunSortKey::step_time_s_p95, "step_time_s_p95", ValueKind::real},
    SortColumn{RunSortKey::tflops_per_gpu_mean, "tflops_per_gpu_mean", ValueKind::real},
    SortColumn{RunSortKey::last_iteration, "last_iteration", ValueKind::integer},
    SortColumn{RunSortKey::step_count, "step_count", ValueKind::integer},
};

const SortColumn& sort_column(RunSortKey key) {
  const auto found = std::find_if(kSortColumns.begin(), kSortColumns.end(),
                                  [key](const SortColumn& column) { return column.key == key; });
  return found == kSortColumns.end() ? kSortColumns.front() : *found;
}

template <typename Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number != number) return std::nullopt;
  return number;
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

// Runs of one half of the list: those with a sort value, or, after all of them, those without.
struct Half {
  bool has_value;
  std::optional<RunKeyset> after;
};

void append_half(Connection& connection, const RunQuery& query, const Half& half,
                 std::vector<RunId>& ids, std::vector<RunKeyset>& keysets, std::size_t wanted) {
  const SortColumn& column = sort_column(query.sort);
  const std::string name = column.column;
  const char* compare = query.descending ? " < " : " > ";
  Where where = where_of(query.filter, query.sort);
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
  Statement select(connection, "SELECT id, " + name + " FROM run" + where.sql() + order + "id" +
                                   direction + " LIMIT ?");
  where.bind(select);
  select.integer(static_cast<std::int64_t>(wanted - ids.size()));
  while (select.step()) {
    const RunId id = select.read_integer();
    ids.push_back(id);
    keysets.push_back(keyset_of(column, select, id));
  }
}

}  // namespace

bool is_valid_keyset(RunSortKey sort, const RunKeyset& keyset) {
  return !keyset.sort_value ||
         parse_sort_value(sort_column(sort).kind, *keyset.sort_value).has_value();
}

RunPage list_runs(Connection& connection, const RunQuery& query) {
  if (query.after && !is_valid_keyset(query.sort, *query.after)) {
    throw std::invalid_argument("the cursor does not belong to a list sorted by " +
                                std::string(run_sort_key_name(query.sort)));
  }
  const auto limit = static_cast<std::size_t>(std::clamp<std::int64_t>(query.limit, 1, 500));
  // One more than the page shows whether there is a next one.
  const std::size_t wanted = limit + 1;
  std::vector<RunId> ids;
  std::vector<RunKeyset> keysets;
  const bool is_among_nulls = query.after && !query.after->sort_value;
  if (!is_among_nulls) {
    append_half(connection, query, {true, query.after}, ids, keysets, wanted);
  }
  if (ids.size() < wanted) {
    append_half(connection, query,
                {false, is_among_nulls ? query.after : std::optional<RunKeyset>()}, ids, keysets,
                wanted);
  }

  RunPage page;
  if (ids.size() == wanted) {
    ids.pop_back();
    page.next = keysets[limit - 1];
  }
  page.runs.reserve(ids.size());
  static const std::string sql = select_run_sql() + " WHERE id = ?";
  for (const RunId id : ids) {
    Statement& select = connection.kept(sql);
    select.integer(id);
    if (!select.step()) continue;
    page.runs.push_back(read_run_row(select));
    select.reset();
    page.runs.back().configuration = read_configuration(connection, id);
    page.runs.back().facts.segments = read_segments(connection, id);
  }
  return page;
}

std::int64_t count_runs(Connection& connection, const RunFilter& filter) {
  const Where where = where_of(filter, RunSortKey::launched_at);
  Statement count(connection, "SELECT count(*) FROM run" + where.sql());
  where.bind(count);
  return count.step() ? count.read_integer() : 0;
}

std::vector<ExperimentRecord> list_experiments(Connection& connection, const RunFilter& filter,
                                               std::int64_t limit,
                                               const std::string& after_experiment) {
  Where where = where_of(filter, RunSortKey::experiment);
  where.add("experiment > ?", after_experiment);
  Statement select(connection,
                   "SELECT experiment, root_id, status, grown_at, step_time_s_mean FROM run" +
                       where.sql() + " ORDER BY experiment, root_id, grown_at, id");
  where.bind(select);
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
