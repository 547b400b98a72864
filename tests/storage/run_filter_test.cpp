// What each filter of the list of runs chooses, and what a list of experiments makes of its runs.
#include <gmock/gmock.h>

#include <algorithm>

#include "storage/database.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

class RunFilters : public testing::Test {
 protected:
  RunFilters() : writer_(database_.options()) {
    root_ = writer_.upsert_root("/logs", "eos");
    other_root_ = writer_.upsert_root("/other", "");
    IngestBatch grok = make_batch(root_, "experiments/grok/100%_done.out", 1);
    grok.path.experiment = "pretrain_grok1";
    grok.path.job_id = 77;
    grok.path.launched_at = "2026-05-01T00:00:00Z";
    grok.summary.status = parser::RunStatus::complete;
    for (const auto& [key, value] : {std::pair{"workload", "pretrain_grok1"},
                                     {"model_size", "314b"},
                                     {"dtype", "fp8"},
                                     {"gpu_type", "gb200"},
                                     {"gpu_count", "512"},
                                     {"release", "25.07"}}) {
      grok.configuration.set(key, value, parser::ConfigSource::experiment_name);
    }
    const IngestBatch llama = make_batch(other_root_, "experiments/llama/1000_done.out", 1);
    writer_.commit(std::vector{grok, llama});
  }

  std::vector<std::string> found(const RunFilter& filter) {
    Reader reader(database_.path());
    RunQuery query;
    query.filter = filter;
    std::vector<std::string> paths;
    for (const RunRecord& run : reader.runs(query).runs) paths.push_back(run.relative_path);
    EXPECT_EQ(reader.run_count(filter), static_cast<std::int64_t>(paths.size()));
    return paths;
  }

  const TemporaryDatabase database_;
  Writer writer_;
  RootId root_ = 0;
  RootId other_root_ = 0;
};

template <typename Value>
RunFilter filter_by(AnyOf<Value> RunFilter::*field, std::vector<Value> values) {
  RunFilter filter;
  filter.*field = std::move(values);
  return filter;
}

template <typename Value>
RunFilter filter_by(std::optional<Value> RunFilter::*field, Value value) {
  RunFilter filter;
  filter.*field = std::move(value);
  return filter;
}

TEST_F(RunFilters, EachChoosesItsRuns) {
  const std::vector<std::string> grok = {"experiments/grok/100%_done.out"};
  using Text = std::string;
  EXPECT_EQ(found(filter_by<Text>(&RunFilter::experiment, {"pretrain_grok1"})), grok);
  EXPECT_EQ(found(filter_by<Text>(&RunFilter::workload, {"pretrain_grok1"})), grok);
  EXPECT_EQ(found(filter_by<Text>(&RunFilter::model_size, {"314b"})), grok);
  EXPECT_EQ(found(filter_by<Text>(&RunFilter::dtype, {"fp8"})), grok);
  EXPECT_EQ(found(filter_by<Text>(&RunFilter::gpu_type, {"gb200"})), grok);
  EXPECT_EQ(found(filter_by<Text>(&RunFilter::release, {"25.07"})), grok);
  EXPECT_EQ(found(filter_by<Text>(&RunFilter::cluster, {"eos"})), grok);
  EXPECT_EQ(found(filter_by<Text>(&RunFilter::since, "2026-05-01T00:00:00Z")), grok);
  EXPECT_EQ(found(filter_by<std::int64_t>(&RunFilter::gpu_count, {512})), grok);
  EXPECT_EQ(found(filter_by<std::int64_t>(&RunFilter::job_id, {77})), grok);
  EXPECT_EQ(found(filter_by<RootId>(&RunFilter::root_id, {root_})), grok);
  EXPECT_EQ(found(filter_by<parser::RunStatus>(&RunFilter::status, {parser::RunStatus::complete})),
            grok);
  EXPECT_TRUE(found(filter_by<Text>(&RunFilter::dtype, {"fp8' OR '1'='1"})).empty());
  EXPECT_TRUE(found(filter_by<Text>(&RunFilter::since, "2026-05-01T00:00:01Z")).empty());
  EXPECT_EQ(found({}).size(), 2U);
}

TEST_F(RunFilters, SeveralValuesAreAlternatives) {
  using Text = std::string;
  EXPECT_EQ(found(filter_by<Text>(&RunFilter::dtype, {"bf16", "fp8"})).size(), 1U);
  EXPECT_EQ(found(filter_by<Text>(&RunFilter::dtype, {"bf16", "nvfp4"})).size(), 0U);
  EXPECT_EQ(found(filter_by<parser::RunStatus>(&RunFilter::status, {parser::RunStatus::complete,
                                                                    parser::RunStatus::running}))
                .size(),
            2U);
  EXPECT_EQ(found(filter_by<RootId>(&RunFilter::root_id, {root_, other_root_})).size(), 2U);
}

