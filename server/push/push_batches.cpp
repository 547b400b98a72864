#include "server/push/push_batches.h"

#include <algorithm>
#include <utility>

#include "server/push/push_request.h"

namespace llmb::push {
namespace {

constexpr std::size_t kLogsAtOnce = 1'000;
constexpr std::int64_t kStepsAtOnce = 2'000;  // of one log
// A batch is sent once it has as much; one log is much smaller.
constexpr std::size_t kBatchBytes = std::size_t{4} << 20U;

}  // namespace

PushBatches::PushBatches(storage::PushStore& store) : store_(store), logs_at_once_(kLogsAtOnce) {}

Batch PushBatches::next(const std::function<bool(storage::RunId)>& is_left_out) {
  Batch batch;
  std::size_t bytes = 0;
  const auto is_full = [&] {
    batch.is_full = batch.logs.size() >= logs_at_once_ || bytes >= kBatchBytes;
    return batch.is_full;
  };
  for (int pass = 0; pass < 2 && batch.logs.empty(); ++pass) {
    for (bool has_more = true; has_more;) {
      if (is_full()) return batch;
      auto runs = store_.pending(after_, static_cast<std::int64_t>(logs_at_once_));
      has_more = runs.size() == logs_at_once_;
      const storage::RunId last = runs.empty() ? after_ : runs.back();
      std::erase_if(runs, is_left_out);
      if (!runs.empty()) store_.begin_telling(runs);
      for (const storage::RunId run : runs) {
        if (is_full()) return batch;
        after_ = run;
        const auto log = store_.read_telling(run, kStepsAtOnce);
        if (!log) continue;
        batch.packed.push_back(packed_log(*log));
        bytes += batch.packed.back().size();
        batch.logs.push_back(
            {run, log->root_path, log->run.relative_path, log->run.revision, log->end()});
      }
      after_ = last;
    }
    after_ = 0;
  }
  return batch;
}

void PushBatches::divide(const Batch& batch) {
  logs_at_once_ = 1;
  if (!batch.logs.empty()) after_ = batch.logs.front().run - 1;
}

void PushBatches::grow() {
  logs_at_once_ = std::min(2 * logs_at_once_, kLogsAtOnce);
}

}  // namespace llmb::push
