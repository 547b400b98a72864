// What agents push, from their database to the server's. The agent's own loop, on sockets, is
// tested in tests/server/serve.
#include <gmock/gmock.h>

#include "tests/server/api/push_fixture.h"
#include "tests/storage/execute_sql.h"

namespace llmb::api {
namespace {

using storage::PushVerdict;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(Push, StoresARunAsIngestDid) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 49));
  spool.commit(spool.batch("beta", 20));
  spool.commit(spool.batch("gamma", -1));
  EXPECT_THAT(push_all(spool), ElementsAre("taken", "taken", "taken"));
  expect_same_runs(agent_path());
  EXPECT_EQ(spool.store.pending_count(), 0);
  const Json roots = get_json("/api/v1/roots");
  EXPECT_EQ(roots["roots"][1]["path"], "/lustre/w");
  EXPECT_EQ(roots["roots"][1]["is_pushed"], true);
  EXPECT_EQ(roots["roots"][1]["files_seen"], nullptr) << "nobody scans it here";
  EXPECT_EQ(roots["agents"][0]["cluster"], "eos");
  EXPECT_EQ(roots["agents"][0]["name"], "login1");
  const Json runs = get_json("/api/v1/runs", {{"cluster", "eos"}});
  EXPECT_EQ(runs["runs"].size(), 3U);
}

TEST_F(Push, SendsOnlyTheStepsThatTheServerLacks) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 19));
  push_all(spool);
  auto grown = spool.batch("alpha", 29);
  grown.samples.erase(grown.samples.begin(), grown.samples.begin() + 19);  // 19 is amended
  grown.samples.front().loss = 1.5;
  const storage::RunId run = spool.commit(grown);
  const auto telling = spool.store.tell(run, 1'000);
  ASSERT_EQ(telling->steps.size(), 11U);
  EXPECT_EQ(telling->steps.front().iteration, 19);
  EXPECT_THAT(push_all(spool), ElementsAre("taken"));
  expect_same_runs(agent_path());
}

TEST_F(Push, StepsThatChangeWhileTheyAreSentAreSentAgain) {
  Spool spool(agent_path());
  const storage::RunId run = spool.commit(spool.batch("alpha", 19));
  const auto telling = *spool.store.tell(run, 1'000);
  auto amended = spool.batch("alpha", 19);
  amended.samples.erase(amended.samples.begin(), amended.samples.begin() + 18);
  for (auto& step : amended.samples) step.loss = 1.25;
  spool.commit(amended);
  ASSERT_EQ(post(spool, {telling}).status, 200);
  spool.store.keep_answers(std::vector<storage::PushStore::Answer>{
      {run, telling.run.revision, telling.end(), {PushVerdict::taken, 1, 20}}});
  EXPECT_EQ(spool.store.tell(run, 1'000)->steps.size(), 2U);
  EXPECT_THAT(push_all(spool), ElementsAre("taken"));
  expect_same_runs(agent_path());
}

TEST_F(Push, DropsWhatTheAgentDropped) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 29));
  push_all(spool);
  auto cut = spool.batch("alpha", 24);
  cut.samples.clear();
  cut.drops_steps_from = 2'500;
  spool.commit(cut);
  push_all(spool);
  expect_same_runs(agent_path());
  auto anew = spool.batch("alpha", 9);
  anew.replaces_all_samples = true;
  spool.commit(anew);
  push_all(spool);
  expect_same_runs(agent_path());
}

TEST_F(Push, SendsALongRunInPieces) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 49));
  int requests = 0;
  while (spool.store.pending_count() > 0 && requests < 20) {
    EXPECT_THAT(push_all(spool, 12), ElementsAre("taken"));
    ++requests;
  }
  EXPECT_EQ(requests, 5);
  expect_same_runs(agent_path());
}