// Of the only one that its root's runs name, whatever else is asked for; "": of none.
TEST(RunClusters, ARunThatNamesNoneIsOfItsTrees) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  std::vector<IngestBatch> batches;
  const auto add = [&](RootId root, const std::string& path, const std::string& cluster) {
    batches.push_back(make_batch(root, path, 1));
    batches.back().path.experiment = path;
    if (cluster.empty()) return;
    batches.back().configuration.set("cluster", cluster, parser::ConfigSource::llmb_config);
  };
  const RootId of_one = writer.upsert_root("/of_one", "");
  add(of_one, "named", "eos");
  add(of_one, "unnamed", "");
  const RootId of_two = writer.upsert_root("/of_two", "");
  add(of_two, "first", "eos");
  add(of_two, "second", "ord");
  add(of_two, "either", "");
  add(writer.upsert_root("/of_none", ""), "lonely", "");
  add(writer.upsert_root("/given", "ord"), "given", "");
  writer.commit(batches);
  Reader reader(database.path());
  const auto expect = [&](std::vector<std::string> clusters, const std::vector<std::string>& all) {
    RunQuery query;
    query.filter.cluster = std::move(clusters);
    std::vector<std::string> found;
    for (const RunRecord& run : reader.runs(query).runs) found.push_back(run.relative_path);
    EXPECT_THAT(found, testing::UnorderedElementsAreArray(all));
    std::vector<std::string> experiments;
    for (const auto& one : reader.experiments(query.filter, 50, "")) {
      experiments.push_back(one.experiment);
    }
    EXPECT_THAT(experiments, testing::UnorderedElementsAreArray(all));
    EXPECT_EQ(reader.run_count(query.filter), static_cast<std::int64_t>(all.size()));
    EXPECT_EQ(reader.newest_run_versions(query.filter, 50).size(), all.size());
  };
  expect({"eos"}, {"named", "unnamed", "first"});
  expect({"ord"}, {"second", "given"});
  expect({"eos", "ord"}, {"named", "unnamed", "first", "second", "given"});
  expect({""}, {"either", "lonely"});
  expect({"", "ord"}, {"either", "lonely", "second", "given"});
  expect({"none such"}, {});
  EXPECT_EQ(reader.tree_clusters().of(of_one, std::nullopt), "eos");
  EXPECT_EQ(reader.tree_clusters().of(of_two, std::nullopt), "");
}

// A hung run is not called failed, and one that still runs may hang.
TEST(RunEnds, OneFilterFindsAllThatEndedBadly) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  using parser::RunStatus;
  std::vector<IngestBatch> batches;
  const auto add = [&](const char* name, RunStatus status, const char* cause) {
    batches.push_back(make_batch(root, name, 1));
    batches.back().summary.status = status;
    batches.back().summary.failure_cause = cause;
  };
  add("failed", RunStatus::failed, "cuda_oom");
  add("stopped", RunStatus::incomplete, "");
  add("traced", RunStatus::incomplete, "");
  batches.back().listed.has_run_all_steps = true;
  add("hung", RunStatus::incomplete, "hung");
  add("hangs", RunStatus::running, "hung");
  add("invalid", RunStatus::invalid, "");
  add("empty", RunStatus::no_data, "");
  add("runs", RunStatus::running, "");
  add("complete", RunStatus::complete, "");
  writer.commit(batches);
  Reader reader(database.path());
  const auto found = [&](std::vector<RunStatus> statuses) {
    RunQuery query;
    query.filter.ended_badly = true;
    query.filter.status = std::move(statuses);
    std::vector<std::string> paths;
    for (const RunRecord& run : reader.runs(query).runs) paths.push_back(run.relative_path);
    EXPECT_EQ(reader.run_count(query.filter), static_cast<std::int64_t>(paths.size()));
    return paths;
  };
  EXPECT_THAT(found({}), testing::UnorderedElementsAre("failed", "stopped", "hung", "hangs",
                                                       "invalid", "empty"));
  EXPECT_THAT(found({RunStatus::complete}),
              testing::UnorderedElementsAre("failed", "stopped", "hung", "hangs", "invalid",
                                            "empty", "complete"));
  EXPECT_THAT(found({RunStatus::incomplete}), testing::Contains("traced"));
  RunQuery unmarked;
  unmarked.filter.is_unmarked = true;
  unmarked.filter.status = {RunStatus::incomplete};
  EXPECT_EQ(reader.run_count(unmarked.filter), 3) << "it is no mark";
  const auto runs = reader.runs(unmarked).runs;
  EXPECT_EQ(std::count_if(runs.begin(), runs.end(),
                          [](const RunRecord& run) { return run.listed.has_run_all_steps; }),
            1);
}

