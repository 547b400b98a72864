// The text that a list of runs is filtered by: what it is looked for in, and what counts as equal.
#include <gmock/gmock.h>

#include "storage/database.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// ASCII letters of either case are one; all else counts as it is.
TEST(TextFilter, FindsInTheExperimentAndInThePath) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  const auto commit = [&](const std::string& experiment, const std::string& path, int generation) {
    IngestBatch batch = make_batch(root, path, 1);
    batch.path.experiment = experiment;
    batch.generation = generation;
    return writer.commit({&batch, 1}).front();
  };
  const RunId old = commit("Alpha_50%", "a/ONE.out", 1);
  const RunId alpha = commit("Alpha_50%", "a/ONE.out", 2);
  const RunId beta = commit("beta", "b\\Two_alpha.out", 1);
  const RunId gamma = commit("Größe", "c/ÄÖ.out", 1);
  Reader reader(database.path());
  const auto found = [&](const std::string& text, bool include_superseded = false,
                         AnyOf<std::int64_t> job_id = {}) {
    RunQuery query;
    query.filter.text = text;
    query.filter.include_superseded = include_superseded;
    query.filter.job_id = std::move(job_id);
    query.sort = RunSortKey::id;
    query.descending = false;
    query.wants_total = true;
    const RunPage page = reader.runs(query);
    EXPECT_EQ(page.total, static_cast<std::int64_t>(page.runs.size())) << text;
    EXPECT_EQ(reader.run_count(query.filter), page.total) << text;
    std::vector<RunId> ids;
    for (const RunRecord& run : page.runs) ids.push_back(run.id);
    return ids;
  };
  EXPECT_THAT(found("aLPHA"), ElementsAre(alpha, beta));
  EXPECT_THAT(found("alpha", true), ElementsAre(old, alpha, beta));
  EXPECT_THAT(found("alpha", false, {7}), IsEmpty());
  EXPECT_THAT(found("one.OUT"), ElementsAre(alpha));
  EXPECT_THAT(found("%"), ElementsAre(alpha));
  EXPECT_THAT(found("_"), ElementsAre(alpha, beta));
  EXPECT_THAT(found("a_5"), ElementsAre(alpha));
  EXPECT_THAT(found("a_o"), IsEmpty());
  EXPECT_THAT(found("\\"), ElementsAre(beta));
  EXPECT_THAT(found("B\\t"), ElementsAre(beta));
  EXPECT_THAT(found("größE"), ElementsAre(gamma));
  EXPECT_THAT(found("GRÖSSE"), IsEmpty());
  EXPECT_THAT(found("GRÖ"), IsEmpty());
  EXPECT_THAT(found("/ÄÖ"), ElementsAre(gamma));
  EXPECT_THAT(found("/äö"), IsEmpty());
  RunFilter alphas;
  alphas.text = "ALPHA";
  EXPECT_EQ(reader.experiments(alphas, 10, "").size(), 2U);
}

}  // namespace
}  // namespace llmb::storage
