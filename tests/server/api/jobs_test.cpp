// Jobs over HTTP, on a Dispatcher whose Slurm is a stand-in.
#include <gmock/gmock.h>

#include <fstream>

#include "server/api/job_json.h"
#include "server/api/request_error.h"
#include "tests/server/api/sample_database.h"
#include "tests/server/api/stand_in_cluster.h"

namespace llmb::api {
namespace {

using ::testing::HasSubstr;

const std::string kSubmission = R"({"workload": "pretrain_nemotron4", "model_size": "15b",
  "dtype": "bf16", "scale": 8, "gpu_type": "h100", "proxy": true, "runner_options": {"steps": 3}})";

class Jobs : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    cluster_ = std::make_unique<StandInCluster>(folder_, storage_options_, events_);
    restart_api([this](ApiOptions& options) { cluster_->connect(options); });
    submit_ = {"authorization", cluster_->authorization("ci", "submit")};
  }
  void TearDown() override {
    api_.reset();
    cluster_.reset();
    ApiTest::TearDown();
  }

  http::Response send(const std::string& method, const std::string& path, const std::string& body,
                      Pairs headers, const Pairs& query = {}) {
    http::Request request;
    request.method = method;
    request.path = path;
    request.target = path;
    request.query = query;
    request.body = body;
    request.headers = std::move(headers);
    return answer(request);
  }
  http::Response post(const std::string& body, Pairs headers, const Pairs& query = {}) {
    headers.emplace_back("content-type", "application/json");
    return send("POST", "/api/v1/jobs", body, std::move(headers), query);
  }
  static Json json_of(const http::Response& response) { return Json::parse(*response.body); }
  static std::string detail_of(const http::Response& response) {
    return json_of(response)["detail"].get<std::string>();
  }
  std::string log_of(const Json& job, int start) {
    const Json shown = get_json("/api/v1/jobs/" + job["id"].dump());
    return shown["run_folder"].get<std::string>() + "/log-" + job["experiment"].get<std::string>() +
           "_101_" + std::to_string(start) + ".out";
  }
  std::size_t job_count() { return cluster_->jobs.jobs(100).size(); }

  std::unique_ptr<StandInCluster> cluster_;
  std::pair<std::string, std::string> submit_;
};

TEST_F(Jobs, AreSubmittedListedAndShown) {
  const std::uint64_t before = events_.last_id();
  const http::Response created = post(kSubmission, {submit_});
  ASSERT_EQ(created.status, 202) << *created.body;
  const Json recorded = json_of(created)["jobs"][0];
  EXPECT_EQ(recorded["state"], "submitting");
  EXPECT_TRUE(recorded["job_id"].is_null());
  EXPECT_EQ(recorded["submitted_by"], "token:ci");
  const std::string path = "/api/v1/jobs/" + recorded["id"].dump();
  EXPECT_THAT(created.headers,
              ::testing::Contains(std::pair<std::string, std::string>("Location", path)));
  EXPECT_GT(cluster_->wakes, 0);
  bool was_reset = false;
  const auto events = events_.events_after(before, was_reset);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().name, "job");
  EXPECT_EQ(Json::parse(events.back().data)["state"], "pending");

  const Json job = get_json("/api/v1/jobs")["jobs"][0];
  EXPECT_EQ(job["job_id"], 101);
  EXPECT_EQ(job["state"], "pending");
  EXPECT_TRUE(get_json("/api/v1/jobs")["slurm_error"].is_null());
  EXPECT_TRUE(get_json("/api/v1/jobs")["slurm_asked_at"].is_null());
  cluster_->slurm_asked_at = "2025-06-19T19:06:40Z";
  EXPECT_EQ(get_json("/api/v1/jobs")["slurm_asked_at"], cluster_->slurm_asked_at);
  cluster_->slurm_error = "squeue gave no answer in time";
  EXPECT_EQ(get_json("/api/v1/jobs")["slurm_error"], cluster_->slurm_error);
  const Json shown = get_json(path);
  EXPECT_EQ(shown["submission"]["runner_options"]["steps"], 3);
  EXPECT_TRUE(std::filesystem::is_directory(shown["run_folder"].get<std::string>()));
  const std::string tag = get(path).etag;
  EXPECT_EQ(get(path, {}, {{"if-none-match", "\"" + tag + "\""}}).body, nullptr);
}

