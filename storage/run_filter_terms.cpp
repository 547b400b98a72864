#include "storage/run_filter_terms.h"

#include <fmt/format.h>

#include <array>

#include "storage/listed_marks.h"

namespace llmb::storage {
namespace {

// A longer text is in no path.
constexpr std::size_t kTextFilterBytesMax = 4'096;

constexpr std::array kOverAndNotComplete = {parser::RunStatus::failed,
                                            parser::RunStatus::incomplete,
                                            parser::RunStatus::invalid, parser::RunStatus::no_data};

std::string contains(const SqlDialect& dialect, std::string_view column) {
  return fmt::format(fmt::runtime(dialect.contains), column);
}

void add_text_of_row(const SqlDialect& dialect, const std::string& text, Where& where) {
  where.add(fmt::format("({} OR {})", contains(dialect, "experiment"),
                        contains(dialect, "relative_path")),
            dialect.searched_text(text));
  where.parameters.emplace_back(dialect.searched_text(text));
}

std::optional<std::string> trigrams_of(const SqlDialect& dialect, std::string_view text) {
  return dialect.candidates_of_text.empty() ? std::nullopt : dialect.trigrams(text);
}

// Whether a text is looked for among all runs.
bool is_led_by_text(const RunFilter& filter) {
  const bool has_narrow = !filter.experiment.empty() || !filter.job_id.empty();
  return !has_narrow && filter.has_text() && filter.text->size() <= kTextFilterBytesMax;
}

// By an index of trigrams, or through one that holds all paths. Nearly every path has the
// experiment's name in it; of the others there is an index, too.
void add_text_of_all(const SqlDialect& dialect, const std::string& text, Where& where) {
  if (const auto trigrams = trigrams_of(dialect, text)) {
    where.add(fmt::format("id IN ({})", dialect.candidates_of_text), *trigrams);
    return add_text_of_row(dialect, text, where);
  }
  const std::string in_path = contains(dialect, "relative_path");
  const std::string in_name_only =
      fmt::format("{} AND {}", dialect.is_named_elsewhere, contains(dialect, "experiment"));
  where.add(fmt::format(fmt::runtime(dialect.is_either), in_path, in_name_only),
            dialect.searched_text(text));
  where.parameters.emplace_back(dialect.searched_text(text));
}

// The one column whose index is begun with.
std::string_view driving_column(const RunFilter& filter) {
  if (!filter.job_id.empty()) return "job_id";
  if (!filter.experiment.empty()) return "experiment";
  if (!filter.workload.empty()) return "workload";
  if (filter.speed_against_reference.is_set()) return "speed_against_reference";
  if (filter.mfu.is_set()) return "mfu";
  if (filter.tokens_per_s_per_gpu.is_set()) return "tokens_per_s_per_gpu";
  return "workload";
}

class FilterTerms {
 public:
  FilterTerms(const SqlDialect& dialect, const RunFilter& filter,
              const std::function<bool(std::string_view)>& may_drive, bool lists_may_drive)
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
    add_cluster();
    add_any("root_id", filter_.root_id);
    add_status();
    add_any("failure_cause", filter_.failure_cause);
    add_marks();
    add_range("tokens_per_s_per_gpu", filter_.tokens_per_s_per_gpu);
    add_range("mfu", filter_.mfu);
    add_range("speed_against_reference", filter_.speed_against_reference);
    add_time();
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
    where_.add(column + " IN (" + places_of(values) + ")");
  }

  void add_status() {
    std::vector<std::string> statuses;
    for (const auto status : filter_.status) statuses.emplace_back(parser::run_status_name(status));
    if (!filter_.ended_badly) return add_any("status", statuses);
    const std::string status = column_of("status", false);
    std::string term;
    if (!statuses.empty()) term = fmt::format("{} IN ({}) OR ", status, places_of(statuses));
    statuses.clear();
    for (const auto bad : kOverAndNotComplete) {
      statuses.emplace_back(parser::run_status_name(bad));
    }
    where_.add(fmt::format("({}{} IN ({}) AND (marks & {}) = 0 OR {} = 'hung')", term, status,
                           places_of(statuses), kAllStepsRunBit,
                           column_of("failure_cause", false)));
  }