TEST_F(Push, AnAnswerThatIsLostDoublesNothing) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 20));
  push_all(spool, 8, true);
  const std::int64_t revision = storage::Reader(database_path_).data_revision();
  EXPECT_THAT(push_all(spool, 8), ElementsAre("known"));
  EXPECT_EQ(storage::Reader(database_path_).data_revision(), revision);
  while (spool.store.pending_count() > 0) EXPECT_THAT(push_all(spool, 8), ElementsAre("taken"));
  expect_same_runs(agent_path());
}

TEST_F(Push, ARequestThatComesLateChangesNothing) {
  Spool spool(agent_path());
  const storage::RunId run = spool.commit(spool.batch("alpha", 20));
  const auto late = *spool.store.tell(run, 1'000);
  push_all(spool);
  spool.commit(spool.batch("alpha", 30));
  push_all(spool);
  const http::Response response = post(spool, {late});
  EXPECT_EQ(Json::parse(*response.body)["results"][0]["verdict"], "conflict");
  expect_same_runs(agent_path());
}

TEST_F(Push, APieceThatComesLateDropsNoneOfThoseBehindIt) {
  Spool spool(agent_path());
  const storage::RunId run = spool.commit(spool.batch("alpha", 49));
  push_all(spool, 12);
  const auto late = *spool.store.tell(run, 12);  // the second piece
  while (spool.store.pending_count() > 0) EXPECT_THAT(push_all(spool, 12), ElementsAre("taken"));
  const http::Response response = post(spool, {late});
  EXPECT_EQ(Json::parse(*response.body)["results"][0]["verdict"], "conflict");
  expect_same_runs(agent_path());
}

TEST_F(Push, AServerRestoredFromAnOlderCopyGetsTheRestAgain) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 20));
  spool.commit(spool.batch("beta", 20));
  push_all(spool);
  const std::string copy = (folder_ / "backup.db").string();
  execute_sql("VACUUM INTO '" + copy + "'");
  spool.commit(spool.batch("alpha", 49));
  spool.commit(spool.batch("gamma", 30));
  push_all(spool);
  expect_same_runs(agent_path());

  api_.reset();
  tokens_.reset();
  writer_.reset();
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(database_path_ + end);
  std::filesystem::copy_file(copy, database_path_);
  writer_ = std::make_unique<storage::Writer>(storage_options_);
  tokens_ = std::make_unique<storage::JobStore>(storage_options_);
  start_server();
  compare(spool);
  EXPECT_EQ(spool.store.pending_count(), 2) << "what the copy holds is not sent again";
  push_all(spool);
  EXPECT_EQ(spool.store.pending_count(), 0);
  expect_same_runs(agent_path());
}

// Its revisions are counted anew from there, so that the same numbers mean other rows.
TEST_F(Push, AnAgentRestoredFromAnOlderCopySaysTheLastWord) {
  const std::string copy = agent_path("copy");
  {
    Spool spool(agent_path());
    spool.commit(spool.batch("alpha", 10));
    push_all(spool);
    storage::execute_sql(agent_path(), "VACUUM INTO '" + copy + "'");
    spool.commit(spool.batch("alpha", 20));
    spool.commit(spool.batch("alpha", 30));
    push_all(spool);
  }
  Spool restored(copy);
  restored.commit(restored.batch("alpha", 35));
  restored.commit(restored.batch("alpha", 40));
  EXPECT_EQ(storage::Reader(copy).run(1)->revision, storage::Reader(agent_path()).run(1)->revision);
  compare(restored);
  EXPECT_THAT(push_all(restored), ElementsAre("taken"));
  expect_same_runs(copy);
}