TEST_F(Jobs, NeedATokenThatMaySubmit) {
  const auto status = [&](const std::string& authorization) {
    return post(kSubmission, {{"authorization", authorization}}).status;
  };
  const http::Response without = post(kSubmission, {});
  EXPECT_EQ(without.status, 401);
  EXPECT_THAT(without.headers, ::testing::Contains(std::pair<std::string, std::string>(
                                   "WWW-Authenticate", "Bearer")));
  EXPECT_EQ(status("Bearer llmb_0"), 401);
  EXPECT_EQ(status(cluster_->authorization("late", "submit", "", "2020-01-01T00:00:00Z")), 401);
  const std::string revoked = cluster_->authorization("gone", "submit");
  ASSERT_TRUE(cluster_->jobs.revoke_token("gone", "2025-01-01T00:00:00Z"));
  EXPECT_EQ(status(revoked), 401);
  EXPECT_EQ(status(cluster_->authorization("reader", "read")), 403);
  EXPECT_EQ(status(cluster_->authorization("stranger", "submit")), 403);
  EXPECT_EQ(job_count(), 0U);
  EXPECT_EQ(status(cluster_->authorization("root", "admin")), 202);
  EXPECT_EQ(send("DELETE", "/api/v1/jobs/1", "", {}).status, 401);
}

TEST_F(Jobs, AreSubmittedOnceForEveryIdempotencyKey) {
  const std::pair<std::string, std::string> key = {"idempotency-key", "nightly-1"};
  const http::Response first = post(kSubmission, {submit_, key});
  ASSERT_EQ(first.status, 202) << *first.body;
  const http::Response again = post(kSubmission, {submit_, key});
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(json_of(again)["is_repeated"], true);
  EXPECT_EQ(json_of(again)["jobs"][0]["id"], json_of(first)["jobs"][0]["id"]);
  EXPECT_EQ(job_count(), 1U);
  std::string other = kSubmission;
  other.replace(other.find("\"steps\": 3"), 10, "\"steps\": 4");
  EXPECT_EQ(post(other, {submit_, key}).status, 409);
  EXPECT_EQ(post(kSubmission, {submit_, {"idempotency-key", "a\nb"}}).status, 400);
  // As a script sends it whose variable is not set: taken as none, it would submit twice.
  for (const char* const empty : {"", "  ", "\t"}) {
    const http::Response refused = post(kSubmission, {submit_, {"idempotency-key", empty}});
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(detail_of(refused), HasSubstr("Idempotency-Key"));
  }
  // Another's key is another key.
  const std::string someone = cluster_->authorization("someone", "submit");
  EXPECT_EQ(post(kSubmission, {{"authorization", someone}, key}).status, 202);
  EXPECT_EQ(job_count(), 2U);
}

// What Slurm never took makes no second job of it.
TEST_F(Jobs, ThatSlurmRefusedAreTriedAgainWithTheirKeyAndSaySo) {
  const std::pair<std::string, std::string> key = {"idempotency-key", "nightly-2"};
  cluster_->refuse("sbatch: error: invalid partition specified: nowhere");
  const Json first = json_of(post(kSubmission, {submit_, key}));
  const http::Response again = post(kSubmission, {submit_, key});
  EXPECT_EQ(again.status, 202) << "it is not answered as if nothing had been recorded";
  EXPECT_EQ(json_of(again)["is_repeated"], true);
  EXPECT_EQ(json_of(again)["jobs"][0]["state"], "submitting");
  EXPECT_NE(json_of(again)["jobs"][0]["id"], first["jobs"][0]["id"]);
  EXPECT_EQ(job_count(), 2U);
  auto lost = *cluster_->jobs.job(json_of(again)["jobs"][0]["id"].get<storage::JobRowId>());
  lost.is_lost = true;
  ASSERT_TRUE(cluster_->jobs.update(lost));
  EXPECT_EQ(post(kSubmission, {submit_, key}).status, 200) << "it may turn up still";
  EXPECT_EQ(job_count(), 2U);
}

