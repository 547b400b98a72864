#include "server/api/kept_runs.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

// Read at once, so that what takes most memory of a run does not stand for all of them.
constexpr std::size_t kRunsAtOnce = 500;

// Equal for questions that measure a run alike.
std::string key_of(const MeasuringQuestion& question) {
  std::string key;
  if (question.window) {
    key = question.window->range ? parser::to_string(*question.window->range) : "last";
  }
  for (const parser::StepInterruption left_out : question.without) {
    key += " " + std::to_string(static_cast<int>(left_out));
  }
  return key;
}

}  // namespace

MeasuredRuns KeptWindow::read(storage::Reader& reader, const parser::Catalog& catalog,
                              const MeasuringQuestion& question, std::size_t runs_max) {
  const std::lock_guard lock(mutex_);
  // Of a database that went back, equal revisions may be of other contents.
  const std::int64_t revision = reader.data_revision();
  if (revision < std::exchange(data_revision_, revision)) kept_.clear();
  const storage::RunFilter filter = filter_of(catalog, question);
  const auto versions = reader.newest_run_versions(filter, static_cast<std::int64_t>(runs_max));
  MeasuredRuns measured;
  measured.trees = reader.tree_clusters();
  if (versions.size() == runs_max) {
    const auto held = static_cast<std::int64_t>(versions.size());
    measured.older_left_out = std::max<std::int64_t>(0, reader.run_count(filter) - held);
  }
  std::vector<storage::RunId> changed;
  for (const storage::RunVersion& version : versions) {
    if (!is_current(version, measured.trees)) changed.push_back(version.id);
  }
  measure(reader, catalog, question, measured.trees, changed);
  measured.scaling.reserve(versions.size());
  measured.history.reserve(versions.size());
  for (const storage::RunVersion& version : versions) {
    const auto known = kept_.find(version.id);
    // One that was removed meanwhile is not there.
    if (known == kept_.end()) continue;
    measured.scaling.push_back(known->second.scaling);
    measured.history.push_back(known->second.history);
  }
  drop_unasked(versions, runs_max);
  return measured;
}

// Another run of its tree may have named the cluster since, or a second one.
bool KeptWindow::is_current(const storage::RunVersion& version,
                            const parser::TreeClusters& trees) const {
  const auto known = kept_.find(version.id);
  if (known == kept_.end() || known->second.version != version) return false;
  const parser::HistoryRun& run = *known->second.history;
  return !known->second.is_named_by_tree ||
         run.cluster.value_or("") == trees.of(run.tree, std::nullopt);
}

void KeptWindow::measure(storage::Reader& reader, const parser::Catalog& catalog,
                         const MeasuringQuestion& question, const parser::TreeClusters& trees,
                         std::span<const storage::RunId> runs) {
  while (!runs.empty()) {
    const auto ids = runs.first(std::min(kRunsAtOnce, runs.size()));
    runs = runs.subspan(ids.size());
    for (const storage::RunId id : ids) kept_.erase(id);
    for (const storage::RunRecord& run : reader.listed_runs(ids)) {
      auto measured =
          report::measure_stored_run(reader, run, catalog, question.window, question.without);
      if (!measured) {
        measured =
            report::unmeasured_run(reader, run, catalog, question.window, measured.error().message);
      }
      parser::name_cluster(*measured, trees);
      kept_[run.id] = {{run.id, run.revision, run.grown_at},
                       !run.cluster,
                       parser::scaling_run(*measured, scaling_configurations_),
                       parser::history_run(*measured, history_configurations_)};
    }
  }
}

// Questions differ in the runs that they ask for; twice as many as one takes are kept.
void KeptWindow::drop_unasked(std::span<const storage::RunVersion> asked, std::size_t runs_max) {
  if (kept_.size() <= 2 * runs_max) return;
  std::unordered_map<storage::RunId, Kept> still;
  for (const storage::RunVersion& version : asked) {
    const auto known = kept_.find(version.id);
    if (known != kept_.end()) still.insert(kept_.extract(known));
  }
  kept_ = std::move(still);
  scaling_configurations_.drop_unused();
  history_configurations_.drop_unused();
}

std::shared_ptr<KeptWindow> KeptRuns::window_of(const MeasuringQuestion& question) {
  const std::string asked = key_of(question);
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(windows_.begin(), windows_.end(),
                                  [&](const Window& window) { return window.asked == asked; });
  if (known != windows_.end()) {
    windows_.splice(windows_.begin(), windows_, known);
  } else {
    windows_.push_front({asked, std::make_shared<KeptWindow>()});
    if (windows_.size() > kWindowsMax) windows_.pop_back();
  }
  return windows_.front().runs;
}

void KeptRuns::measure_ahead(storage::Reader& reader, const parser::Catalog& catalog,
                             std::size_t runs_max, const std::function<bool()>& is_stopping) {
  const MeasuringQuestion every_run;
  const std::shared_ptr<KeptWindow> window = window_of(every_run);
  for (std::size_t count = std::min(kRunsAtOnce, runs_max); !is_stopping();) {
    const MeasuredRuns measured = window->read(reader, catalog, every_run, count);
    if (count == runs_max) {
      history(measured, {}, every_run.included);
      return;
    }
    count = std::min(2 * count, runs_max);
  }
}

MeasuredRuns KeptRuns::read(storage::Reader& reader, const parser::Catalog& catalog,
                            const MeasuringQuestion& question, std::size_t runs_max) {
  return window_of(question)->read(reader, catalog, question, runs_max);
}

parser::RunHistory KeptRuns::history(const MeasuredRuns& measured,
                                     const parser::RunSelection& selection,
                                     const parser::RunMarkSet& included) {
  return parser::run_history(
      measured.history, selection, included, measured.trees,
      [this](std::span<const double> values, const parser::SegmentationOptions& options) {
        return changes_.of(values, options);
      });
}

}  // namespace llmb::api
