// GET /api/v1/failures: what ends runs, under the filters of the list.
#include <gmock/gmock.h>

#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

class Failures : public ApiTest {
 protected:
  storage::RunId add_failed(const std::string& experiment, std::int64_t job_id,
                            const std::string& cause, const std::string& line) {
    auto batch = sample_batch(root_, experiment, job_id, 20, 7.5);
    batch.facts.events = {{parser::LogEvent::Kind::failure, cause, line, 9'000, 21}};
    batch.summary.status = parser::RunStatus::failed;
    batch.summary.failure_cause = cause;
    return writer_->commit({&batch, 1}).at(0);
  }
};

TEST_F(Failures, TellWhatEndsRunsAndWhere) {
  add_run("alpha", 1, 49, 7.5);
  add_failed("alpha", 2, "worker_killed", "srun: error: gpu-05: task 2: Killed");
  add_failed("beta", 3, "cuda_oom", "torch.OutOfMemoryError: CUDA out of memory.");
  const auto newest = add_failed("alpha", 4, "cuda_oom", "torch.OutOfMemoryError");
  const Json all = get_json("/api/v1/failures");
  EXPECT_EQ(all["ended"], 4);
  EXPECT_EQ(all["failed"], 3);
  EXPECT_EQ(all["complete"], 1);
  EXPECT_EQ(all["causes"][0]["cause"], "cuda_oom");
  EXPECT_EQ(all["causes"][0]["runs"], 2);
  EXPECT_EQ(all["causes"][0]["share"], 0.5);
  EXPECT_EQ(all["causes"][0]["newest_run"], newest);
  EXPECT_EQ(all["causes"][0]["newest_began_at"], "2025-12-22T15:00:04Z");
  EXPECT_EQ(all["clusters"][0]["cluster"], "eos");
  EXPECT_EQ(all["nodes"][0]["node"], "gpu-05");
  EXPECT_EQ(all["periods"], Json::parse(R"([{"begins_on": "2025-12-22", "ended": 4, "failed": 3,
                                             "complete": 1}])"));
}

// As many as the list has, so that a row may lead there.
TEST_F(Failures, AgreeWithTheListUnderEachFilter) {
  fill();
  for (const Pairs& filter : {Pairs{}, Pairs{{"experiment", "alpha"}}, Pairs{{"cluster", "eos"}},
                              Pairs{{"q", "beta"}}, Pairs{{"since", "2025-12-22T15:00:03Z"}},
                              Pairs{{"gpu_type", "none such"}}, Pairs{{"cluster", "none"}}}) {
    const Json answer = get_json("/api/v1/failures", filter);
    for (const Json& cause : answer["causes"]) {
      Pairs of_cause = filter;
      of_cause.emplace_back("failure_cause", cause["cause"].get<std::string>());
      EXPECT_EQ(get_json("/api/v1/runs", of_cause)["total"], cause["runs"]) << of_cause[0].second;
    }
    for (const Json& status : answer["unexplained"]) {
      Pairs without = filter;
      without.emplace_back("status", status["status"].get<std::string>());
      without.emplace_back("failure_cause", "none");
      EXPECT_EQ(get_json("/api/v1/runs", without)["total"], status["runs"]);
    }
    std::int64_t listed = get_json("/api/v1/runs", filter)["total"].get<std::int64_t>();
    Pairs running = filter;
    running.emplace_back("status", "running");
    const Json list = get_json("/api/v1/runs", running);
    for (const Json& run : list["runs"]) {
      if (run["failure_cause"].is_null()) --listed;
    }
    EXPECT_EQ(answer["ended"], listed);
  }
}

TEST_F(Failures, TellRunsWithoutACauseFromOthersOfTheirStatus) {
  auto batch = sample_batch(root_, "alpha", 1, 20, 7.5);
  batch.summary.status = parser::RunStatus::failed;
  batch.summary.failure_cause.clear();
  writer_->commit({&batch, 1});
  add_failed("alpha", 2, "cuda_oom", "torch.OutOfMemoryError");
  const auto total = [&](const Pairs& filter) { return get_json("/api/v1/runs", filter)["total"]; };
  const Json unexplained = get_json("/api/v1/failures")["unexplained"];
  ASSERT_EQ(unexplained.size(), 1U);
  EXPECT_EQ(unexplained[0]["runs"], 1);
  EXPECT_EQ(total({{"failure_cause", "none"}}), 1);
  EXPECT_EQ(total({{"failure_cause", "none"}, {"failure_cause", "cuda_oom"}}), 2);
  EXPECT_EQ(get_json("/api/v1/failures", {{"failure_cause", "none"}})["failed"], 0);
}

TEST_F(Failures, RefuseWhatIsNoFilter) {
  EXPECT_THAT(get_detail("/api/v1/failures", {{"sort", "id"}}, 400), testing::HasSubstr("sort"));
}

}  // namespace
}  // namespace llmb::api
