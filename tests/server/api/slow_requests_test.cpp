// The whole API behind a real server, while Slurm does not come back: what has nothing to do with
// Slurm answers.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <memory>
#include <vector>

#include "server/http/server.h"
#include "tests/server/api/sample_database.h"
#include "tests/server/api/stand_in_cluster.h"
#include "tests/server/http/raw_client.h"

namespace llmb::api {
namespace {

using http::RawClient;
using http::Work;
using ::testing::HasSubstr;

class SlowRequests : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    fill();
    cluster_ = std::make_unique<StandInCluster>(folder_, storage_options_, events_);
    cluster_->hang_sbatch();
    restart_api([this](ApiOptions& options) {
      cluster_->connect(options);
      options.server_counters = [this] { return server_->counters(); };
    });
    http::ServerOptions options;
    options.port = 0;
    server_ = std::make_unique<http::Server>(options, router_);
    server_->start();
  }
  void TearDown() override {
    cluster_->let_sbatch_go();
    server_.reset();
    service_.reset();
    api_.reset();
    cluster_.reset();
    ApiTest::TearDown();
  }

  std::string post(const std::string& authorization, int scale) const {
    const std::string body =
        R"({"workload": "pretrain_nemotron4", "model_size": "15b", "dtype": "bf16",
            "gpu_type": "h100", "proxy": true, "runner_options": {"steps": 3}, "scale": )" +
        std::to_string(scale) + "}";
    return "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Authorization: " +
           authorization + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  std::unique_ptr<StandInCluster> cluster_;
  std::unique_ptr<http::Server> server_;
};

TEST_F(SlowRequests, LeaveTheOthersAlone) {
  const std::string authorization = cluster_->authorization("ci", "submit");
  std::vector<std::unique_ptr<RawClient>> submitters;
  for (int i = 0; i < 8; ++i) {
    submitters.push_back(std::make_unique<RawClient>(server_->port()));
    ASSERT_TRUE(submitters.back()->send(post(authorization, 8 << (i % 3))));
  }
  ASSERT_TRUE(http::eventually([this] { return cluster_->sbatch_hangs(); }));
  RawClient listener(server_->port());
  ASSERT_TRUE(listener.send(http::get("/api/v1/events")));
  EXPECT_THAT(listener.read_until("\nid: "), HasSubstr("text/event-stream"));
  RawClient client(server_->port());
  for (const char* target : {"/healthz", "/readyz", "/metrics", "/api/v1/runs", "/api/v1/runs/1",
                             "/api/v1/experiments", "/api/v1/status", "/api/v1/roots",
                             "/api/v1/scaling", "/api/v1/runs/1/steps", "/api/v1/jobs"}) {
    EXPECT_EQ(client.request(http::get(target)).status, 200) << target;
  }
  ASSERT_TRUE(cluster_->sbatch_hangs()) << "it came back before the others were asked";
  events_.publish("run", R"({"run_id":1})");
  EXPECT_THAT(listener.read_until(R"(data: {"run_id":1})"), HasSubstr("event: run"));
  cluster_->let_sbatch_go();
  for (auto& submitter : submitters) {
    const int status = submitter->read_response().status;
    EXPECT_TRUE(status == 201 || status == 202) << status;
  }
}

TEST_F(SlowRequests, AreMarkedInTheTableOfRoutes) {
  const std::map<std::string, Work> expected = {
      {"POST /api/v1/jobs", Work::waiting},
      {"DELETE /api/v1/jobs/{id}", Work::waiting},
      {"GET /api/v1/jobs/{id}/log", Work::waiting},
      {"GET /api/v1/scaling", Work::computing},
      {"GET /api/v1/compare", Work::computing},
      {"GET /api/v1/references/audit", Work::computing},
      {"GET /api/v1/runs/{id}/steps", Work::computing},
      {"GET /api/v1/runs/{id}/metrics", Work::computing},
      {"GET /api/v1/runs/{id}/statistics", Work::computing},
      {"GET /api/v1/runs/{id}/insight", Work::computing},
      {"GET /api/v1/runs/{id}/agreement", Work::computing},
      {"GET /api/v1/runs", Work::quick},
      {"GET /api/v1/events", Work::quick},
      {"GET /healthz", Work::quick}};
  for (const auto& [route, work] : expected) {
    const std::size_t space = route.find(' ');
    EXPECT_EQ(router_.options_for(route.substr(0, space), route.substr(space + 1)).work, work)
        << route;
  }
}

}  // namespace
}  // namespace llmb::api