TEST_F(Push, TwoAgentsOnOneTreeStoreEachRunOnce) {
  Spool first(agent_path("first"));
  Spool second(agent_path("second"));
  for (Spool* spool : {&first, &second}) {
    spool->commit(spool->batch("alpha", 49));
    spool->commit(spool->batch("beta", 20));
  }
  EXPECT_THAT(push_all(first), ElementsAre("taken", "taken"));
  EXPECT_THAT(push_all(second), ElementsAre("covered", "covered"));
  first.commit(first.batch("beta", 30));
  second.commit(second.batch("beta", 40));
  EXPECT_THAT(push_all(first), ElementsAre("taken"));
  EXPECT_THAT(push_all(second), ElementsAre("deferred"));
  // The first one falls silent.
  fall_silent();
  EXPECT_THAT(push_all(second), ElementsAre("conflict")) << "it has to send all of it";
  EXPECT_THAT(push_all(second), ElementsAre("taken"));
  EXPECT_EQ(get_json("/api/v1/runs")["runs"].size(), 2U);
  expect_same_runs(agent_path("second"));
}

// Of another store's word by the head alone, which launchers print the same at each start.
TEST_F(Push, ALogWrittenAnewIsTakenFromWhoeverReadIt) {
  Spool lost(agent_path());
  auto of_old = lost.batch("alpha", 49);
  of_old.generation = 2;  // those before it are gone
  lost.commit(of_old);
  push_all(lost);
  Spool anew(agent_path("anew"));
  auto shorter = anew.batch("alpha", 29);
  shorter.observed_at = parser::instant_text(dispatch::wall_now() + std::chrono::hours(1));
  anew.commit(shorter);
  EXPECT_THAT(push_all(anew), ElementsAre("deferred"));  // it may be a late look at that
  fall_silent();
  EXPECT_THAT(push_all(anew), ElementsAre("taken"));
  const Json run = get_json("/api/v1/runs")["runs"].at(0);
  EXPECT_EQ(run["step_count"], 30);
  EXPECT_EQ(get_json("/api/v1/runs", {{"include_superseded", "true"}})["runs"].size(), 2U);
}

// The generation before was deferred, and is told when the newest one stands already.
TEST_F(Push, AGenerationThatIsToldLateStandsBelowTheYounger) {
  Spool lost(agent_path());
  lost.commit(lost.batch("alpha", 49));
  push_all(lost);
  Spool anew(agent_path("anew"));
  auto shorter = anew.batch("alpha", 29);
  shorter.observed_at = parser::instant_text(dispatch::wall_now() + std::chrono::hours(1));
  anew.commit(shorter);
  auto newest = anew.batch("alpha", 8);
  newest.generation = 1;
  newest.cursor.head_hash = 98;
  anew.commit(newest);
  EXPECT_THAT(push_all(anew), ElementsAre("deferred", "taken"));
  fall_silent();
  push_all(anew);
  EXPECT_EQ(get_json("/api/v1/runs")["runs"].at(0)["step_count"], 9);
  EXPECT_THAT(push_all(anew), ElementsAre()) << "nothing is told again and again";
}

TEST_F(Push, ALaterLookAtAShorterLogIsNoneOfALogWrittenAnew) {
  Spool first(agent_path());
  first.commit(first.batch("alpha", 49));
  push_all(first);
  execute_sql("UPDATE pushed_run SET told_at = '2026-01-02T00:00:00.000000Z'");
  Spool behind(agent_path("behind"));
  auto less = behind.batch("alpha", 29);
  less.observed_at = "2026-01-01T00:00:00.000000Z";
  behind.commit(less);
  EXPECT_THAT(push_all(behind), ElementsAre("covered"));
  // What is not read to its end, as a log that was compressed, says nothing of its length.
  Spool reading(agent_path("reading"));
  auto part = reading.batch("alpha", 29);
  part.observed_at = "2026-01-03T00:00:00.000000Z";
  part.size_bytes = 1'000;
  reading.commit(part);
  EXPECT_THAT(push_all(reading), ElementsAre("covered"));
  // By a clock that is an hour ahead, it was seen before.
  Spool ahead(agent_path("ahead"));
  auto early = ahead.batch("alpha", 29);
  const auto told_at = dispatch::wall_now();
  execute_sql("UPDATE pushed_run SET told_at = '" + parser::instant_text(told_at) + "'");
  early.observed_at = parser::instant_text(told_at + std::chrono::minutes(59));
  ahead.commit(early);
  clock_ahead_ = std::chrono::hours(1);
  EXPECT_THAT(push_all(ahead), ElementsAre("covered"));
}

