#include "storage/run_page_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "parser/foundation/parse_number.h"

namespace llmb::storage {
namespace {

constexpr std::array kSortColumns = {
    SortColumn{RunSortKey::id, "id", SortValueKind::integer, false},
    SortColumn{RunSortKey::launched_at, "began_at", SortValueKind::text, false},
    SortColumn{RunSortKey::grown_at, "grown_at", SortValueKind::text, false},
    SortColumn{RunSortKey::experiment, "experiment", SortValueKind::text, false},
    SortColumn{RunSortKey::status, "status", SortValueKind::text, false},
    SortColumn{RunSortKey::gpu_count, "gpu_count", SortValueKind::integer},
    SortColumn{RunSortKey::step_time_s_mean, "step_time_s_mean", SortValueKind::real},
    SortColumn{RunSortKey::step_time_s_stddev_sample, "step_time_s_stddev_sample",
               SortValueKind::real},
    SortColumn{RunSortKey::step_time_s_median, "step_time_s_median", SortValueKind::real},
    SortColumn{RunSortKey::step_time_s_p95, "step_time_s_p95", SortValueKind::real},
    SortColumn{RunSortKey::tflops_per_gpu_mean, "tflops_per_gpu_mean", SortValueKind::real},
    SortColumn{RunSortKey::tokens_per_s_per_gpu, "tokens_per_s_per_gpu", SortValueKind::real},
    SortColumn{RunSortKey::mfu, "mfu", SortValueKind::real},
    SortColumn{RunSortKey::speed_against_reference, "speed_against_reference", SortValueKind::real},
    SortColumn{RunSortKey::failure_cause, "cause_or_null", SortValueKind::text},
    SortColumn{RunSortKey::last_iteration, "last_iteration", SortValueKind::integer},
    SortColumn{RunSortKey::step_count, "step_count", SortValueKind::integer, false},
};

// A NaN stands nowhere in an order.
template <typename Number>
std::optional<Number> parse_number(const std::string& text) {
  const auto number = parser::parse_number<Number>(text);
  return number && *number == *number ? number : std::nullopt;
}

// The shortest text that reads back as the same double.
std::string exact_text(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

// An index is begun with one comparison, and ended with one: these say that they are the filter's.
struct TimesOfIndex {
  bool since = false;
  bool before = false;
};

Where where_of_combination(const SqlDialect& dialect, const RunFilter& filter,
                           const std::string& key, const TimesOfIndex& of_index) {
  Where where;
  where.add(std::string(dialect.is_of_combination), key);
  const auto column = [&](bool is_of_index) {
    return fmt::format("{}began_at", is_of_index ? "" : dialect.without_index);
  };
  where.add_times(filter, column(of_index.since), column(of_index.before));
  return where;
}

}  // namespace

const SortColumn& sort_column(RunSortKey key) {
  const auto found = std::find_if(kSortColumns.begin(), kSortColumns.end(),
                                  [key](const SortColumn& column) { return column.key == key; });
  return found == kSortColumns.end() ? kSortColumns.front() : *found;
}

std::optional<SqlParameter> parse_sort_value(SortValueKind kind, const std::string& text) {
  switch (kind) {
    case SortValueKind::integer:
      if (const auto value = parse_number<std::int64_t>(text)) return SqlParameter(*value);
      return std::nullopt;
    case SortValueKind::real:
      if (const auto value = parse_number<double>(text)) return SqlParameter(*value);
      return std::nullopt;
    case SortValueKind::text:
      break;
  }
  return SqlParameter(text);
}

std::optional<SqlParameter> read_sort_value(const SortColumn& column, Statement& row) {
  if (column.kind == SortValueKind::integer) return row.read_optional_integer();
  if (column.kind == SortValueKind::real) return row.read_optional_real();
  return row.read_optional_text();
}

RunKeyset keyset_of(const std::optional<SqlParameter>& sort_value, RunId id) {
  RunKeyset keyset;
  keyset.id = id;
  if (!sort_value) return keyset;
  if (const auto* integer = std::get_if<std::int64_t>(&*sort_value)) {
    keyset.sort_value = std::to_string(*integer);
  } else if (const auto* real = std::get_if<double>(&*sort_value)) {
    keyset.sort_value = exact_text(*real);
  } else {
    keyset.sort_value = std::get<std::string>(*sort_value);
  }
  return keyset;
}

std::vector<Stretch> parts_of(RunSortKey sort, const Stretch& stretch) {
  const auto& after = stretch.after;
  const auto& until = stretch.until;
  if (!stretch.has_value || sort == RunSortKey::id || (!after && !until)) return {stretch};
  if (after && until && after->sort_value == until->sort_value) {
    return {{true, after, until, after->sort_value, {}, {}}};
  }
  std::vector<Stretch> parts;
  if (after) parts.push_back({true, after, {}, after->sort_value, {}, {}});
  Stretch& between = parts.emplace_back();
  if (after) between.beyond_value = after->sort_value;
  if (until) between.short_of_value = until->sort_value;
  if (until) parts.push_back({true, {}, until, until->sort_value, {}, {}});
  return parts;
}

Question ids_of_combination(const SqlDialect& dialect, const RunFilter& filter,
                            const std::string& key) {
  Where where = where_of_combination(dialect, filter, key, {.since = true, .before = true});
  return {fmt::format("SELECT id FROM {}{}", dialect.runs_by_combination, where.sql()),
          std::move(where)};
}

PageQuestion::PageQuestion(const SqlDialect& dialect, const RunQuery& query,
                           const std::vector<RunId>* gathered)
    : dialect_(dialect),
      query_(query),
      gathered_(gathered),
      column_(sort_column(query.sort)),
      direction_(query.descending ? " DESC" : " ASC") {}

Question PageQuestion::of(const Stretch& stretch, PageSearchKind kind) const {
  if (kind == PageSearchKind::sort && gathered_ == nullptr) return of_all_sorted(stretch);
  const bool is_walked = kind == PageSearchKind::walk || column_.key == RunSortKey::id;
  const std::string name = std::string(is_walked ? "" : dialect_.without_index) + column_.column;
  Where where = where_of_page(is_walked);
  add_stretch(stretch, name, where);
  return {fmt::format("SELECT id, {} FROM run{}{} LIMIT ?", column_.column, where.sql(),
                      order_by(stretch, name)),
          std::move(where)};
}

Question PageQuestion::of_combination(const std::string& key, const Stretch& stretch) const {
  const bool goes_on = stretch.beyond_value.has_value();
  const TimesOfIndex of_index = {
      .since = !stretch.equal_value && (query_.descending || !goes_on),
      .before = !stretch.equal_value && (!query_.descending || !goes_on)};
  Where where = where_of_combination(dialect_, query_.filter, key, of_index);
  add_stretch(stretch, column_.column, where);
  return {fmt::format("SELECT id, {} FROM {}{}{} LIMIT ?", column_.column,
                      dialect_.runs_by_combination, where.sql(), order_by(stretch, column_.column)),
          std::move(where)};
}

Question PageQuestion::of_its_end(const Stretch& stretch) const {
  Where where;
  add_stretch(stretch, column_.column, where);
  return {fmt::format("SELECT id, {} FROM run{}{} LIMIT 1 OFFSET ?", column_.column, where.sql(),
                      order_by(stretch, column_.column)),
          std::move(where)};
}

Question PageQuestion::of_its_length(const Stretch& stretch) const {
  Where where;
  add_stretch(stretch, column_.column, where);
  return {"SELECT count(*) FROM run" + where.sql(), std::move(where)};
}

// In words that run_filter covers where it can.
const char* PageQuestion::covered_column() const {
  if (column_.key == RunSortKey::launched_at) return kBegan;
  if (column_.key == RunSortKey::failure_cause) return "nullif(failure_cause, '')";
  return column_.column;
}

Question PageQuestion::of_all_sorted(const Stretch& stretch) const {
  Where where = where_of_all(dialect_, query_.filter);
  const std::string matching = where.sql();
  Where outer;
  add_stretch(stretch, "sorted_by", outer);
  std::string sql = fmt::format(
      "WITH matching AS MATERIALIZED (SELECT id, {} AS sorted_by FROM run{})"
      " SELECT id, sorted_by FROM matching{}{} LIMIT ?",
      covered_column(), matching, outer.sql(), order_by(stretch, "sorted_by"));
  std::move(outer.parameters.begin(), outer.parameters.end(), std::back_inserter(where.parameters));
  return {std::move(sql), std::move(where)};
}

Where PageQuestion::where_of_page(bool is_walked) const {
  if (gathered_ == nullptr) {
    return where_of(
        dialect_, query_.filter, [&](std::string_view column) { return column == column_.column; },
        false);
  }
  Where where;
  where.add(fmt::format("{}id{}", is_walked ? dialect_.without_index : "", dialect_.is_in_list),
            dialect_.list_text(*gathered_));
  return where;
}

void PageQuestion::add_stretch(const Stretch& stretch, const std::string& name,
                               Where& where) const {
  const auto add_value = [&](const std::optional<std::string>& value, const char* compare) {
    if (value) {
      where.add(fmt::format("{} {} ?", name, compare), *parse_sort_value(column_.kind, *value));
    }
  };
  add_value(stretch.equal_value, "=");
  add_value(stretch.beyond_value, query_.descending ? "<" : ">");
  add_value(stretch.short_of_value, query_.descending ? ">" : "<");
  // A comparison says it, too, and is the one to begin the index with.
  const bool is_compared = stretch.after || stretch.until || stretch.equal_value ||
                           stretch.beyond_value || stretch.short_of_value;
  if (!stretch.has_value) where.add(name + " IS NULL");
  if (stretch.has_value && !is_compared) where.add(name + " IS NOT NULL");
  const auto add_bound = [&](const std::optional<RunKeyset>& keyset, const char* compare) {
    if (!keyset) return;
    if (!stretch.has_value || stretch.equal_value) {
      return where.add(fmt::format("id {} ?", compare), keyset->id);
    }
    where.add(fmt::format("({}, id) {} (?, ?)", name, compare),
              *parse_sort_value(column_.kind, *keyset->sort_value));
    where.parameters.emplace_back(keyset->id);
  };
  add_bound(stretch.after, query_.descending ? "<" : ">");
  add_bound(stretch.until, query_.descending ? ">=" : "<=");
}

std::string PageQuestion::order_by(const Stretch& stretch, const std::string& name) const {
  const bool has_key = stretch.has_value && column_.key != RunSortKey::id;
  return fmt::format(" ORDER BY {}id{}", has_key ? name + direction_ + ", " : "", direction_);
}

}  // namespace llmb::storage
