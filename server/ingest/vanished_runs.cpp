#include "server/ingest/vanished_runs.h"

#include <span>
#include <vector>

#include "parser/statistics/judge_run.h"
#include "server/ingest/listed_result.h"

namespace llmb::ingest {
namespace {

// The window and what chose it stay.
void judge_as_over(storage::Reader& reader, const parser::Catalog& catalog,
                   storage::RunRecord& run) {
  std::vector<parser::StepSample> samples;
  const parser::RunToJudge log = {.facts = run.facts,
                                  .configuration = run.configuration,
                                  .samples =
                                      [&](const parser::Window& window) {
                                        samples = reader.steps(run.id, window);
                                        return std::span<const parser::StepSample>(samples);
                                      },
                                  .logged_batch = parser::LoggedBatch{run.logged_global_batch_size},
                                  .may_still_grow = false};
  const parser::JudgingOptions options = {.window = parser::AskedWindow{run.summary.window},
                                          .tokens_to_train = parser::kTokensToTrainDefault};
  const parser::Judgement judgement = parser::judge_run(catalog, log, options);
  run.listed = listed_result(catalog, judgement, run.configuration, run.facts);
  run.summary = judgement.summary;
  run.summary.status_reason += run.is_superseded
                                   ? "; its log was written anew while it was running"
                                   : "; its log was deleted or moved while it was running";
}

}  // namespace

void judge_vanished_runs(storage::Writer& writer, const std::string& database_path,
                         const parser::Catalog& catalog, std::span<const storage::RootId> roots) {
  storage::Reader reader(database_path);
  for (const storage::RootId root : roots) {
    for (const storage::RunId id : reader.vanished_while_running(root)) {
      auto run = reader.run(id);
      if (!run) continue;
      judge_as_over(reader, catalog, *run);
      writer.update_verdict(*run);
    }
  }
}

}  // namespace llmb::ingest