TEST_F(Push, ALogOfTheSameLengthWithOtherFiguresIsTaken) {
  Spool lost(agent_path());
  lost.commit(lost.batch("alpha", 49));
  push_all(lost);
  fall_silent();
  Spool anew(agent_path("anew"));
  auto other = anew.batch("alpha", 49);
  other.summary.step_time_s->mean = 1.5;
  anew.commit(other);
  EXPECT_THAT(push_all(anew), ElementsAre("taken"));
  EXPECT_EQ(get_json("/api/v1/runs")["runs"].at(0)["step_time_s_mean"], 1.5);
}

TEST_F(Push, ALaterReadingHasTheLastWordOfTheSameBytes) {
  Spool first(agent_path());
  auto log = first.batch("alpha", 49);
  first.commit(log);
  push_all(first);
  const auto run = [this] { return get_json("/api/v1/runs")["runs"].at(0); };
  const auto id = run()["id"];
  log.reading = 1;
  log.replaces_all_samples = true;
  log.summary.status_reason = "told anew";
  first.commit(log);
  EXPECT_THAT(push_all(first), ElementsAre("taken"));
  EXPECT_EQ(run()["status_reason"], "told anew");
  EXPECT_EQ(storage::Reader(database_path_).run(id)->reading, 1);
  fall_silent();
  Spool behind(agent_path("behind"));
  behind.commit(behind.batch("alpha", 49));
  EXPECT_THAT(push_all(behind), ElementsAre("covered")) << "an earlier reading of the same bytes";
  EXPECT_EQ(run()["status_reason"], "told anew");
  // One that says the same by a later reading is taken, so that it is known by which.
  Spool ahead(agent_path("ahead"));
  log.root_id = ahead.root_;
  log.reading = 2;
  ahead.commit(log);
  EXPECT_THAT(push_all(ahead), ElementsAre("taken"));
  EXPECT_EQ(storage::Reader(database_path_).run(id)->reading, 2);
  EXPECT_EQ(get_json("/api/v1/runs")["runs"].size(), 1U);
}

TEST_F(Push, ARewrittenLogIsAnotherGeneration) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 49));
  push_all(spool);
  auto anew = spool.batch("alpha", 5);
  anew.generation = 1;
  anew.cursor.head_hash = 99;
  spool.commit(anew);
  EXPECT_THAT(push_all(spool), ElementsAre("taken", "taken"));
  expect_same_runs(agent_path());
  // A second agent that has only seen the new one.
  Spool other(agent_path("other"));
  anew.generation = 0;
  anew.root_id = other.root_;
  other.commit(anew);
  EXPECT_THAT(push_all(other), ElementsAre("covered"));
}

// A store that was begun anew counts from 0; what stands here was thinned to later generations.
TEST_F(Push, TheLogThatALostStoresSuccessorReadsIsTheNewestGeneration) {
  Spool lost(agent_path());
  push_rewritten(lost, 7);
  fall_silent();
  Spool anew(agent_path("anew"));
  auto rerun = anew.batch("alpha", 12);
  rerun.cursor.head_hash = 99;
  anew.commit(rerun);
  EXPECT_THAT(push_all(anew), ElementsAre("taken"));
  const auto runs = get_json("/api/v1/runs");
  EXPECT_EQ(runs["total"], 1);
  EXPECT_EQ(runs["runs"].at(0)["step_count"], 13);
  // Written anew once more: the generation before is told again first, as superseded.
  rerun = anew.batch("alpha", 8);
  rerun.generation = 1;
  rerun.cursor.head_hash = 98;
  anew.commit(rerun);
  EXPECT_THAT(push_all(anew), ElementsAre("taken", "taken"));
  EXPECT_EQ(get_json("/api/v1/runs")["runs"].at(0)["step_count"], 9);
}

