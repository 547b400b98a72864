// Pages of runs against a slow oracle: all runs, sorted in memory.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>
#include <variant>

#include "storage/database.h"
#include "storage/run_combinations.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

constexpr RunSortKey kAllKeys[] = {RunSortKey::id,
                                   RunSortKey::launched_at,
                                   RunSortKey::grown_at,
                                   RunSortKey::experiment,
                                   RunSortKey::status,
                                   RunSortKey::gpu_count,
                                   RunSortKey::step_time_s_mean,
                                   RunSortKey::step_time_s_stddev_sample,
                                   RunSortKey::step_time_s_median,
                                   RunSortKey::step_time_s_p95,
                                   RunSortKey::tflops_per_gpu_mean,
                                   RunSortKey::tokens_per_s_per_gpu,
                                   RunSortKey::mfu,
                                   RunSortKey::speed_against_reference,
                                   RunSortKey::failure_cause,
                                   RunSortKey::last_iteration,
                                   RunSortKey::step_count};

// Few distinct values and many absent ones: ties and NULLs are what pages get wrong.
IngestBatch random_batch(RootId root, int number, std::mt19937& random) {
  const auto below = [&](int limit) { return static_cast<int>(random() % unsigned(limit)); };
  IngestBatch batch = make_batch(root, "runs/" + std::to_string(number) + ".out", below(3));
  batch.path.experiment = "experiment_" + std::to_string(below(7));
  if (below(2) == 0) batch.path.launched_at = "2026-01-0" + std::to_string(1 + below(4));
  batch.observed_at = "2026-01-0" + std::to_string(1 + below(5)) + "T00:00:00Z";
  batch.summary.status = static_cast<parser::RunStatus>(below(6));
  if (below(3) != 0) {
    batch.configuration.set("gpu_count", std::to_string(8 << below(4)), parser::ConfigSource::path);
  }
  if (below(3) != 0) batch.summary.last_iteration = below(9);
  if (below(4) != 0) {
    const double mean = (1 + below(20)) / 3.0;
    batch.summary.step_time_s = {34, mean, 0.1, mean / 7, mean / 11, 0, 9, mean / 13};
  }
  if (below(4) == 0) {
    batch.summary.tflops_per_gpu = {1, below(2) == 0 ? 1e-300 : 1.0 / (1 + below(9)), 0, 0, 0, 0, 0,
                                    0};
  }
  if (below(3) != 0) batch.listed.tokens_per_s_per_gpu = 1000.0 / (1 + below(9));
  if (below(3) != 0) batch.listed.mfu = 1.0 / (2 + below(9));
  if (below(2) != 0) batch.listed.speed_against_reference = 1.0 + (below(9) - 4) / 100.0;
  if (below(3) == 0) batch.summary.failure_cause = below(2) == 0 ? "cuda_oom" : "time_limit";
  if (below(4) == 0) batch.listed.marks = {parser::RunMark::traced};
  return batch;
}

void fill(Writer& writer, int run_count) {
  std::mt19937 random(42);  // NOLINT: the same runs in every test run, on purpose
  const RootId root = writer.upsert_root("/logs", "");
  std::vector<IngestBatch> batches;
  batches.reserve(static_cast<std::size_t>(run_count));
  for (int i = 0; i < run_count; ++i) batches.push_back(random_batch(root, i, random));
  writer.commit(batches);
}

using SortValue = std::variant<std::monostate, std::int64_t, double, std::string>;

template <typename Value>
SortValue sort_value(const std::optional<Value>& value) {
  return value ? SortValue(*value) : SortValue();
}

SortValue value_of(const RunRecord& run, RunSortKey key) {
  const auto& time = run.summary.step_time_s;
  const auto& tflops = run.summary.tflops_per_gpu;
  switch (key) {
    case RunSortKey::id:
      return run.id;
    case RunSortKey::launched_at:
      return run.path.launched_at.value_or(run.first_seen_at);
    case RunSortKey::grown_at:
      return run.grown_at;
    case RunSortKey::experiment:
      return run.path.experiment;
    case RunSortKey::status:
      return std::string(parser::run_status_name(run.summary.status));
    case RunSortKey::gpu_count: {
      const auto count = run.configuration.value("gpu_count");
      return count ? SortValue(std::int64_t{std::stoll(*count)}) : SortValue();
    }
    case RunSortKey::step_time_s_mean:
      return time ? SortValue(time->mean) : SortValue();
    case RunSortKey::step_time_s_stddev_sample:
      return time ? SortValue(time->stddev_sample) : SortValue();
    case RunSortKey::step_time_s_median:
      return time ? SortValue(time->median) : SortValue();
    case RunSortKey::step_time_s_p95:
      return time ? SortValue(time->p95) : SortValue();
    case RunSortKey::tflops_per_gpu_mean:
      return tflops ? SortValue(tflops->mean) : SortValue();
    case RunSortKey::tokens_per_s_per_gpu:
      return sort_value(run.listed.tokens_per_s_per_gpu);
    case RunSortKey::mfu:
      return sort_value(run.listed.mfu);
    case RunSortKey::speed_against_reference:
      return sort_value(run.listed.speed_against_reference);
    case RunSortKey::failure_cause:
      return run.summary.failure_cause.empty() ? SortValue() : SortValue(run.summary.failure_cause);
    case RunSortKey::last_iteration:
      return sort_value(run.summary.last_iteration);
    case RunSortKey::step_count:
      return run.step_count;
  }
  return {};
}

