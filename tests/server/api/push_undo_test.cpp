// Pushed logs that were removed on purpose, and let in again: what makes their agents send them.
#include <gmock/gmock.h>

#include "storage/database_place.h"
#include "tests/server/api/push_fixture.h"

namespace llmb::api {
namespace {

using testing::ElementsAre;

// What GET /push says to an agent that compares.
Json held_by(http::Response response) {
  EXPECT_EQ(response.status, 200) << *response.body;
  return Json::parse(*response.body);
}

TEST_F(Push, ARemovalIsUndoneByAComparisonThatItAsksFor) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 10));
  push_all(spool);
  const auto later = dispatch::wall_now() + std::chrono::hours(24 * 365 * 10);
  storage::RetentionPolicy policy;
  policy.cluster = "eos";
  policy.words = "of eos";
  storage::Reader reader(storage_options_.path);
  const std::vector<storage::RunId> runs = {reader.removal_plan(policy, later).logs.at(0).run};
  const auto held = [&] {
    return held_by(get("/api/v1/push", {{"cluster", "eos"}, {"store_id", spool.store.store_id()}},
                       {{"authorization", authorization_}}));
  };
  const Json pushed = held();
  ASSERT_EQ(writer_->remove_logs(policy, runs, later).runs, 1);
  EXPECT_EQ(held()["instance"], pushed["instance"]) << "the agent need not know of a removal";
  EXPECT_EQ(held()["logs"].size(), 1U);
  compare(spool);
  EXPECT_THAT(push_all(spool), ElementsAre());

  ASSERT_EQ(writer_->let_in_again(reader.undo_plan({}).removed), 1);
  const Json let_in = held();
  EXPECT_EQ(let_in["logs"], Json::array());
  const bool is_told_while_it_runs = storage::admits_several_writers(storage_options_.path);
  EXPECT_EQ(let_in["instance"] != pushed["instance"], is_told_while_it_runs)
      << "of a file no server had it meanwhile";
  // Any answer says so, and none says it twice.
  const http::Response answer = post(spool, {});
  EXPECT_EQ(Json::parse(*answer.body)["instance"], let_in["instance"]);
  EXPECT_THAT(push_all(spool), ElementsAre()) << "it is no news to an agent that has not compared";
  compare(spool);
  EXPECT_THAT(push_all(spool), ElementsAre("taken"));
  expect_same_runs(agent_path());
}

}  // namespace
}  // namespace llmb::api