TEST_F(Jobs, AreRefusedWithWhatIsAllowed) {
  EXPECT_EQ(post("{", {submit_}).status, 400);
  EXPECT_EQ(post(R"({"workload": "pretrain_nemotron4", "wrap": "id"})", {submit_}).status, 400);
  const http::Response unknown =
      post(R"({"workload": "x", "model_size": "15b", "dtype": "bf16", "scale": 8})", {submit_});
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(detail_of(unknown), HasSubstr("pretrain_grok1"));
  EXPECT_THAT(detail_of(post("{}", {submit_})), HasSubstr("the workload is missing; known: "));
  const http::Response no_recipe = post(
      R"({"workload": "pretrain_nemotron4", "model_size": "15b", "dtype": "fp4", "scale": 16})",
      {submit_});
  EXPECT_THAT(detail_of(no_recipe), HasSubstr("dtype 'fp4' ('dtype', DTYPE) has no recipe"));
  EXPECT_EQ(send("POST", "/api/v1/jobs", kSubmission, {submit_}).status, 415);
  EXPECT_EQ(job_count(), 0U);

  cluster_->refuse("sbatch: error: invalid partition specified: nowhere");
  EXPECT_EQ(post(kSubmission, {submit_}).status, 202);
  const Json refused = get_json("/api/v1/jobs")["jobs"][0];
  EXPECT_EQ(refused["state"], "not_submitted");
  EXPECT_THAT(refused["trouble"].get<std::string>(), HasSubstr("invalid partition"));
}

TEST_F(Jobs, AreTakenAsJsonInUtf8HoweverThatIsSpelled) {
  const auto status = [&](const std::string& type, const Pairs& more = {}) {
    Pairs headers = {submit_, {"content-type", type}};
    headers.insert(headers.end(), more.begin(), more.end());
    return send("POST", "/api/v1/jobs", kSubmission, headers, {{"dry_run", "true"}}).status;
  };
  for (const char* const type :
       {"application/json", "Application/JSON", "application/json; charset=UTF-8",
        "application/json ;charset=\"utf-8\"", "application/json; profile=x"}) {
    EXPECT_EQ(status(type), 200) << type;
  }
  for (const char* const type : {"", "text/json", "application/json-patch+json",
                                 "application/json; charset=latin1", "application/jsonx"}) {
    EXPECT_EQ(status(type), 415) << type;
  }
  EXPECT_EQ(status("application/json", {{"content-encoding", "gzip"}}), 415);
  EXPECT_EQ(status("application/json", {{"content-encoding", "Identity"}}), 200);
}

TEST_F(Jobs, AreRefusedWhereTheRunnerLacksTheBackend) {
  std::string other = kSubmission;
  other.replace(other.find("\"proxy\": true"), 13, "\"proxy\": false");
  other.replace(other.find("\"scale\": 8"), 10, "\"scale\": 16");
  const http::Response whole = post(other, {submit_});
  EXPECT_EQ(whole.status, 400);
  EXPECT_THAT(detail_of(whole), HasSubstr("the backend 'cpu' trains proxies"));
  EXPECT_EQ(job_count(), 0U);
}

// What is asked for and has no effect is named, a variable as well as a field.
TEST_F(Jobs, NameWhatHasNoEffect) {
  std::string asked = kSubmission;
  asked.insert(1, R"("environment": {"ENABLE_GPU_METRICS": "true", "JOB_TOTAL_GPUS": "16"},)");
  const http::Response created = post(asked, {submit_});
  ASSERT_EQ(created.status, 202) << *created.body;
  EXPECT_THAT(json_of(created)["notes"].dump(), HasSubstr("ENABLE_GPU_METRICS has no effect"));
  const http::Response tried = post(asked, {submit_}, {{"dry_run", "true"}});
  EXPECT_THAT(json_of(tried)["dry_runs"][0]["values"].dump(),
              HasSubstr(R"({"name":"scale","value":"8","origin":"asked for"})"));
}