std::vector<RunRecord> all_pages(Reader& reader, RunQuery query) {
  std::vector<RunRecord> runs;
  for (;;) {
    RunPage page = reader.runs(query);
    EXPECT_LE(page.runs.size(), static_cast<std::size_t>(query.limit));
    std::move(page.runs.begin(), page.runs.end(), std::back_inserter(runs));
    if (!page.next) return runs;
    if (page.runs.empty() || runs.size() > 100'000) {
      ADD_FAILURE() << "pages do not end";
      return runs;
    }
    query.after = page.next;
  }
}

std::vector<RunRecord> all_runs(Reader& reader) {
  RunQuery everything;
  everything.limit = 500;
  return all_pages(reader, everything);
}

std::vector<RunId> listed_ids(const std::vector<RunRecord>& runs) {
  std::vector<RunId> ids;
  ids.reserve(runs.size());
  for (const RunRecord& run : runs) ids.push_back(run.id);
  return ids;
}

std::vector<RunId> sorted_ids(const std::vector<RunRecord>& runs, RunSortKey key, bool descending) {
  std::vector<std::pair<SortValue, RunId>> order;
  order.reserve(runs.size());
  for (const RunRecord& run : runs) order.emplace_back(value_of(run, key), run.id);
  std::sort(order.begin(), order.end(), [descending](const auto& a, const auto& b) {
    const bool a_absent = std::holds_alternative<std::monostate>(a.first);
    const bool b_absent = std::holds_alternative<std::monostate>(b.first);
    if (a_absent != b_absent) return b_absent;
    return descending ? b < a : a < b;
  });
  std::vector<RunId> ids;
  ids.reserve(order.size());
  for (const auto& entry : order) ids.push_back(entry.second);
  return ids;
}

