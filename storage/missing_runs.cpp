#include "storage/missing_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "storage/table_sum.h"

namespace llmb::storage {
namespace {

// What one transaction writes, unless a single run is more.
constexpr std::int64_t kRunsMax = 256;
constexpr std::int64_t kStepsMax = 20'000;
// More than a run has: a damaged database may hold any number, and sums are made of them.
constexpr std::int64_t kStepsOfARunMax = std::int64_t{1} << 40U;

// The rows of a table one after the other; null: there are no more.
class RowWalk {
 public:
  RowWalk(Connection& connection, const TableLayout& layout) : pages_(connection, layout) {
    advance();
  }
  const StoredRow* row() const { return at_ < rows_->size() ? &(*rows_)[at_] : nullptr; }
  RunId id() const { return std::get<std::int64_t>(row()->front()); }
  void advance() {
    if (rows_ != nullptr && ++at_ < rows_->size()) return;
    rows_ = &pages_.next();
    at_ = 0;
  }

 private:
  RowPages pages_;
  const std::vector<StoredRow>* rows_ = nullptr;
  std::size_t at_ = 0;
};

std::size_t place_of(const TableLayout& layout, std::string_view column) {
  const auto found = std::find_if(layout.columns.begin(), layout.columns.end(),
                                  [&](const TableColumn& one) { return one.name == column; });
  return static_cast<std::size_t>(found - layout.columns.begin());
}

// The rows of tables that change beside their runs.
class RowsBeside {
 public:
  RowsBeside(Connection& connection, std::span<const TableBeside> tables)
      : connection_(connection) {
    for (const TableBeside& table : tables) {
      const std::string has_row =
          fmt::format("SELECT EXISTS (SELECT 1 FROM {})", table.layout.table);
      if (connection.read_one_integer(has_row) != 0) tables_.push_back(table);
    }
  }

  // As how many steps those of a run count.
  std::int64_t weight(RunId run) const {
    std::int64_t weight = 0;
    for (const TableBeside& table : tables_) {
      if (table.steps_a_row == 0) continue;
      Statement& select = connection_.kept(
          fmt::format("SELECT count(*) FROM {} WHERE run_id = ?", table.layout.table));
      if (select.integer(run).step()) weight += select.read_integer() * table.steps_a_row;
      select.reset();
    }
    return weight;
  }
  // Of each table that is not empty, in their order; those of both databases have the same tables.
  std::map<std::string, TableSum> sums(RunId run) const {
    std::map<std::string, TableSum> sums;
    for (const TableBeside& table : tables_) {
      const TableSum sum = sum_of(connection_, table.layout, IdRange{run, run});
      if (sum.rows > 0) sums.emplace(table.layout.table, sum);
    }
    return sums;
  }

 private:
  Connection& connection_;
  std::vector<TableBeside> tables_;
};

// Collects them as transactions take them.
class MissingList {
 public:
  void add(RunId run, std::int64_t steps, std::int64_t steps_beside) {
    const std::int64_t weight = steps + steps_beside;
    const bool has_room =
        !list_.empty() && list_.back().runs < kRunsMax && last_weight_ + weight <= kStepsMax;
    if (!follows_last_ || !has_room) {
      list_.push_back({{run, run}, 0, 0});
      last_weight_ = 0;
    }
    MissingRuns& last = list_.back();
    last.ids.last = run;
    ++last.runs;
    last.steps += steps;
    last_weight_ += weight;
    follows_last_ = true;
  }
  // A run stands between the last missing one and the next.
  void interrupt() { follows_last_ = false; }
  std::vector<MissingRuns> take() { return std::move(list_); }

 private:
  std::vector<MissingRuns> list_;
  std::int64_t last_weight_ = 0;
  bool follows_last_ = false;
};

}  // namespace

RunComparison compare_runs(Connection& from, Connection& to, const TableLayout& run,
                           std::span<const TableBeside> beside) {
  const std::size_t step_count = place_of(run, "step_count");
  const RowsBeside our_rows(from, beside);
  const RowsBeside their_rows(to, beside);
  RunComparison found;
  MissingList missing;
  RowWalk theirs(to, run);
  for (RowWalk ours(from, run); ours.row() != nullptr; ours.advance()) {
    for (; theirs.row() != nullptr && theirs.id() < ours.id(); theirs.advance()) {
      found.stale.push_back(theirs.id());
    }
    const bool is_there = theirs.row() != nullptr && theirs.id() == ours.id();
    if (is_there && *theirs.row() == *ours.row() &&
        our_rows.sums(ours.id()) == their_rows.sums(ours.id())) {
      ++found.standing;
      missing.interrupt();
    } else {
      const auto steps = std::get<std::int64_t>((*ours.row())[step_count]);
      missing.add(ours.id(), std::clamp<std::int64_t>(steps, 0, kStepsOfARunMax),
                  our_rows.weight(ours.id()));
      if (is_there) found.stale.push_back(ours.id());
    }
    if (is_there) theirs.advance();
  }
  for (; theirs.row() != nullptr; theirs.advance()) found.stale.push_back(theirs.id());
  found.missing = missing.take();
  return found;
}

}  // namespace llmb::storage
