// Experiments, roots, status, events, health, metrics; and what happens when the database fails.
#include <re2/re2.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "server/api/change_events.h"
#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

using Service = ApiTest;

TEST_F(Service, ListsExperimentsByName) {
  fill();
  const Json list = get_json("/api/v1/experiments");
  ASSERT_EQ(list["experiments"].size(), 3U);
  const Json& alpha = list["experiments"][0];
  EXPECT_EQ(alpha["experiment"], "alpha");
  EXPECT_EQ(alpha["run_count"], 2);
  EXPECT_EQ(alpha["complete_count"], 2);
  EXPECT_EQ(alpha["running_count"], 0);
  EXPECT_EQ(alpha["best_step_time_s_mean"], 6.5);
  EXPECT_EQ(alpha["last_grown_at"], "2025-12-22T16:00:00Z");
  EXPECT_TRUE(list["experiments"][2]["best_step_time_s_mean"].is_null());
  EXPECT_EQ(get_json("/api/v1/experiments", {{"status", "failed"}})["experiments"].size(), 2U);
}

TEST_F(Service, PagesThroughExperiments) {
  fill();
  std::vector<std::string> names;
  std::string cursor;
  for (int page = 0; page < 5; ++page) {
    Pairs query = {{"limit", "1"}};
    if (!cursor.empty()) query.emplace_back("cursor", cursor);
    const Json list = get_json("/api/v1/experiments", query);
    for (const Json& entry : list["experiments"]) names.push_back(entry["experiment"]);
    if (list["next_cursor"].is_null()) break;
    cursor = list["next_cursor"].get<std::string>();
  }
  EXPECT_EQ(names, (std::vector<std::string>{"alpha", "beta", "gamma"}));
  const Json list = get_json("/api/v1/experiments", {{"limit", "1"}});
  get_detail("/api/v1/experiments", {{"cursor", list["next_cursor"]}, {"q", "a"}}, 400);
  get_detail("/api/v1/experiments", {{"sort", "id"}}, 400);
}

TEST_F(Service, ListsRootsAndParkedFiles) {
  fill();
  const Json json = get_json("/api/v1/roots");
  EXPECT_EQ(json["roots"][0]["path"], "/data/w");
  EXPECT_TRUE(json["roots"][0]["cluster"].is_null());
  EXPECT_EQ(json["roots"][0]["last_scan_s"], 0.25);
  EXPECT_EQ(json["parked_files"][0]["reason"], "permission denied");
  const std::string tag = get("/api/v1/roots").etag;
  EXPECT_EQ(get("/api/v1/roots", {}, {{"if-none-match", "\"" + tag + "\""}}).body, nullptr);
  writer_->record_scan(root_, "2025-12-22T17:00:01Z", 0.5, 5, "root is gone");
  const http::Response changed = get("/api/v1/roots", {}, {{"if-none-match", "\"" + tag + "\""}});
  ASSERT_NE(changed.body, nullptr);
  EXPECT_EQ(Json::parse(*changed.body)["roots"][0]["error"], "root is gone");
}

TEST_F(Service, TellsHowIngestIsDoing) {
  status_.bytes_read = 123;
  status_.root_errors = {"cannot read /data"};
  const Json json = get_json("/api/v1/status");
  EXPECT_EQ(json["first_scan_done"], true);
  EXPECT_EQ(json["bytes_read"], 123);
  EXPECT_TRUE(json["halted_reason"].is_null());
  EXPECT_EQ(json["root_errors"][0], "cannot read /data");
  EXPECT_EQ(json["jobs_are_on"], false);
  EXPECT_EQ(json["reads_only"], false);
  EXPECT_EQ(json["version"], "1.2.3");
}

TEST_F(Service, StreamsTheChangesOfRuns) {
  const http::Response response = get("/api/v1/events");
  EXPECT_EQ(response.events, &events_);
  EXPECT_EQ(response.content_type, "text/event-stream");
  const std::uint64_t before = events_.last_id();
  publish_change(events_, {storage::RunChange::Kind::superseded, 7});
  bool was_reset = false;
  const auto events = events_.events_after(before, was_reset);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].name, "run");
  EXPECT_EQ(events[0].data, R"({"run_id":7,"kind":"superseded"})");
}