TEST(RunList, PagesOfEverySortKeyNeitherLoseNorRepeat) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  fill(writer, 1'000);
  Reader reader(database.path());
  const std::vector<RunRecord> runs = all_runs(reader);
  ASSERT_EQ(runs.size(), 1'000U);
  for (const RunSortKey key : kAllKeys) {
    for (const bool descending : {true, false}) {
      RunQuery query;
      query.sort = key;
      query.descending = descending;
      query.limit = 37;
      EXPECT_EQ(listed_ids(all_pages(reader, query)), sorted_ids(runs, key, descending))
          << run_sort_key_name(key) << (descending ? " descending" : " ascending");
    }
  }
}

TEST(RunList, TenThousandRunsPageConsistently) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  fill(writer, 10'000);
  Reader reader(database.path());
  RunQuery query;
  query.sort = RunSortKey::step_time_s_mean;
  query.limit = 50;
  const std::vector<RunRecord> runs = all_pages(reader, query);
  EXPECT_EQ(runs.size(), 10'000U);
  EXPECT_EQ(listed_ids(runs), sorted_ids(runs, query.sort, query.descending));
  EXPECT_EQ(reader.run_count({}), 10'000);
}

struct FilterAndOracle {
  const char* name;
  RunFilter filter;
  std::function<bool(const RunRecord&)> matches;
};

// Few matches are sorted, more are looked up along the sort key's index, where nearly all runs
// match each is looked at there; of a combination's runs an index holds the order, of figures and
// texts all runs are looked at.
std::vector<FilterAndOracle> filters_with_oracles() {
  std::vector<FilterAndOracle> all;
  const auto add = [&](const char* name, auto set, auto matches) {
    set(all.emplace_back(FilterAndOracle{name, {}, matches}).filter);
  };
  const auto is_third = [](const RunRecord& run) { return run.path.experiment == "experiment_3"; };
  const auto is_complete = [](const RunRecord& run) {
    return run.summary.status == parser::RunStatus::complete;
  };
  const auto began_since = [](const RunRecord& run, const char* time) {
    return run.path.launched_at.value_or(run.first_seen_at) >= time;
  };
  const auto is_slow = [](const RunRecord& run) {
    return run.listed.speed_against_reference.value_or(2) <= 1;
  };
  add(
      "many of an experiment",
      [](RunFilter& filter) {
        filter.experiment = {"experiment_3", "no"};
      },
      is_third);
  add(
      "few",
      [](RunFilter& filter) {
        filter.experiment = {"experiment_3", "no"};
        filter.status = {parser::RunStatus::complete};
      },
      [=](const RunRecord& run) { return is_third(run) && is_complete(run); });
  add(
      "nearly all", [](RunFilter& filter) { filter.since = "2026-01-02"; },
      [=](const RunRecord& run) { return began_since(run, "2026-01-02"); });
  add(
      "before a time", [](RunFilter& filter) { filter.before = "2026-01-03"; },
      [=](const RunRecord& run) { return !began_since(run, "2026-01-03"); });
  add(
      "of one day",
      [](RunFilter& filter) {
        filter.since = "2026-01-02";
        filter.before = "2026-01-03";
        filter.gpu_count = {16};
      },
      [=](const RunRecord& run) {
        return began_since(run, "2026-01-02") && !began_since(run, "2026-01-03") &&
               run.configuration.value("gpu_count") == "16";
      });
  add(
      "one combination's, since a time",
      [](RunFilter& filter) {
        filter.since = "2026-01-03";
        filter.status = {parser::RunStatus::complete};
        filter.marks = {parser::RunMark::traced};
        filter.gpu_count = {16};
      },
      [=](const RunRecord& run) {
        return began_since(run, "2026-01-03") && is_complete(run) &&
               run.listed.marks.contains(parser::RunMark::traced) &&
               run.configuration.value("gpu_count") == "16";
      });
  add(
      "figures", [](RunFilter& filter) { filter.speed_against_reference.at_most = 1; }, is_slow);
  add(
      "a text, and figures",
      [](RunFilter& filter) {
        filter.text = "MENT_3";  // which no path has
        filter.speed_against_reference.at_most = 1;
      },
      [=](const RunRecord& run) { return is_third(run) && is_slow(run); });
  return all;
}

RunTotal expected_total(const RunFilter& filter, const std::vector<RunRecord>& matching) {
  const auto runs = static_cast<std::int64_t>(matching.size());
  return runs <= kCountedRunsMax || is_tallied(filter) ? RunTotal{runs, true}
                                                       : RunTotal{kCountedRunsMax, false};
}

TEST(RunList, FiltersOfFewManyAndNearlyAllRunsPageTheSame) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  fill(writer, 6'000);
  Reader reader(database.path());
  const std::vector<RunRecord> runs = all_runs(reader);
  for (const FilterAndOracle& one : filters_with_oracles()) {
    std::vector<RunRecord> matching = runs;
    std::erase_if(matching, [&](const RunRecord& run) { return !one.matches(run); });
    ASSERT_GT(matching.size(), 20U) << one.name;
    for (const RunSortKey key : {RunSortKey::launched_at, RunSortKey::gpu_count, RunSortKey::status,
                                 RunSortKey::speed_against_reference}) {
      for (const bool descending : {true, false}) {
        RunQuery query;
        query.filter = one.filter;
        query.sort = key;
        query.descending = descending;
        query.limit = 13 + 387 * std::int64_t{matching.size() > 400};
        EXPECT_EQ(listed_ids(all_pages(reader, query)), sorted_ids(matching, key, descending))
            << run_sort_key_name(key) << " of " << one.name;
        EXPECT_EQ(reader.runs(query).total, expected_total(one.filter, matching)) << one.name;
      }
    }
  }
  RunQuery none;
  none.filter.experiment = {"experiment_3"};
  none.filter.gpu_type = {"none"};
  EXPECT_TRUE(reader.runs(none).runs.empty());
  EXPECT_EQ(reader.runs(none).total, RunTotal{});
  none.filter = {};
  none.filter.text = "none";
  EXPECT_EQ(reader.runs(none).total, RunTotal{});
  none.after = RunKeyset{"2026-01-02", 7};
  EXPECT_EQ(reader.runs(none).total, RunTotal{});
}

// Of so many one after the other is not asked for.
TEST(RunList, RunsOfMoreThanAThousandCombinationsPageTheSame) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  std::vector<IngestBatch> batches;
  for (int i = 0; i < 1'300; ++i) {
    IngestBatch& batch = batches.emplace_back(make_batch(root, std::to_string(i) + ".out", 0));
    batch.configuration.set("gpu_type", "h100", parser::ConfigSource::path);
    batch.configuration.set("gpu_count", std::to_string(1 + i % 1'100), parser::ConfigSource::path);
    batch.path.launched_at = "2026-01-01T00:" + std::to_string(10 + i % 7);
  }
  writer.commit(batches);
  Reader reader(database.path());
  RunQuery query;
  query.filter.gpu_type = {"h100"};
  query.filter.since = "2026-01-01T00:12";
  query.limit = 300;
  std::vector<RunRecord> matching = all_runs(reader);
  std::erase_if(matching,
                [&](const RunRecord& run) { return run.path.launched_at < *query.filter.since; });
  EXPECT_EQ(listed_ids(all_pages(reader, query)), sorted_ids(matching, query.sort, true));
  EXPECT_EQ(reader.runs(query).total, expected_total(query.filter, matching));
  query.filter.before = "2026-01-01T00:15";
  std::erase_if(matching,
                [&](const RunRecord& run) { return run.path.launched_at >= *query.filter.before; });
  EXPECT_EQ(listed_ids(all_pages(reader, query)), sorted_ids(matching, query.sort, true));
  EXPECT_EQ(reader.runs(query).total, expected_total(query.filter, matching));
}

// The runs of a filter at one end of every order, and the page at the other: no walk of some
// thousand runs finds it. Those of a text are more than are counted, and stand near in one
// direction.
TEST(RunList, RunsThatStandTogetherPageTheSame) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  const RootId root = writer.upsert_root("/logs", "");
  std::vector<IngestBatch> batches;
  for (int i = 0; i < 13'000; ++i) {
    const char* const type = i < 5'500 ? "many" : i < 6'200 ? "some" : "others";
    IngestBatch& batch =
        batches.emplace_back(make_batch(root, fmt::format("{}/{}.out", type, i), 0));
    batch.configuration.set("gpu_type", type, parser::ConfigSource::path);
    batch.path.experiment = std::to_string(100'000 + i);
    batch.path.launched_at = "2026-01-01T00:" + batch.path.experiment;
    if (i % 1'000 != 999) batch.summary.step_time_s = {34, 1.0 + i, 0.1, 0.2, 1, 0, 9, 1};
  }
  writer.commit(batches);
  Reader reader(database.path());
  struct Asked {
    const char* type;
    bool is_by_text;
  };
  for (const Asked& asked : {Asked{"many", false}, {"some", false}, {"many", true}}) {
    RunQuery query;
    query.limit = 500;
    std::vector<RunRecord> matching = all_runs(reader);
    std::erase_if(matching, [&](const RunRecord& run) {
      return run.configuration.value("gpu_type") != asked.type;
    });
    if (asked.is_by_text) {
      query.filter.text = fmt::format("{}/", asked.type);
    } else {
      query.filter.gpu_type = {asked.type};
    }
    EXPECT_EQ(reader.runs(query).total, expected_total(query.filter, matching));
    for (const RunSortKey key : kAllKeys) {
      query.sort = key;
      for (const bool descending : {true, false}) {
        query.descending = descending;
        EXPECT_EQ(listed_ids(all_pages(reader, query)), sorted_ids(matching, key, descending))
            << run_sort_key_name(key) << (descending ? " descending" : " ascending")
            << (asked.is_by_text ? " by text" : "");
      }
    }
  }
}

TEST(RunList, ARunThatArrivesBetweenPagesMovesNoOther) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  fill(writer, 60);
  Reader reader(database.path());
  RunQuery query;
  query.sort = RunSortKey::experiment;
  query.limit = 20;
  std::vector<RunId> seen;
  for (;;) {
    const RunPage page = reader.runs(query);
    for (const RunRecord& run : page.runs) seen.push_back(run.id);
    if (!page.next) break;
    query.after = page.next;
    IngestBatch batch = make_batch(1, "late/" + std::to_string(seen.size()));
    batch.path.experiment = "experiment_9";  // before every other one
    writer.commit({&batch, 1});
  }
  EXPECT_EQ(seen.size(), 60U);
  EXPECT_EQ(std::set<RunId>(seen.begin(), seen.end()).size(), 60U);
}

TEST(RunList, RefusesAForgedKeyset) {
  const TemporaryDatabase database;
  Writer writer(database.options());
  RunQuery query;
  query.sort = RunSortKey::step_time_s_mean;
  for (const char* value : {"1; DROP TABLE run", "", "nan", "0x"}) {
    query.after = RunKeyset{value, 1};
    EXPECT_FALSE(is_valid_keyset(query.sort, *query.after)) << value;
    EXPECT_THROW(Reader(database.path()).runs(query), std::invalid_argument) << value;
  }
  EXPECT_TRUE(is_valid_keyset(query.sort, RunKeyset{"-1.5e-7", 1}));
  EXPECT_TRUE(is_valid_keyset(query.sort, RunKeyset{std::nullopt, 1}));
  EXPECT_FALSE(is_valid_keyset(RunSortKey::grown_at, RunKeyset{std::nullopt, 1}));
}

}  // namespace
}  // namespace llmb::storage