TEST(RunFigures, FilterByRangeCauseAndMark) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  std::vector<IngestBatch> batches;
  for (int i = 0; i < 4; ++i) batches.push_back(make_batch(root, std::to_string(i) + ".out", 1));
  batches[0].listed = {{}, 100.0, 0.4, 1.02, {}, 7};
  batches[1].listed = {{}, 90.0, 0.3, 0.94, {parser::RunMark::traced}, 7};
  batches[2].listed = {{}, 80.0, 0.2, std::nullopt, {parser::RunMark::proxy}, 8};
  batches[2].summary.failure_cause = "cuda_oom";
  batches[3].profiles = {{"nsys_profile/p.nsys-rep", 1, {}}};
  const std::vector<RunId> ids = writer.commit(batches);
  Reader reader(database.path());
  const auto count = [&](auto change) {
    RunFilter filter;
    change(filter);
    return reader.run_count(filter);
  };
  const auto speed = [&](std::optional<double> low, std::optional<double> high) {
    return count([&](RunFilter& filter) { filter.speed_against_reference = {low, high}; });
  };
  EXPECT_EQ(speed(0.95, {}), 1);
  EXPECT_EQ(speed({}, 0.94), 1);
  EXPECT_EQ(speed(0.9, 1.1), 2);
  EXPECT_EQ(count([](RunFilter& filter) { filter.tokens_per_s_per_gpu.at_least = 90; }), 2);
  EXPECT_EQ(count([](RunFilter& filter) { filter.mfu.at_most = 0.25; }), 1);
  EXPECT_EQ(count([](RunFilter& filter) { filter.failure_cause = {"cuda_oom", "hung"}; }), 1);
  EXPECT_EQ(count([](RunFilter& filter) { filter.marks = {parser::RunMark::traced}; }), 1);
  EXPECT_EQ(count([](RunFilter& filter) { filter.marks = {parser::RunMark::profiled}; }), 1);
  EXPECT_EQ(count([](RunFilter& filter) { filter.is_unmarked = true; }), 1);
  EXPECT_EQ(count([](RunFilter& filter) {
              filter.is_unmarked = true;
              filter.marks = {parser::RunMark::traced, parser::RunMark::proxy};
            }),
            3);
  EXPECT_TRUE(reader.run(ids[3])->is_profiled);
  EXPECT_EQ(reader.run(ids[1])->listed, batches[1].listed);
}

TEST_F(RunFilters, TextIsTakenLiterally) {
  const auto by_text = [this](std::string text) {
    return found(filter_by(&RunFilter::text, std::move(text))).size();
  };
  EXPECT_EQ(by_text("done"), 2U);
  EXPECT_EQ(by_text("DONE"), 2U);
  EXPECT_EQ(by_text("100%_"), 1U);
  EXPECT_EQ(by_text("%"), 1U);
  EXPECT_EQ(by_text("100_done"), 0U);
  EXPECT_EQ(by_text("\\"), 0U);
  EXPECT_EQ(by_text("pretrain_grok"), 1U);
  EXPECT_EQ(by_text(""), 2U);
  EXPECT_EQ(by_text(std::string(200'000, '%')), 0U);
}

TEST(ExperimentList, AmountsToItsRuns) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  const RootId other = writer.upsert_root("/other", "");
  std::vector<IngestBatch> batches;
  const auto add = [&](RootId where, const char* experiment, parser::RunStatus status,
                       double mean) {
    batches.push_back(make_batch(where, std::to_string(batches.size())));
    batches.back().path.experiment = experiment;
    batches.back().summary.status = status;
    batches.back().observed_at = "2026-01-0" + std::to_string(batches.size()) + "T00:00:00Z";
    if (mean > 0) batches.back().summary.step_time_s = {34, mean, 0, 0, 0, 0, 0, 0};
  };
  add(root, "a", parser::RunStatus::complete, 3);
  add(root, "a", parser::RunStatus::complete, 2);
  add(root, "a", parser::RunStatus::running, 1);
  add(root, "b", parser::RunStatus::no_data, 0);
  add(other, "b", parser::RunStatus::complete, 5);
  add(root, "c", parser::RunStatus::running, 0);
  writer.commit(batches);

  Reader reader(database.path());
  const auto first = reader.experiments({}, 2, "");
  ASSERT_EQ(first.size(), 3U);  // an experiment of two roots is not torn apart
  EXPECT_EQ(first[0].experiment, "a");
  EXPECT_EQ(first[0].run_count, 3);
  EXPECT_EQ(first[0].complete_count, 2);
  EXPECT_EQ(first[0].running_count, 1);
  EXPECT_EQ(first[0].best_step_time_s_mean, 2);
  EXPECT_EQ(first[0].latest_step_time_s_mean, 1);
  EXPECT_EQ(first[0].last_grown_at, "2026-01-03T00:00:00Z");
  EXPECT_EQ(first[1].root_id, root);
  EXPECT_FALSE(first[1].best_step_time_s_mean);
  EXPECT_EQ(first[2].root_id, other);
  const auto rest = reader.experiments({}, 2, first.back().experiment);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].experiment, "c");

  RunFilter complete;
  complete.status = {parser::RunStatus::complete};
  complete.experiment = {"a"};
  const auto of_complete = reader.experiments(complete, 2, "");
  ASSERT_EQ(of_complete.size(), 1U);
  EXPECT_EQ(of_complete[0].run_count, 2);
  EXPECT_EQ(of_complete[0].last_grown_at, "2026-01-02T00:00:00Z");
  EXPECT_EQ(of_complete[0].latest_step_time_s_mean, 2) << "of those that match";
}

}  // namespace
}  // namespace llmb::storage
