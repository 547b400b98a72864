#include "parser/dialects/rank_measures.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace llmb::parser {
namespace {

constexpr std::size_t kQuantityBytesMax = 100;
constexpr std::size_t kNodeBytesMax = 64;

void add_values(RankMeasure& row, const RankValues& values) {
  if (!row.values) {
    row.values = values;
    return;
  }
  row.values->min = std::min(row.values->min, values.min);
  row.values->max = std::max(row.values->max, values.max);
  row.values->sum += values.sum;
}

// What was said of `from` is said of several ranks now.
void merge(const RankMeasure& from, RankMeasure& others) {
  others.count += from.count;
  others.offset = std::max(others.offset, from.offset);
  if (from.values) add_values(others, *from.values);
}

void save_row(StateWriter& state, const RankMeasure& row) {
  state.optional_integer(row.rank);
  state.text(row.node);
  state.integer(row.count);
  state.unsigned_integer(row.offset);
  state.boolean(row.values.has_value());
  if (!row.values) return;
  state.number(row.values->min);
  state.number(row.values->max);
  state.number(row.values->sum);
}

void restore_row(StateReader& state, RankMeasure& row) {
  row.rank = state.optional_integer();
  row.node = state.text();
  row.count = state.integer();
  row.offset = state.unsigned_integer();
  if (!state.boolean()) return;
  row.values.emplace();
  row.values->min = state.number();
  row.values->max = state.number();
  row.values->sum = state.number();
}

}  // namespace

void RankMeasures::add(const Quantity& quantity, RankPlace place, const Holder& holder,
                       std::optional<double> value, std::uint64_t offset) {
  if (value && !std::isfinite(*value)) return;
  Group* const group = find_or_insert(quantity, place);
  if (group == nullptr) {
    ++values_left_out_;
    return;
  }
  RankMeasure& row = row_of(*group, holder);
  if (!holder.node.empty()) row.node = holder.node.substr(0, kNodeBytesMax);
  ++row.count;
  row.offset = offset;
  if (value) add_values(row, {*value, *value, *value});
}

// Null where there is no room for one more.
RankMeasures::Group* RankMeasures::find_or_insert(const Quantity& quantity, RankPlace place) {
  const std::string_view name = quantity.name.substr(0, kQuantityBytesMax);
  const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) {
    return group.head.place == place && group.head.source == quantity.source &&
           group.head.quantity == name;
  });
  if (found != groups_.end()) return &*found;
  if (row_count_ >= kRankMeasuresMax) return nullptr;
  Group group;
  group.head.source = quantity.source;
  group.head.quantity = name;
  group.head.unit = quantity.unit;
  group.head.place = place;
  group.others = group.head;
  group.others.is_of_other_ranks = true;
  groups_.push_back(std::move(group));
  return &groups_.back();
}

RankMeasure& RankMeasures::row_of(Group& group, const Holder& holder) {
  std::vector<RankMeasure>& rows = group.rows;
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const RankMeasure& row) { return row.rank == holder.rank; });
  if (found != rows.end()) return *found;
  RankMeasure row = group.head;
  row.rank = holder.rank;
  if (rows.empty() || (rows.size() < kRanksOfQuantityMax && row_count_ < kRankMeasuresMax)) {
    rows.push_back(std::move(row));
    ++row_count_;
    return rows.back();
  }
  const auto least =
      std::min_element(rows.begin(), rows.end(), [](const RankMeasure& a, const RankMeasure& b) {
        return std::tie(a.count, a.offset) < std::tie(b.count, b.offset);
      });
  merge(*least, group.others);
  *least = std::move(row);
  return *least;
}

RankEvidence RankMeasures::evidence() const {
  RankEvidence evidence;
  evidence.values_left_out = values_left_out_;
  for (const Group& group : groups_) {
    std::vector<RankMeasure> rows = group.rows;
    std::stable_sort(rows.begin(), rows.end(), [](const RankMeasure& a, const RankMeasure& b) {
      return std::tie(b.count, a.rank) < std::tie(a.count, b.rank);
    });
    evidence.measures.insert(evidence.measures.end(), rows.begin(), rows.end());
    if (group.others.count > 0) evidence.measures.push_back(group.others);
  }
  return evidence;
}

void RankMeasures::save(StateWriter& state) const {
  state.integer(values_left_out_);
  state.unsigned_integer(groups_.size());
  for (const Group& group : groups_) {
    state.text(rank_source_name(group.head.source));
    state.text(group.head.quantity);
    state.text(group.head.unit);
    state.text(rank_place_name(group.head.place));
    state.unsigned_integer(group.rows.size());
    for (const RankMeasure& row : group.rows) save_row(state, row);
    save_row(state, group.others);
  }
}

void RankMeasures::restore(StateReader& state) {
  *this = RankMeasures();
  values_left_out_ = state.integer();
  const std::size_t group_count = state.count(kRankMeasuresMax);
  for (std::size_t i = 0; i < group_count && !state.failed(); ++i) {
    const auto source = rank_source_from_name(state.text());
    const std::string quantity = state.text();
    const std::string unit = state.text();
    const auto place = rank_place_from_name(state.text());
    if (!source || !place) return state.fail();
    Group* const group = find_or_insert({*source, quantity, unit}, *place);
    if (group == nullptr || groups_.size() != i + 1) return state.fail();
    group->rows.assign(state.count(kRanksOfQuantityMax), group->head);
    row_count_ += group->rows.size();
    for (RankMeasure& row : group->rows) restore_row(state, row);
    restore_row(state, group->others);
  }
}

}  // namespace llmb::parser
