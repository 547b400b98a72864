#include "server/api/latest_results.h"

#include <set>
#include <tuple>
#include <utility>

#include "parser/foundation/safe_text.h"

namespace llmb::api {
namespace {

constexpr std::int64_t kRunsLookedAt = 500;

LatestResult result_of(const storage::RunRecord& run, const parser::TreeClusters& trees) {
  const parser::RunIdentity& identity = run.listed.identity;
  LatestResult result;
  result.workload = parser::safe_text(identity.workload);
  result.model_size = parser::safe_text(identity.model_size);
  result.dtype = parser::safe_text(identity.dtype);
  result.gpu_type = parser::safe_text(identity.gpu_type);
  if (identity.gpu_count) result.gpu_count = std::to_string(*identity.gpu_count);
  result.cluster = parser::safe_text(trees.of(run.root_id, run.cluster));
  result.run = run.id;
  if (run.summary.step_time_s) result.step_time_s = run.summary.step_time_s->mean;
  result.tokens_per_s_per_gpu = run.listed.tokens_per_s_per_gpu;
  result.mfu = run.listed.mfu;
  result.speed_against_reference = run.listed.speed_against_reference;
  return result;
}

auto configuration_of(const LatestResult& result) {
  return std::tuple(result.workload, result.model_size, result.dtype, result.gpu_type,
                    result.gpu_count, result.cluster);
}

std::vector<LatestResult> read_latest(storage::Reader& reader) {
  storage::RunQuery query;
  query.filter.status = {parser::RunStatus::complete};
  query.filter.is_unmarked = true;
  query.limit = kRunsLookedAt;
  const parser::TreeClusters trees = reader.tree_clusters();
  std::vector<LatestResult> results;
  std::set<decltype(configuration_of(LatestResult{}))> seen;
  for (const storage::RunRecord& run : reader.runs(query).runs) {
    LatestResult result = result_of(run, trees);
    if (!seen.insert(configuration_of(result)).second) continue;
    results.push_back(std::move(result));
    if (results.size() == LatestResults::kResultsMax) break;
  }
  return results;
}

}  // namespace

std::vector<LatestResult> LatestResults::read(ReaderPool& readers) {
  return readers.with_reader([&](storage::Reader& reader) {
    const std::lock_guard lock(mutex_);
    const std::int64_t revision = reader.data_revision();
    if (revision != revision_) {
      results_ = read_latest(reader);
      revision_ = revision;
    }
    return results_;
  });
}

}  // namespace llmb::api