  void add_cluster() {
    if (filter_.unnamed_of.empty() && !filter_.unnamed_but_of) {
      return add_any("cluster", filter_.cluster);
    }
    const std::string cluster = column_of("cluster", false);
    const std::string root = column_of("root_id", false);
    std::string term = cluster + " IN (" + places_of(filter_.cluster) + ")";
    const auto add_unnamed = [&](std::string_view in, const std::vector<RootId>& roots) {
      term += " OR " + cluster + " IS NULL";
      // PostgreSQL takes no empty list.
      if (!roots.empty()) term += fmt::format(" AND {} {} ({})", root, in, places_of(roots));
    };
    if (!filter_.unnamed_of.empty()) add_unnamed("IN", filter_.unnamed_of);
    if (filter_.unnamed_but_of) add_unnamed("NOT IN", *filter_.unnamed_but_of);
    where_.add("(" + term + ")");
  }

  // A parameter for each value.
  template <typename Value>
  std::string places_of(const std::vector<Value>& values) {
    std::string places;
    for (const Value& value : values) {
      places += places.empty() ? "?" : ", ?";
      where_.parameters.emplace_back(value);
    }
    return places;
  }

  void add_marks() {
    const std::int64_t bits = bits_of_marks(filter_.marks);
    if (bits != 0) {
      const std::string unmarked = filter_.is_unmarked ? " OR " + unmarked_term() + ")" : ")";
      where_.add("((marks & ?) <> 0" + unmarked, bits);
    } else if (filter_.is_unmarked || !filter_.marks.empty()) {
      where_.add(filter_.is_unmarked ? unmarked_term() : kNoRun);
    }
  }

  static std::string unmarked_term() { return fmt::format("marks IN (0, {})", kAllStepsRunBit); }

  void add_range(const char* name, const NumberRange& range) {
    const std::string column = column_of(name, may_drive_(name));
    if (range.at_least) where_.add(column + " >= ?", *range.at_least);
    if (range.at_most) where_.add(column + " <= ?", *range.at_most);
  }

  void add_time() {
    const bool is_column = may_drive_("began_at") || dialect_.without_index.empty();
    const std::string began = is_column ? "began_at" : kBegan;
    where_.add_times(filter_, began, began);
  }

  void add_text() {
    if (!filter_.has_text()) return;
    if (filter_.text->size() > kTextFilterBytesMax) return where_.add(kNoRun);
    add_text_of_row(dialect_, *filter_.text, where_);
  }

  const SqlDialect& dialect_;
  const RunFilter& filter_;
  const std::function<bool(std::string_view)>& may_drive_;
  bool lists_may_drive_;
  Where where_;
};

}  // namespace

void Where::add_times(const RunFilter& filter, const std::string& since_column,
                      const std::string& before_column) {
  if (filter.since) add(since_column + " >= ?", *filter.since);
  if (filter.before) add(before_column + " < ?", *filter.before);
}

std::string Where::sql() const {
  std::string text;
  for (const std::string& term : terms) text += (text.empty() ? " WHERE " : " AND ") + term;
  return text;
}

void Where::bind(Statement& statement) const {
  for (const SqlParameter& parameter : parameters) {
    if (const auto* integer = std::get_if<std::int64_t>(&parameter)) statement.integer(*integer);
    if (const auto* real = std::get_if<double>(&parameter)) statement.real(*real);
    if (const auto* text = std::get_if<std::string>(&parameter)) statement.text(*text);
  }
}

Where where_of(const SqlDialect& dialect, const RunFilter& filter,
               const std::function<bool(std::string_view)>& may_drive, bool lists_may_drive) {
  return FilterTerms(dialect, filter, may_drive, lists_may_drive).make();
}

Where where_of_all(const SqlDialect& dialect, const RunFilter& filter) {
  const bool is_text_of_all = is_led_by_text(filter);
  RunFilter others = filter;
  if (is_text_of_all) others.text.reset();
  Where where = where_of(
      dialect, others, [&](std::string_view column) { return column == driving_column(filter); },
      true);
  if (is_text_of_all) add_text_of_all(dialect, *filter.text, where);
  return where;
}

Question gathering(const SqlDialect& dialect, const RunFilter& filter) {
  const auto trigrams = is_led_by_text(filter) ? trigrams_of(dialect, *filter.text) : std::nullopt;
  if (!trigrams) {
    Where where = where_of_all(dialect, filter);
    return {"SELECT id FROM run" + where.sql() + " LIMIT ?", std::move(where)};
  }
  Where where = where_of(
      dialect, filter, [](std::string_view) { return false; }, false);
  std::string sql =
      fmt::format("SELECT id FROM ({}) AS of_text CROSS JOIN run ON id = candidate{} LIMIT ?",
                  dialect.candidates_of_text, where.sql());
  where.parameters.insert(where.parameters.begin(), *trigrams);
  return {std::move(sql), std::move(where)};
}

}  // namespace llmb::storage