// An older one has its place below those that are held, though it is of the kind that goes first.
TEST_F(Push, AnOlderGenerationThatWasMissedDoesNotStandInTheWay) {
  Spool first(agent_path());
  push_rewritten(first, 7);
  Spool second(agent_path("second"));
  auto older = second.batch("alpha", 12);
  older.cursor.head_hash = 99;
  older.observed_at = "2020-01-01T00:00:00.000000Z";
  second.commit(older);
  EXPECT_THAT(push_all(second), ElementsAre("taken"));
  EXPECT_EQ(get_json("/api/v1/runs")["runs"].at(0)["step_count"], 47);
}

TEST_F(Push, WritesTheRunsOfTheTokensClusterOnly) {
  Spool spool(agent_path());
  const storage::RunId run = spool.commit(spool.batch("alpha", 10));
  const auto telling = *spool.store.tell(run, 100);
  authorization_ = token_for("dgx");
  http::Response response = post(spool, {telling});
  EXPECT_EQ(response.status, 403);
  EXPECT_THAT(*response.body, HasSubstr("for the runs of cluster 'dgx', not of 'eos'"));
  EXPECT_EQ(get("/api/v1/push", {{"cluster", "eos"}}, {{"authorization", authorization_}}).status,
            403);
  authorization_ = token_for("");
  EXPECT_EQ(post(spool, {telling}).status, 403);
  authorization_ = "Bearer nobody";
  EXPECT_EQ(post(spool, {telling}).status, 401);
  EXPECT_EQ(get_json("/api/v1/runs")["runs"].size(), 0U);
  // The same path on another cluster is another run.
  authorization_ = token_for("eos");
  EXPECT_THAT(push_all(spool), ElementsAre("taken"));
  Spool other(agent_path("other"));
  other.commit(other.batch("alpha", 10));
  authorization_ = token_for("dgx");
  cluster_ = "dgx";
  EXPECT_THAT(push_all(other), ElementsAre("taken"));
  EXPECT_EQ(get_json("/api/v1/runs")["runs"].size(), 2U);
}

TEST_F(Push, AClusterIsRenamedWhereItsTokenSaysSo) {
  Spool spool(agent_path());
  const storage::RunId run = spool.commit(spool.batch("alpha", 10));
  push_all(spool);
  cluster_ = "eos2";
  authorization_ = token_for("eos2");
  const http::Response response = post(spool, {*spool.store.tell(run, 100)});
  EXPECT_EQ(response.status, 409);
  EXPECT_THAT(*response.body, HasSubstr("--for-cluster eos2 --formerly eos"));
  authorization_ = token_for("eos2", "eos");
  spool.commit(spool.batch("alpha", 20));
  EXPECT_THAT(push_all(spool), ElementsAre("taken"));
  expect_same_runs(agent_path());
  EXPECT_EQ(get_json("/api/v1/runs", {{"cluster", "eos"}})["runs"].size(), 0U);
}

TEST_F(Push, AClusterIsNotRenamedToOneThatHasRunsOfTheSameTree) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 10));
  push_all(spool);
  Spool twin(agent_path("twin"));
  twin.commit(twin.batch("beta", 10));
  cluster_ = "eos2";
  authorization_ = token_for("eos2");
  push_all(twin);
  authorization_ = token_for("eos2", "eos");
  const storage::RunId run = spool.commit(spool.batch("alpha", 20));
  const http::Response response = post(spool, {*spool.store.tell(run, 100)});
  EXPECT_EQ(response.status, 409);
  EXPECT_THAT(*response.body, HasSubstr("--cluster eos2 --root /lustre/w --yes"));
  storage::Reader reader(storage_options_.path);
  storage::RetentionPolicy policy;
  policy.cluster = "eos2";
  policy.words = "of eos2";
  std::vector<storage::RunId> runs;
  const auto later = dispatch::wall_now() + std::chrono::hours(24 * 365 * 10);
  const storage::RemovalPlan plan = reader.removal_plan(policy, later);
  for (const auto& log : plan.logs) runs.push_back(log.run);
  ASSERT_EQ(runs.size(), 1U);
  writer_->remove_logs(policy, runs, later);
  EXPECT_THAT(push_all(spool), ElementsAre("taken"));
  EXPECT_EQ(get_json("/api/v1/runs", {{"cluster", "eos2"}})["runs"].size(), 1U);
  EXPECT_EQ(get_json("/api/v1/runs", {{"cluster", "eos"}})["runs"].size(), 0U);
  // What was removed does not come again, whatever its cluster is called.
  EXPECT_THAT(push_all(twin), ElementsAre());
  const Json roots = get_json("/api/v1/roots")["roots"];
  const auto is_pushed = [](const Json& root) { return root["is_pushed"].get<bool>(); };
  EXPECT_EQ(std::count_if(roots.begin(), roots.end(), is_pushed), 1);
}