TEST_F(Jobs, AreBoundedForEachToken) {
  cluster_->settings.jobs_per_minute = 2;
  EXPECT_EQ(post(kSubmission, {submit_}).status, 202);
  EXPECT_EQ(post(kSubmission, {submit_}).status, 202);
  const http::Response over = post(kSubmission, {submit_});
  EXPECT_EQ(over.status, 429);
  EXPECT_THAT(over.headers,
              ::testing::Contains(std::pair<std::string, std::string>("Retry-After", "60")));
  EXPECT_EQ(
      post(kSubmission, {{"authorization", cluster_->authorization("late", "submit")}}).status,
      202);
}

TEST_F(Jobs, OfOthersAreCancelledByThoseWhoMay) {
  const std::string path =
      "/api/v1/jobs/" + json_of(post(kSubmission, {submit_}))["jobs"][0]["id"].dump();
  const std::string other = cluster_->authorization("late", "submit");
  EXPECT_EQ(send("DELETE", path, "", {{"authorization", other}}).status, 403);
  EXPECT_TRUE(get_json(path)["cancel_requested_at"].is_null());
  const std::string trusted = cluster_->authorization("gone", "submit cancel");
  EXPECT_EQ(send("DELETE", path, "", {{"authorization", trusted}}).status, 202);
}

// A user of the command line may be called as a token is.
TEST_F(Jobs, OfAUserAreNotThoseOfATokenOfTheSameName) {
  cluster_->settings.jobs_unfinished = 1;
  storage::JobRecord job;
  job.submission_id = "llmb-1";
  job.cluster = cluster_->settings.name;
  job.state = storage::JobState::submitting;
  job.submitted_by = "ci";
  const auto of_user = cluster_->jobs.insert(job);
  EXPECT_EQ(send("DELETE", "/api/v1/jobs/" + std::to_string(of_user), "", {submit_}).status, 403);
  EXPECT_EQ(post(kSubmission, {submit_}).status, 202) << "its limit is its own";
}

TEST_F(Jobs, CanBeTriedWithoutBeingSubmitted) {
  const http::Response tried = post(kSubmission, {submit_}, {{"dry_run", "true"}});
  ASSERT_EQ(tried.status, 200) << *tried.body;
  const Json run = json_of(tried)["dry_runs"][0];
  EXPECT_EQ(run["arguments"][0], "sbatch");
  EXPECT_THAT(run["script"].get<std::string>(), HasSubstr("'--steps=3'"));
  EXPECT_EQ(post(kSubmission, {}, {{"dry_run", "true"}}).status, 401);
  EXPECT_EQ(job_count(), 0U);
  EXPECT_TRUE(std::filesystem::is_empty(cluster_->settings.workload_folder));
}

TEST_F(Jobs, AreTriedWithTheVariablesOfALaunchShThatSubmitsByItself) {
  const http::Response tried = post(kSubmission, {submit_}, {{"dry_run", "true"}});
  EXPECT_TRUE(json_of(tried)["dry_runs"][0]["variables"].is_null());
  dispatch::DryRun run;
  run.plan.submits_itself = true;
  run.environment = {{"DTYPE", "bf16"}, {"HF_TOKEN", "set"}};
  const Json json = dry_run_json(run);
  EXPECT_TRUE(json["script"].is_null());
  EXPECT_EQ(json["variables"], Json::parse(R"([{"name": "DTYPE", "value": "bf16"},
                                               {"name": "HF_TOKEN", "value": null}])"));
}

TEST_F(Jobs, AreCancelledAsOftenAsAsked) {
  const std::string path =
      "/api/v1/jobs/" + json_of(post(kSubmission, {submit_}))["jobs"][0]["id"].dump();
  const http::Response first = send("DELETE", path, "", {submit_});
  EXPECT_EQ(first.status, 202) << *first.body;
  const Json wish = json_of(first)["cancel_requested_at"];
  EXPECT_FALSE(wish.is_null());
  const http::Response again = send("DELETE", path, "", {submit_});
  EXPECT_EQ(again.status, 202);
  EXPECT_EQ(json_of(again)["cancel_requested_at"], wish);
  EXPECT_EQ(send("DELETE", "/api/v1/jobs/77", "", {submit_}).status, 404);
  EXPECT_EQ(send("DELETE", "/api/v1/jobs/x", "", {submit_}).status, 404);
}

