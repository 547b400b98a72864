// LatestResults: the last complete run of each configuration, as /metrics tells it, of the newest
// few hundred complete runs without a mark. Read anew only where the data changed: a scrape of
// unchanged data reads one row.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/api/reader_pool.h"

namespace llmb::api {

struct LatestResult {
  std::string workload;
  std::string model_size;
  std::string dtype;
  std::string gpu_type;
  std::string gpu_count;
  std::string cluster;  // empty: not known
  storage::RunId run = 0;
  std::optional<double> step_time_s;
  std::optional<double> tokens_per_s_per_gpu;
  std::optional<double> mfu;
  std::optional<double> speed_against_reference;
};

// Thread-safe.
class LatestResults {
 public:
  // At most kResultsMax, those that were launched last. Throws StorageError.
  std::vector<LatestResult> read(ReaderPool& readers);

  static constexpr std::size_t kResultsMax = 200;

 private:
  std::mutex mutex_;
  std::int64_t revision_ = -1;
  std::vector<LatestResult> results_;
};

}  // namespace llmb::api
