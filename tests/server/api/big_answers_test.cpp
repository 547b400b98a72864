// The whole API behind a real server, asked for all steps of a long run by clients that do not
// read: what is held in memory stays bounded, and everybody else is answered.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <vector>

#include "server/http/server.h"
#include "tests/server/api/sample_database.h"
#include "tests/server/http/raw_client.h"

namespace llmb::api {
namespace {

using http::RawClient;
using http::RawResponse;

class BigAnswers : public ApiTest {
 protected:
  static constexpr std::size_t kHeldBytesMax = std::size_t{16} * 1024 * 1024;
  // An answer is made in tens of seconds under ThreadSanitizer beside other tests.
  static constexpr std::chrono::seconds kPatience{60};

  void SetUp() override {
    ApiTest::SetUp();
    fill();
    steps_of_long_run_ = fmt::format("/api/v1/runs/{}/steps", add_run("long", 99, 49'999, 7.0));
    http::ServerOptions options;
    options.port = 0;
    options.large_bodies_bytes_max = kHeldBytesMax;
    server_ = std::make_unique<http::Server>(options, router_);
    server_->start();
  }
  void TearDown() override {
    server_.reset();
    ApiTest::TearDown();
  }

  std::string steps_of_long_run_;
  std::unique_ptr<http::Server> server_;
};

TEST_F(BigAnswers, ThatNobodyReadsAreBounded) {
  const std::size_t body_bytes =
      RawClient(server_->port()).request(http::get(steps_of_long_run_)).body.size();
  ASSERT_GT(body_bytes, kHeldBytesMax / 4);
  ASSERT_LT(body_bytes, kHeldBytesMax);
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 20; ++i) {
    deaf.push_back(std::make_unique<RawClient>(server_->port(), 4096));
    ASSERT_TRUE(deaf.back()->send(http::get(steps_of_long_run_)));
  }
  const std::size_t fit = kHeldBytesMax / body_bytes + 1;
  EXPECT_TRUE(http::eventually(
      [&] {
        const http::ServerCounters counters = server_->counters();
        return counters.requests_refused_busy + fit >= deaf.size() &&
               counters.requests_computing == 0;
      },
      kPatience));
  EXPECT_GE(server_->counters().large_bodies_bytes, body_bytes);
  EXPECT_LE(server_->counters().large_bodies_bytes, kHeldBytesMax + body_bytes);
  RawClient client(server_->port());
  for (const char* target : {"/healthz", "/api/v1/runs", "/api/v1/runs/1", "/api/v1/runs/1/steps",
                             "/api/v1/experiments", "/api/v1/status"}) {
    EXPECT_EQ(client.request(http::get(target)).status, 200) << target;
  }
  EXPECT_EQ(client.request(http::get(steps_of_long_run_ + "?window=35-44")).status, 200)
      << "a part of them is small";
  deaf.clear();
  EXPECT_TRUE(
      http::eventually([&] { return server_->counters().large_bodies_bytes < kHeldBytesMax; }));
  EXPECT_EQ(client.request(http::get(steps_of_long_run_)).body.size(), body_bytes);
}

TEST_F(BigAnswers, ThatDoNotFitSayWhenToAskAgain) {
  std::vector<std::unique_ptr<RawClient>> deaf;
  RawResponse refusal;
  ASSERT_TRUE(http::eventually(
      [&] {
        deaf.push_back(std::make_unique<RawClient>(server_->port(), 4096));
        deaf.back()->send(http::get(steps_of_long_run_));
        refusal = RawClient(server_->port()).request(http::get(steps_of_long_run_));
        return refusal.status == 503;
      },
      kPatience));
  EXPECT_EQ(refusal.headers.at("retry-after"), "5");
  EXPECT_EQ(refusal.headers.at("content-type"), "application/problem+json");
}

}  // namespace
}  // namespace llmb::api
