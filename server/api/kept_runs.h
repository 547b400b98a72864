// KeptRuns: what scaling makes of each run over its own window, kept from one question to the next:
// a question reads which runs there are and how they stand, and measures only those that changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

#include "parser/catalog/catalog.h"
#include "parser/statistics/scaling_run.h"
#include "server/api/all_runs.h"
#include "storage/database.h"

namespace llmb::api {

struct ScaledRuns {
  parser::ScalingRuns runs;         // by id
  std::int64_t older_left_out = 0;  // beyond `runs_max`
};

// Thread-safe: one question at a time measures, and others wait for what it has measured.
class KeptRuns {
 public:
  // Those that `question` asks for, which asks for no window and leaves no step out: the newest
  // `runs_max` of them. Throws StorageError, RequestError as measure_all_runs() does.
  ScaledRuns read(storage::Reader& reader, const parser::Catalog& catalog,
                  const MeasuringQuestion& question, std::size_t runs_max);

 private:
  struct Kept {
    storage::RunVersion version;
    std::shared_ptr<const parser::ScalingRun> run;
  };

  void measure(storage::Reader& reader, const parser::Catalog& catalog,
               std::span<const storage::RunId> runs);
  void drop_unasked(std::span<const storage::RunVersion> asked, std::size_t runs_max);

  std::mutex mutex_;
  std::int64_t data_revision_ = 0;  // of the last question
  std::unordered_map<storage::RunId, Kept> kept_;
  parser::ScalingConfigurations configurations_;
};

}  // namespace llmb::api
