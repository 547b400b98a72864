// Removal: the logs that fit a retention policy, found once, and removed in small transactions: a
// few hundred runs and some ten thousand steps each, so that whoever else writes waits for one of
// them at most, and readers see a log whole or not at all. Whoever breaks off has removed what was
// removed, and another one goes on with the rest.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "storage/retention_records.h"

namespace llmb::storage {

class Removal {
 public:
  explicit Removal(const RemovalPlan& plan);

  // The newest runs of the logs that the next transaction takes, for Writer::remove_logs(). Empty:
  // that were all.
  std::span<const RunId> next();
  std::size_t log_count() const { return runs_.size(); }

 private:
  std::vector<RunId> runs_;
  std::vector<std::size_t> ends_;  // of the transactions, in runs_
  std::size_t taken_ = 0;          // transactions
};

}  // namespace llmb::storage
