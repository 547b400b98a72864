// The newest runs and what they are, against the list that has them first.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "storage/database.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

constexpr int kRuns = 300;

// Each has a start of its own or that of others, or none, in no order.
void fill(Writer& writer) {
  const RootId root = writer.upsert_root("/logs", "");
  std::vector<IngestBatch> batches;
  for (int i = 0; i < kRuns; ++i) {
    IngestBatch batch = make_batch(root, "runs/" + std::to_string(i) + ".out", 1);
    batch.path.experiment = "experiment_" + std::to_string(i % 7);
    if (i % 3 != 0) batch.path.launched_at = "2026-01-0" + std::to_string(1 + i * 31 % 9);
    batch.observed_at = "2026-01-0" + std::to_string(1 + i * 17 % 9) + "T00:00:00Z";
    batch.summary.status = i % 2 == 0 ? parser::RunStatus::complete : parser::RunStatus::failed;
    batch.configuration.set("gpu_count", std::to_string(8 << i % 5), parser::ConfigSource::path);
    batches.push_back(std::move(batch));
  }
  writer.commit(batches);
}

std::vector<RunVersion> versions_of(const std::vector<RunRecord>& runs) {
  std::vector<RunVersion> versions;
  for (const RunRecord& run : runs) versions.push_back({run.id, run.revision, run.grown_at});
  return versions;
}

std::vector<RunId> ids_of(const std::vector<RunRecord>& runs) {
  std::vector<RunId> ids;
  for (const RunRecord& run : runs) ids.push_back(run.id);
  return ids;
}

// Whether the order of launches is walked, or what matches is sorted, or is all that is asked for.
TEST(RunListNewest, AreThoseThatAListHasFirst) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  fill(writer);
  Reader reader(database.path());
  RunFilter half;
  half.status = {parser::RunStatus::complete};
  RunFilter few;
  few.experiment = {"experiment_3"};
  few.gpu_count = {8};
  RunFilter none;
  none.cluster = {"none such"};
  for (const RunFilter& filter : {RunFilter{}, half, few, none}) {
    for (const std::int64_t limit : {1, 50, kRuns / 2, kRuns, 500}) {
      RunQuery query;
      query.filter = filter;
      query.limit = limit;
      std::vector<RunRecord> expected = reader.runs(query).runs;
      std::ranges::sort(expected, {}, &RunRecord::id);
      EXPECT_EQ(reader.newest_run_versions(filter, limit), versions_of(expected));
      const auto read = reader.listed_runs(ids_of(expected));
      ASSERT_EQ(versions_of(read), versions_of(expected));
      for (std::size_t i = 0; i < read.size(); ++i) {
        EXPECT_EQ(read[i].configuration, expected[i].configuration);
        EXPECT_EQ(read[i].relative_path, expected[i].relative_path);
      }
    }
  }
}

TEST(RunListNewest, RunsAreReadByIdAndThoseThatAreNotThereLeftOut) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  fill(writer);
  Reader reader(database.path());
  EXPECT_EQ(ids_of(reader.listed_runs(std::vector<RunId>{3, 1, 9'999})),
            (std::vector<RunId>{1, 3}));
  EXPECT_TRUE(reader.listed_runs({}).empty());
}

}  // namespace
}  // namespace llmb::storage
