#include "storage/missing_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storage/table_sum.h"

namespace llmb::storage {
namespace {

// What one transaction writes, unless a single run is more.
constexpr std::int64_t kRunsMax = 256;
constexpr std::int64_t kStepsMax = 20'000;
// As how many steps a row counts that stands beside a run: a block of a log's text, some ten KiB.
constexpr std::int64_t kStepsABlock = 256;
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

// The rows of a table that change beside their runs.
class RowsBeside {
 public:
  RowsBeside(Connection& connection, const TableLayout& layout)
      : connection_(connection),
        layout_(layout),
        has_rows_(connection.read_one_integer(
                      fmt::format("SELECT EXISTS (SELECT 1 FROM {})", layout.table)) != 0) {}

  std::int64_t count(RunId run) const {
    if (!has_rows_) return 0;
    Statement& select =
        connection_.kept(fmt::format("SELECT count(*) FROM {} WHERE run_id = ?", layout_.table));
    const std::int64_t count = select.integer(run).step() ? select.read_integer() : 0;
    select.reset();
    return count;
  }
  TableSum sum(RunId run) const {
    return has_rows_ ? sum_of(connection_, layout_, IdRange{run, run}) : TableSum();
  }

 private:
  Connection& connection_;
  const TableLayout& layout_;
  bool has_rows_;
};

// Collects them as transactions take them.
class MissingList {
 public:
  void add(RunId run, std::int64_t steps, std::int64_t blocks) {
    const std::int64_t weight = steps + blocks * kStepsABlock;
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
                           const TableLayout& beside) {
  const std::size_t step_count = place_of(run, "step_count");
  const RowsBeside our_blocks(from, beside);
  const RowsBeside their_blocks(to, beside);
  RunComparison found;
  MissingList missing;
  RowWalk theirs(to, run);
  for (RowWalk ours(from, run); ours.row() != nullptr; ours.advance()) {
    for (; theirs.row() != nullptr && theirs.id() < ours.id(); theirs.advance()) {
      found.stale.push_back(theirs.id());
    }
    const bool is_there = theirs.row() != nullptr && theirs.id() == ours.id();
    if (is_there && *theirs.row() == *ours.row() &&
        our_blocks.sum(ours.id()) == their_blocks.sum(ours.id())) {
      ++found.standing;
      missing.interrupt();
    } else {
      const auto steps = std::get<std::int64_t>((*ours.row())[step_count]);
      missing.add(ours.id(), std::clamp<std::int64_t>(steps, 0, kStepsOfARunMax),
                  our_blocks.count(ours.id()));
      if (is_there) found.stale.push_back(ours.id());
    }
    if (is_there) theirs.advance();
  }
  for (; theirs.row() != nullptr; theirs.advance()) found.stale.push_back(theirs.id());
  found.missing = missing.take();
  return found;
}

}  // namespace llmb::storage