TEST_F(Service, StreamsChangesFromShortlyBeforeWhereThatIsAsked) {
  EXPECT_EQ(get("/api/v1/events").recent_events.count(), 0);
  EXPECT_EQ(get("/api/v1/events", {{"recent_ms", "2000"}}).recent_events.count(), 2000);
  EXPECT_EQ(get("/api/v1/events", {{"recent_ms", "60001"}}).status, 400);
}

TEST_F(Service, NamesEveryCauseThatItIsNotReady) {
  EXPECT_EQ(get_json("/healthz")["status"], "ok");
  EXPECT_EQ(get_json("/readyz")["status"], "ready");
  status_.first_scan_done = false;
  status_.halted_reason = "the disk is full";
  status_.root_errors = {"/a is gone", "/b is gone"};
  const Json json = get_json("/readyz", {}, 503);
  std::vector<std::string> causes;
  for (const Json& cause : json["causes"]) causes.push_back(cause["cause"]);
  EXPECT_EQ(causes, (std::vector<std::string>{"first_scan_not_done", "ingest_halted", "root_error",
                                              "root_error"}));
  EXPECT_NE(json["detail"].get<std::string>().find("the disk is full"), std::string::npos);
  EXPECT_EQ(get_json("/healthz")["status"], "ok") << "alive all the same";
}