TEST_F(Jobs, LogsAreReadPieceByPiece) {
  post(kSubmission, {submit_});
  const Json job = get_json("/api/v1/jobs")["jobs"][0];
  const std::string path = "/api/v1/jobs/" + job["id"].dump();
  EXPECT_TRUE(get_json(path + "/log")["path"].is_null());
  EXPECT_EQ(get_json(path + "/log", {{"offset", "900"}})["next_offset"], 0);
  const std::string log = log_of(job, 0);
  std::ofstream(log) << "first\n\xff second\n";
  const Json whole = get_json(path + "/log");
  EXPECT_EQ(whole["path"], log);
  EXPECT_EQ(whole["text"], "first\n\xef\xbf\xbd second\n");
  EXPECT_EQ(whole["size_bytes"], 15);
  EXPECT_EQ(whole["job_has_ended"], false);
  const Json piece = get_json(path + "/log", {{"offset", "2"}, {"limit_bytes", "3"}});
  EXPECT_EQ(piece["text"], "rst");
  EXPECT_EQ(piece["next_offset"], 5);
  const Json behind = get_json(path + "/log", {{"offset", "900"}});
  EXPECT_EQ(behind["text"], "");
  EXPECT_EQ(behind["next_offset"], 15);
  // A link in its place is not followed.
  std::filesystem::remove(log);
  std::filesystem::create_symlink("/etc/passwd", log);
  EXPECT_THAT(get_detail(path + "/log", {}, 503), HasSubstr("links are not followed"));
  get_detail(path + "/log", {{"of", "else"}}, 400);
}

TEST_F(Jobs, LogsAreCutBetweenCharacters) {
  post(kSubmission, {submit_});
  const Json job = get_json("/api/v1/jobs")["jobs"][0];
  const std::string path = "/api/v1/jobs/" + job["id"].dump() + "/log";
  const std::string text = "n \xe2\x82\xac \xf0\x9f\x9a\x80\xc3\xa9";
  const std::string unfinished = "\xe2\x82";
  std::ofstream(log_of(job, 0)) << text + unfinished;
  for (std::int64_t limit = 1; limit <= std::ssize(text) + 3; ++limit) {
    SCOPED_TRACE(limit);
    std::string followed;
    Json piece = {{"next_offset", 0}};
    for (std::size_t i = 0; i <= text.size(); ++i) {
      piece = get_json(
          path, {{"offset", piece["next_offset"].dump()}, {"limit_bytes", std::to_string(limit)}});
      followed += piece["text"];
    }
    EXPECT_EQ(followed, text);
    EXPECT_EQ(piece["next_offset"], text.size()) << "its rest may come";
    const Json end = get_json(path, {{"limit_bytes", std::to_string(limit)}});
    EXPECT_TRUE(text.ends_with(end["text"].get<std::string>()));
    EXPECT_EQ(end["next_offset"], text.size());
  }
  auto ended = *cluster_->jobs.job(job["id"].get<storage::JobRowId>());
  ended.state = storage::JobState::failed;
  ASSERT_TRUE(cluster_->jobs.update(ended));
  EXPECT_EQ(get_json(path, {{"offset", "0"}})["text"], text + "\xef\xbf\xbd");
  const Json last = get_json(path, {{"offset", std::to_string(text.size())}, {"limit_bytes", "1"}});
  EXPECT_EQ(last["next_offset"], text.size() + 1);
}

