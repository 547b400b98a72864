// KeptRuns: what scaling and history make of each run, and history of each series, kept from one
// question to the next: a question reads which runs there are and how they stand, and measures only
// those that changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/statistics/history_run.h"
#include "parser/statistics/run_history.h"
#include "parser/statistics/scaling_run.h"
#include "server/api/kept_changes.h"
#include "server/api/measuring_question.h"
#include "storage/database.h"

namespace llmb::api {

struct MeasuredRuns {  // by id, and in both the same ones
  parser::ScalingRuns scaling;
  parser::HistoryRuns history;
  parser::TreeClusters trees;
  std::int64_t older_left_out = 0;  // beyond `runs_max`
};

// The runs as they are over one window, without certain steps. Thread-safe: one question at a time
// measures, and others wait for what it has measured.
class KeptWindow {
 public:
  MeasuredRuns read(storage::Reader& reader, const parser::Catalog& catalog,
                    const MeasuringQuestion& question, std::size_t runs_max);

 private:
  struct Kept {
    storage::RunVersion version;
    bool is_named_by_tree = false;  // it names no cluster itself
    std::shared_ptr<const parser::ScalingRun> scaling;
    std::shared_ptr<const parser::HistoryRun> history;
  };

  bool is_current(const storage::RunVersion& version, const parser::TreeClusters& trees) const;
  void measure(storage::Reader& reader, const parser::Catalog& catalog,
               const MeasuringQuestion& question, const parser::TreeClusters& trees,
               std::span<const storage::RunId> runs);
  void drop_unasked(std::span<const storage::RunVersion> asked, std::size_t runs_max);

  std::mutex mutex_;
  std::int64_t data_revision_ = 0;  // of the last question
  std::unordered_map<storage::RunId, Kept> kept_;
  parser::ScalingConfigurations scaling_configurations_;
  parser::HistoryConfigurations history_configurations_;
};

// Thread-safe. Keeps the windows that were asked for last, the runs' own as one of them.
class KeptRuns {
 public:
  static constexpr std::size_t kWindowsMax = 4;

  // Those that `question` asks for: the newest `runs_max` of them. One whose window holds too many
  // steps is left out for that. Throws StorageError. Pointers in the result live as long as the
  // catalog, which is the same each time.
  MeasuredRuns read(storage::Reader& reader, const parser::Catalog& catalog,
                    const MeasuringQuestion& question, std::size_t runs_max);

  // A history of the runs: as parser::run_history() has it. Thread-safe.
  parser::RunHistory history(const MeasuredRuns& measured, const parser::RunSelection& selection,
                             const parser::RunMarkSet& included);

  // Measures all that a question of every run over its own window will ask for. Such a question
  // waits for a part of it at most, and measures the rest itself.
  void measure_ahead(storage::Reader& reader, const parser::Catalog& catalog, std::size_t runs_max,
                     const std::function<bool()>& is_stopping);

 private:
  struct Window {
    std::string asked;
    std::shared_ptr<KeptWindow> runs;
  };

  std::shared_ptr<KeptWindow> window_of(const MeasuringQuestion& question);

  std::mutex mutex_;
  std::list<Window> windows_;  // the one that was asked for last is the first
  KeptChanges changes_;
};

}  // namespace llmb::api
