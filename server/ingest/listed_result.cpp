#include "server/ingest/listed_result.h"

#include <spdlog/spdlog.h>

#include <vector>

#include "parser/statistics/run_marks.h"
#include "storage/listed_marks.h"

namespace llmb::ingest {
namespace {

// Raised when the same catalog would give other figures than an earlier program derived.
constexpr std::uint64_t kFormulasVersion = 6;
constexpr std::int64_t kRunsAtOnce = 500;

std::uint64_t hash_of(const parser::Catalog& catalog) {
  return catalog.content_hash + kFormulasVersion;
}

}  // namespace

storage::ListedResult listed_result(const parser::Catalog& catalog,
                                    const parser::Judgement& judgement,
                                    const parser::RunConfiguration& configuration,
                                    const parser::LogFacts& facts) {
  const parser::RunMetrics& metrics = judgement.metrics;
  storage::ListedResult listed;
  listed.identity = parser::identity_of(judgement.match, configuration);
  listed.tokens_per_s_per_gpu = metrics.derived.tokens_per_s_per_gpu.value;
  listed.mfu = metrics.derived.mfu.value;
  listed.speed_against_reference = metrics.speed_against_reference;
  listed.catalog_hash = hash_of(catalog);
  listed.has_run_all_steps = parser::has_run_all_steps(judgement.summary);
  const auto marks = parser::marks_of({.summary = judgement.summary,
                                       .configuration = configuration,
                                       .nccl_trace_seen = facts.nccl_trace_seen,
                                       .is_proxy = judgement.match.is_proxy(),
                                       .metrics = &metrics.derived});
  for (const parser::RunMarkReason& mark : marks) {
    if (storage::is_listed_mark(mark.mark)) listed.marks.insert(mark.mark);
  }
  return listed;
}

storage::ListedResult listed_result(const parser::Catalog& catalog, const storage::RunRecord& run) {
  const parser::RunToJudge stored = {
      .facts = run.facts,
      .configuration = run.configuration,
      .samples = {},
      .logged_batch = parser::LoggedBatch{run.logged_global_batch_size},
      .known_summary = &run.summary};
  const parser::JudgingOptions options = {.window = parser::AskedWindow{run.summary.window},
                                          .tokens_to_train = parser::kTokensToTrainDefault};
  const parser::Judgement judgement = parser::judge_run(catalog, stored, options);
  return listed_result(catalog, judgement, run.configuration, run.facts);
}

void bring_lists_up_to_date(storage::Writer& writer, const std::string& database_path,
                            const parser::Catalog& catalog) {
  storage::Reader reader(database_path);
  std::size_t count = 0;
  storage::RunId last = 0;
  for (;;) {
    const auto runs = reader.runs_not_listed_by(hash_of(catalog), last, kRunsAtOnce);
    if (runs.empty()) break;
    std::vector<storage::Writer::JudgedRun> judged;
    judged.reserve(runs.size());
    for (const storage::RunRecord& run : runs) {
      judged.push_back({run.id, run.revision, listed_result(catalog, run)});
    }
    writer.update_listed(judged);
    count += runs.size();
    last = runs.back().id;
  }
  if (count > 0) {
    spdlog::info("derived MFU, tokens/s/GPU and speed of {} stored runs by this catalog", count);
  }
}

}  // namespace llmb::ingest
