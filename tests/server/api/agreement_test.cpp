// /runs/{id}/agreement on a real database.
#include <gmock/gmock.h>

#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

using testing::HasSubstr;

class RunAgreement : public ApiTest {
 protected:
  // The one whose name and release begin so.
  Json tool_of(const Json& answer, const std::string& name, const std::string& release) {
    for (const Json& tool : answer["tools"]) {
      if (tool["tool"] == name && tool["release"].get<std::string>().starts_with(release)) {
        return tool;
      }
    }
    ADD_FAILURE() << "no " << name << " " << release;
    return {};
  }
};

TEST_F(RunAgreement, ShowsEachToolBesideOurs) {
  const std::string path = "/api/v1/runs/" + std::to_string(add_run("a", 9, 49, 2.5));
  const Json answer = get_json(path + "/agreement");
  EXPECT_EQ(answer["ours"]["window"], "11-44");
  const Json early = tool_of(answer, "NeMo shell parser", "25.07");
  const Json late = tool_of(answer, "NeMo shell parser", "25.08");
  EXPECT_EQ(early["window"], "11-44");
  EXPECT_EQ(early["step_count"], 34);
  EXPECT_EQ(late["step_count"], 10);
  EXPECT_EQ(late["deviation"], "population");
  EXPECT_TRUE(late["gives_result"].get<bool>()) << late;
  EXPECT_NEAR(
      late["step_time_s_mean"].get<double>() / answer["ours"]["step_time_s"]["mean"].get<double>() -
          1,
      late["difference_to_ours"].get<double>(), 1e-12);
  EXPECT_THAT(late["why"].get<std::string>(), HasSubstr("averages 35-44, ours 11-44"));
  const Json other = tool_of(answer, "Megatron-Bridge shell parser", "26.02");
  EXPECT_FALSE(other["reads_such_logs"].get<bool>());
  EXPECT_EQ(other["step_time_s_mean"], nullptr);
  EXPECT_EQ(get_json(path + "/agreement", {{"window", "35-44"}})["ours"]["window"], "35-44");
}

// As the statistics of the same window do, while the tools know of no such choice.
TEST_F(RunAgreement, LeavesStepsOutOfOursAlone) {
  auto batch = sample_batch(root_, "a", 9, 49, 2.5);
  batch.samples[20].extra_fields = {{"after_checkpoint", 1}};
  batch.samples[20].step_time_s = 70.0;
  batch.summary = parser::summarize_run(batch.samples, batch.facts, {11, 44}, false);
  const std::string path = "/api/v1/runs/" + std::to_string(writer_->commit({&batch, 1}).front());
  const Json with = get_json(path + "/agreement");
  EXPECT_EQ(with["ours"]["step_time_s"]["max"], 70.0);
  const Json without = get_json(path + "/agreement", {{"without", "checkpoint"}});
  const Json statistics = get_json(path + "/statistics", {{"without", "checkpoint"}});
  EXPECT_EQ(without["ours"]["step_time_s"], statistics["step_time_s"]);
  EXPECT_EQ(without["ours"]["step_time_s"]["count"], 33);
  const Json shell = tool_of(without, "NeMo shell parser", "25.07");
  EXPECT_EQ(shell["step_count"], 34);
  EXPECT_THAT(shell["why"].get<std::string>(), HasSubstr("counts 34 steps, ours 33"));
  get_detail(path + "/agreement", {{"without", "eval"}}, 400);
}

TEST_F(RunAgreement, SaysWhyAToolGivesNothing) {
  const std::string path = "/api/v1/runs/" + std::to_string(add_run("a", 9, 47, 2.5));
  const Json answer = get_json(path + "/agreement");
  const Json shell = tool_of(answer, "NeMo shell parser", "25.08");
  EXPECT_TRUE(shell["gives_result"].get<bool>());
  EXPECT_THAT(shell["why"].get<std::string>(), HasSubstr("although the run is"));
  const Json strict = tool_of(answer, "llmb-run", "26.05");
  EXPECT_FALSE(strict["gives_result"].get<bool>());
  EXPECT_THAT(strict["reason"].get<std::string>(), HasSubstr("last iteration is not there"));
  get_json("/api/v1/runs/999/agreement", {}, 404);
  EXPECT_THAT(get_detail(path + "/agreement", {{"window", "x"}}, 400), HasSubstr("window"));
}

}  // namespace
}  // namespace llmb::api