TEST_F(Service, NamesTheRootThatHangsAndSinceWhen) {
  fill();
  ingest::RootStatus well;
  well.id = root_ + 1;
  well.path = "/data/well";
  ingest::RootStatus sick;
  sick.id = root_;
  sick.path = "/data/w";
  sick.hangs_since = ingest::WallTime(std::chrono::seconds(1'766'415'600));
  status_.roots = {well, sick};
  const Json ready = get_json("/readyz");
  EXPECT_EQ(ready["status"], "degraded");
  ASSERT_EQ(ready["causes"].size(), 1U);
  EXPECT_EQ(ready["causes"][0]["cause"], "root_hangs");
  const auto detail = ready["causes"][0]["detail"].get<std::string>();
  EXPECT_NE(detail.find("/data/w does not answer since 2025-12-22T15:00:00Z"), std::string::npos)
      << detail;
  EXPECT_EQ(get_json("/api/v1/roots")["roots"][0]["hangs_since"], "2025-12-22T15:00:00Z");
  EXPECT_NE(get("/metrics").body->find("\nllmb_ingest_roots_hanging 1\n"), std::string::npos);

  status_.roots = {sick};
  EXPECT_EQ(get_json("/readyz", {}, 503)["causes"][0]["cause"], "root_hangs") << "none answers";
  status_.roots = {well};
  EXPECT_EQ(get_json("/readyz")["status"], "ready");
  EXPECT_EQ(get_json("/api/v1/roots")["roots"][0]["hangs_since"], nullptr);
}

TEST_F(Service, MeasuresTheBodiesThatItHolds) {
  counters_.large_bodies_bytes = 5'000'000;
  counters_.other_bodies_bytes = 7'000;
  counters_.requests_refused_busy = 3;
  const std::string metrics = *get("/metrics").body;
  for (const char* const line :
       {"llmb_http_bodies_held_bytes{large=\"true\"} 5000000",
        "llmb_http_bodies_held_bytes{large=\"false\"} 7000", "llmb_http_requests_busy_total 3"}) {
    EXPECT_NE(metrics.find("\n" + std::string(line) + "\n"), std::string::npos) << line;
  }
}

TEST_F(Service, SaysThatTheDatabaseIsUnreadable) {
  fill();
  writer_.reset();
  std::filesystem::remove(database_path_ + "-wal");
  std::ofstream(database_path_, std::ios::trunc) << std::string(8192, 'x');
  EXPECT_FALSE(get_detail("/api/v1/runs", {}, 503).empty());
  const http::Response response = get("/api/v1/runs/1");
  EXPECT_TRUE(std::any_of(response.headers.begin(), response.headers.end(),
                          [](const auto& header) { return header.first == "Retry-After"; }));
  const Json json = get_json("/readyz", {}, 503);
  EXPECT_EQ(json["causes"][0]["cause"], "database_unreadable");
  const http::Response metrics = get("/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_NE(metrics.body->find("llmb_database_readable 0\n"), std::string::npos);
}

TEST_F(Service, ComesBackWithTheDatabase) {
  std::filesystem::rename(database_path_, database_path_ + ".away");
  get_detail("/api/v1/runs", {}, 503);
  std::filesystem::rename(database_path_ + ".away", database_path_);
  get_json("/api/v1/runs");
}

TEST_F(Service, WritesOpenMetrics) {
  fill();
  get("/api/v1/runs");
  get("/api/v1/runs/1");
  status_.files_parked = 1;
  counters_.responses_by_class[2] = 12;
  counters_.latency_counts[0] = 3;
  counters_.latency_counts[1] = 4;
  const http::Response response = get("/metrics");
  EXPECT_EQ(response.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  const std::string& text = *response.body;
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  for (const char* line :
       {"llmb_runs{status=\"complete\"} 3\n", "llmb_runs{status=\"running\"} 0\n",
        "llmb_runs_hung 0\n", "llmb_runs_longest_silence_seconds 0\n", "llmb_steps 221\n",
        "llmb_ingest_files_parked 1\n", "llmb_database_readable 1\n",
        "llmb_http_responses_total{class=\"2xx\"} 12\n", "llmb_build_info{version=\"1.2.3\"} 1\n",
        "llmb_http_request_seconds_bucket{le=\"0.001\"} 7\n",
        "llmb_http_handler_seconds_count{route=\"/api/v1/runs/{id}\"} 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  // Every line is a comment or a sample of the family that the last TYPE line opened.
  static const RE2 comment("# (TYPE|HELP|UNIT) ([a-z0-9_]+) .+|# EOF");
  static const RE2 sample(
      R"re(([a-z0-9_]+)(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [-+0-9.eE]+)re");
  std::string family;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    std::string kind;
    std::string name;
    if (RE2::FullMatch(line, comment, &kind, &name)) {
      if (kind == "TYPE") family = name;
      continue;
    }
    ASSERT_TRUE(RE2::FullMatch(line, sample, &name)) << line;
    EXPECT_TRUE(name.starts_with(family)) << line;
  }
}

TEST_F(Service, AnswersSeveralThreadsWhileDataComes) {
  fill();
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 25; ++round) {
        for (const char* path : {"/api/v1/runs", "/api/v1/runs/1/steps", "/api/v1/experiments",
                                 "/api/v1/runs/1/statistics", "/metrics", "/readyz"}) {
          if (get(path).status != 200) ++failures;
        }
      }
    });
  }
  for (int last = 0; last < 40; ++last) add_run("alpha", 1, last, 7.0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(get_json("/api/v1/runs/1/steps")["iteration"].size(), 50U) << "none is taken back";
}

TEST_F(Service, RefusesParametersWhereThereAreNone) {
  for (const char* path : {"/api/v1/roots", "/api/v1/status", "/api/v1/openapi.json", "/healthz",
                           "/readyz", "/metrics", "/api/v1/events"}) {
    const Pairs query = {{"verbose", "1"}};
    EXPECT_EQ(get(path, query).status, 400) << path;
  }
}

TEST_F(Service, TellsTheLastCompleteRunOfEachConfiguration) {
  auto older = sample_batch(root_, "alpha", 1, 49, 7.5);
  auto newer = sample_batch(root_, "alpha", 2, 49, 8.5);
  auto traced = sample_batch(root_, "alpha", 3, 49, 9.5);
  newer.listed = {parser::identity_of({}, newer.configuration), 100.0, 0.25, 0.9, {}, 1};
  traced.listed.marks = {parser::RunMark::traced};
  auto unknown = sample_batch(root_, "train.py", 4, 49, 6.5);
  unknown.configuration = {};
  unknown.listed = {};
  for (auto* batch : {&older, &newer, &traced, &unknown}) {
    batch->profiles.reset();
    writer_->commit({batch, 1});
  }
  const std::string text = *get("/metrics").body;
  const std::string labels =
      "{workload=\"pretrain_grok1\",model_size=\"70b\",dtype=\"fp8_cs\",gpu_type=\"h100\","
      "gpus=\"128\",cluster=\"eos\"}";
  EXPECT_NE(text.find("\nllmb_result_step_time_seconds" + labels + " 8.5\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\nllmb_result_mfu_ratio" + labels + " 0.25\n"), std::string::npos);
  EXPECT_EQ(text.find(" 7.5\n"), std::string::npos) << "an older run of the same configuration";
  EXPECT_EQ(text.find("{workload=\"\""), std::string::npos) << "runs of anything";
}

std::string header_named(const http::Response& response, const std::string& wanted) {
  for (const auto& [name, value] : response.headers) {
    if (name == wanted) return value;
  }
  return {};
}

TEST_F(Service, PagesOfNamedOriginsMayReadIt) {
  const auto allowed = [&](const Pairs& headers) {
    return header_named(get("/api/v1/status", {}, headers), "Access-Control-Allow-Origin");
  };
  EXPECT_EQ(allowed({{"origin", "https://a.example"}}), "");
  restart_api([](ApiOptions& options) { options.cors_origins = {"https://a.example"}; });
  EXPECT_EQ(allowed({{"origin", "https://a.example"}}), "https://a.example");
  EXPECT_EQ(allowed({{"origin", "https://b.example"}}), "");
  EXPECT_EQ(allowed({}), "");
  restart_api([](ApiOptions& options) { options.cors_origins = {"*"}; });
  EXPECT_EQ(allowed({{"origin", "https://b.example"}}), "*");
}

TEST_F(Service, PagesOfNamedOriginsMayAskWithHeadersAndReadThem) {
  const auto ask = [&](const std::string& method, const std::string& path,
                       const std::string& origin, const std::string& wanted = "GET") {
    http::Request request;
    request.method = method;
    request.path = request.target = path;
    request.headers = {{"origin", origin},
                       {"access-control-request-method", wanted},
                       {"access-control-request-headers", "if-none-match"}};
    return answer(request);
  };
  const std::string page = "https://a.example";
  const std::string status = "/api/v1/status";
  EXPECT_EQ(ask("OPTIONS", status, page).status, 405) << "none was named";
  restart_api([&](ApiOptions& options) { options.cors_origins = {page}; });
  const http::Response preflight = ask("OPTIONS", status, page);
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(header_named(preflight, "Access-Control-Allow-Origin"), page);
  EXPECT_EQ(header_named(preflight, "Access-Control-Allow-Methods"), "GET, HEAD");
  EXPECT_EQ(header_named(preflight, "Access-Control-Allow-Headers"),
            "If-None-Match, Last-Event-ID");
  EXPECT_EQ(header_named(preflight, "Vary"), "Origin");
  for (const char* const method : {"GET", "HEAD"}) {
    const http::Response read = ask(method, status, page);
    EXPECT_EQ(header_named(read, "Access-Control-Allow-Origin"), page) << method;
    EXPECT_EQ(header_named(read, "Access-Control-Expose-Headers"), "ETag, Link, Retry-After");
  }
  // Nothing else than reading is allowed, nobody else, and nothing that is not there.
  const auto expect_refused = [&](const http::Response& response, int refusal) {
    EXPECT_EQ(response.status, refusal);
    EXPECT_EQ(header_named(response, "Access-Control-Allow-Origin"), "");
    EXPECT_EQ(header_named(response, "Access-Control-Allow-Methods"), "");
  };
  expect_refused(ask("OPTIONS", status, "https://b.example"), 405);
  expect_refused(ask("OPTIONS", "/api/v1/jobs", page, "POST"), 405);
  expect_refused(ask("OPTIONS", "/api/v1/push/text", page), 405);
  expect_refused(ask("OPTIONS", "/api/v1/nothing", page), 404);
  restart_api([](ApiOptions& options) { options.cors_origins = {"*"}; });
  EXPECT_EQ(header_named(ask("OPTIONS", status, page), "Access-Control-Allow-Origin"), "*");
}

TEST_F(Service, PagesOfNamedOriginsMayReadWhyARequestIsRefused) {
  fill();
  restart_api([](ApiOptions& options) { options.cors_origins = {"https://a.example"}; });
  const auto expect_readable = [&](const std::string& path, const Pairs& query, int status) {
    const http::Response response = get(path, query, {{"origin", "https://a.example"}});
    EXPECT_EQ(response.status, status) << path;
    EXPECT_EQ(header_named(response, "Access-Control-Allow-Origin"), "https://a.example") << path;
    EXPECT_EQ(header_named(response, "Vary"), "Origin") << path;
  };
  expect_readable("/api/v1/runs", {{"no_such", "1"}}, 400);
  expect_readable("/api/v1/runs/999", {}, 404);
  expect_readable("/api/v1/nothing", {}, 404);
  execute_sql("ALTER TABLE step_sample RENAME TO gone");
  expect_readable("/api/v1/runs/1/steps", {}, 503);  // refused when its body is made
}

}  // namespace
}  // namespace llmb::api