TEST_F(Jobs, LogsAreGivenWhole) {
  post(kSubmission, {submit_});
  const Json job = get_json("/api/v1/jobs")["jobs"][0];
  const std::string path = "/api/v1/jobs/" + job["id"].dump() + "/log/text";
  EXPECT_THAT(get_detail(path, {}, 404), HasSubstr("none yet"));
  const std::string log = log_of(job, 0);
  const std::string text = "\x1f\x8b\x08 first\n\xff" + std::string(400'000, '.') + "\n";
  std::ofstream(log) << text;
  const http::Response response = send("GET", path, "", {});
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(*response.body == text);
  EXPECT_THAT(response.headers.front().second,
              HasSubstr(std::filesystem::path(log).filename().string()));
  const http::Response begun = begin(path);
  EXPECT_FALSE(begun.stream.next().empty());
  std::ofstream(log) << std::string(text.size(), '?');
  try {
    begun.stream.next();
    ADD_FAILURE() << "it is another text";
  } catch (const RequestError& error) {
    EXPECT_THAT(error.what(), HasSubstr("it was rewritten while it was read"));
  }
  std::filesystem::remove(log);
  get_detail(path, {}, 404);
  std::filesystem::create_symlink("/etc/passwd", log);
  EXPECT_THAT(get_detail(path, {}, 503), HasSubstr("links are not followed"));
  get_detail(path, {{"of", "else"}}, 400);
  get_detail("/api/v1/jobs/999/log/text", {}, 404);
}

// A requeued job writes a log of its own.
TEST_F(Jobs, LogsOfLaterStartsAreFollowedFromTheirBeginning) {
  post(kSubmission, {submit_});
  const Json job = get_json("/api/v1/jobs")["jobs"][0];
  const std::string path = "/api/v1/jobs/" + job["id"].dump() + "/log";
  const std::string first = log_of(job, 0);
  std::ofstream(first) << "the first start\n";
  const auto follow = [&](const std::string& offset, const std::string& followed) {
    return get_json(path, {{"offset", offset}, {"path", followed}});
  };
  EXPECT_EQ(follow("4", first)["text"], "first start\n");
  std::ofstream(log_of(job, 1)) << "another one, and longer\n";
  const Json other = follow("16", first);
  EXPECT_EQ(other["path"], log_of(job, 1));
  EXPECT_EQ(other["offset"], 0);
  EXPECT_EQ(other["text"], "another one, and longer\n");
  EXPECT_EQ(follow("12", log_of(job, 1))["offset"], 12);
  EXPECT_EQ(follow("25", log_of(job, 1))["offset"], 0) << "it was begun anew";
}

TEST_F(Jobs, ArePagedByTheNewest) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(post(kSubmission, {submit_}).status, 202);
  const Json first = get_json("/api/v1/jobs", {{"limit", "2"}});
  EXPECT_EQ(first["jobs"][0]["job_id"], 103);
  const Json second = get_json("/api/v1/jobs", {{"limit", "2"}, {"cursor", first["next_cursor"]}});
  ASSERT_EQ(second["jobs"].size(), 1U);
  EXPECT_EQ(second["jobs"][0]["job_id"], 101);
  EXPECT_TRUE(second["next_cursor"].is_null());
}

TEST_F(Jobs, AreShownByAServerThatOnlyReads) {
  ASSERT_EQ(post(kSubmission, {submit_}).status, 202);
  const Json list = get_json("/api/v1/jobs")["jobs"];
  const std::string path = "/api/v1/jobs/" + list[0]["id"].dump();
  const Json job = get_json(path);
  restart_api([](ApiOptions& options) { options.reads_only = true; });
  EXPECT_EQ(get_json("/api/v1/jobs")["jobs"], list);
  EXPECT_EQ(get_json(path), job);
  EXPECT_FALSE(get_json("/api/v1/status")["jobs_are_on"]);
  get_detail("/api/v1/jobs/77", {}, 404);
  EXPECT_THAT(get_detail(path + "/log", {}, 501), HasSubstr("only reads"));
  EXPECT_EQ(post(kSubmission, {submit_}).status, 501);
  EXPECT_EQ(send("DELETE", path, "", {submit_}).status, 501);
}

using WithoutCluster = ApiTest;

TEST_F(WithoutCluster, JobsAreOff) {
  for (const char* path : {"/api/v1/jobs", "/api/v1/jobs/1", "/api/v1/jobs/1/log"}) {
    EXPECT_THAT(get_detail(path, {}, 501), HasSubstr("until the configuration"));
  }
  http::Request request;
  request.method = "POST";
  request.path = request.target = "/api/v1/jobs";
  EXPECT_EQ(answer(request).status, 501);
}

}  // namespace
}  // namespace llmb::api