TEST_F(Push, SaysWhenToComeAgainWhereTheWriterHasNoRoom) {
  Spool spool(agent_path());
  const storage::RunId run = spool.commit(spool.batch("alpha", 10));
  writer_is_busy_ = true;
  const http::Response response = post(spool, {*spool.store.tell(run, 100)});
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(response.headers, testing::Contains(testing::Pair("Retry-After", "2")));
  EXPECT_EQ(spool.store.pending_count(), 1);
  writer_is_busy_ = false;
  EXPECT_THAT(push_all(spool), ElementsAre("taken"));
}

TEST_F(Push, SaysSoAtOnceWhereTheServerStops) {
  Spool spool(agent_path());
  const storage::RunId run = spool.commit(spool.batch("alpha", 10));
  writer_has_gone_ = true;
  const http::Response response = post(spool, {*spool.store.tell(run, 100)});
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(*response.body, HasSubstr("The server stops."));
}

TEST_F(Push, RefusesWhatItDoesNotUnderstandAndWritesNothing) {
  Spool spool(agent_path());
  const storage::RunId run = spool.commit(spool.batch("alpha", 10));
  const storage::LogTelling log = *spool.store.tell(run, 100);
  const auto detail_of = [&](http::Request request, int status) {
    const http::Response response = answer(request);
    EXPECT_EQ(response.status, status) << *response.body;
    return *response.body;
  };
  const auto detail_of_second = [&](const storage::LogTelling& second) {
    return detail_of(request_of("s", {log, second}), 400);
  };
  storage::LogTelling changed = log;
  changed.run.relative_path = "";
  EXPECT_THAT(detail_of_second(changed), HasSubstr("the entry 1 of 'logs': 'relative_path'"));
  changed = log;
  changed.run.grown_at = "yesterday";
  EXPECT_THAT(detail_of_second(changed), HasSubstr("the entry 1"));
  changed = log;
  std::swap(changed.steps[0], changed.steps[1]);
  EXPECT_THAT(detail_of_second(changed), HasSubstr("'steps'"));
  EXPECT_THAT(detail_of(request_of("", {log}), 400), HasSubstr("'store_id'"));

  http::Request torn = request_of("s", {log});
  torn.body.pop_back();
  detail_of(torn, 400);
  http::Request other_version = request_of("s", {log});
  ++other_version.body[other_version.body.find(static_cast<char>(push::kFormat))];
  EXPECT_THAT(detail_of(other_version, 409), HasSubstr("versions that do not go together"));
  http::Request other_type = request_of("s", {log});
  other_type.headers[1].second = "application/json";
  EXPECT_THAT(detail_of(other_type, 415), HasSubstr(push::kContentType));
  EXPECT_EQ(get_json("/api/v1/runs")["runs"].size(), 0U);
}

TEST_F(Push, IsOffUntilItIsAskedFor) {
  restart_api([](ApiOptions&) {});
  EXPECT_THAT(get_detail("/api/v1/push", {}, 501), HasSubstr("--receive"));
}

}  // namespace
}  // namespace llmb::api
