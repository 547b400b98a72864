// The text that a list of runs is filtered by: what it is looked for in, and what counts as equal.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "storage/database.h"
#include "storage/searched_text.h"
#include "storage/stored_tables.h"
#include "tests/storage/execute_sql.h"
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
    const RunPage page = reader.runs(query);
    EXPECT_EQ(page.total.runs, static_cast<std::int64_t>(page.runs.size())) << text;
    EXPECT_EQ(reader.run_count(query.filter), page.total.runs) << text;
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
  EXPECT_THAT(found("PHA_50%"), ElementsAre(alpha));
  EXPECT_THAT(found("alpha_50%ONE"), IsEmpty());
  EXPECT_THAT(found("out Alpha"), IsEmpty());  // of the path's end and the name's beginning
  EXPECT_THAT(found("a\"b"), IsEmpty());
  EXPECT_THAT(found("b\\two_ALPHA.OUT"), ElementsAre(beta));
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

TEST(TrigramsToMatch, AreSomeOfTheWholeTextAndOfAsciiAlone) {
  EXPECT_EQ(trigrams_to_match("grok"), R"("gro" AND "rok")");
  EXPECT_EQ(trigrams_to_match("pretrain"), R"("pre" AND "tra" AND "ain")");
  EXPECT_EQ(trigrams_to_match("a\"b"), R"("a""b")");
  EXPECT_EQ(trigrams_to_match("größe_1"), R"("e_1")");
  EXPECT_EQ(trigrams_to_match("gr"), std::nullopt);
  EXPECT_EQ(trigrams_to_match("gröaß"), std::nullopt);
  EXPECT_EQ(trigrams_to_match(std::string("ab\0cd", 5)), std::nullopt);
  EXPECT_LT(trigrams_to_match(std::string(4'000, 'a'))->size(), 100U);
}

// Texts go into their index a thousand at a time, as paths come, change and go.
TEST(TextFilter, FindsWhatARunIsCalledNow) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  std::vector<IngestBatch> batches;
  batches.reserve(1'990);
  for (int i = 0; i < 1'990; ++i) {
    batches.push_back(make_batch(root, fmt::format("old_{}\xc3\xff.out", i), 1));
    batches.back().path.experiment = "";
  }
  writer.commit(batches);
  const auto count = [&](const std::string& text) {
    RunFilter filter;
    filter.text = text;
    return Reader(database.path()).run_count(filter);
  };
  EXPECT_EQ(count("old_3"), 111);
  EXPECT_EQ(count("old_13"), 111);
  EXPECT_EQ(count("\xff.OUT"), 1'990);
  execute_sql(database.path(), "UPDATE run SET relative_path = 'new' || id WHERE id > 100");
  EXPECT_EQ(count("old_3"), 11);
  EXPECT_EQ(count("old_13"), 1);
  EXPECT_EQ(count("NEW"), 1'890);
  std::string removal;
  for (const StoredTable& table : kStoredTables) {
    if (table.run_column.empty()) continue;
    removal = fmt::format("DELETE FROM {} WHERE {} > 700;", table.name, table.run_column) + removal;
  }
  execute_sql(database.path(), removal);
  EXPECT_EQ(count("new"), 600);
  EXPECT_EQ(count("ne"), 600);
  EXPECT_EQ(count("old_"), 100);
}

}  // namespace
}  // namespace llmb::storage
