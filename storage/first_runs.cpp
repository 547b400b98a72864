#include "storage/first_runs.h"

#include <algorithm>
#include <utility>

namespace llmb::storage {

FirstRuns::FirstRuns(const RunQuery& query, std::size_t wanted) : query_(query), wanted_(wanted) {
  heap_.reserve(wanted);
  if (!query.after) return;
  after_ = Run{query.after->id, std::nullopt};
  if (query.after->sort_value) {
    after_->sort_value = parse_sort_value(sort_column(query.sort).kind, *query.after->sort_value);
  }
}

bool FirstRuns::offer(RunId id, std::optional<SqlParameter> sort_value) {
  Run run{id, std::move(sort_value)};
  if (after_ && !comes_before(*after_, run)) return false;
  const auto before = [this](const Run& a, const Run& b) { return comes_before(a, b); };
  if (heap_.size() == wanted_) {
    if (!comes_before(run, heap_.front())) return false;
    std::pop_heap(heap_.begin(), heap_.end(), before);
    heap_.pop_back();
  }
  heap_.push_back(std::move(run));
  std::push_heap(heap_.begin(), heap_.end(), before);
  return true;
}

PageKeys FirstRuns::take() {
  std::sort(heap_.begin(), heap_.end(),
            [this](const Run& a, const Run& b) { return comes_before(a, b); });
  PageKeys keys;
  for (const Run& run : heap_) {
    keys.ids.push_back(run.id);
    keys.keysets.push_back(keyset_of(run.sort_value, run.id));
  }
  heap_.clear();
  return keys;
}

// Those without a sort value come after all others.
bool FirstRuns::comes_before(const Run& run, const Run& other) const {
  if (run.sort_value.has_value() != other.sort_value.has_value()) return run.sort_value.has_value();
  if (run.sort_value != other.sort_value) {
    return query_.descending ? *run.sort_value > *other.sort_value
                             : *run.sort_value < *other.sort_value;
  }
  return query_.descending ? run.id > other.id : run.id < other.id;
}

}  // namespace llmb::storage
