// The whole API behind a real server, asked for all steps of a long run by clients that do not
// read: little is held in memory for them, it stays bounded, and everybody else is answered.
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
  void SetUp() override {
    ApiTest::SetUp();
    fill();
    long_run_ = std::to_string(add_run("long", 99, 49'999, 7.0));
    steps_of_long_run_ = "/api/v1/runs/" + long_run_ + "/steps";
    serve(std::size_t{16} * 1024 * 1024);
  }
  void TearDown() override {
    server_.reset();
    ApiTest::TearDown();
  }

  void serve(std::size_t held_bytes_max) {
    http::ServerOptions options;
    options.port = 0;
    options.large_bodies_bytes_max = held_bytes_max;
    options.response_cache_bytes_max = 0;
    // Clients that wait for what the test does meanwhile are not given up.
    options.write_deadline = options.idle_deadline = std::chrono::minutes(10);
    server_ = std::make_unique<http::Server>(options, router_);
    server_->start();
  }
  // One that has asked and does not read; its answer has begun. One that reads later takes more at
  // once: in pieces of 4 KiB, each waited for, that lasts twenty seconds.
  std::unique_ptr<RawClient> deaf_client(const std::string& target,
                                         int receive_bytes = 4096) const {
    auto client = std::make_unique<RawClient>(server_->port(), receive_bytes);
    EXPECT_TRUE(client->send(http::get(target)));
    EXPECT_TRUE(http::eventually([&] { return client->is_answered(); }));
    return client;
  }

  std::string long_run_;
  std::string steps_of_long_run_;
  std::unique_ptr<http::Server> server_;
};

TEST_F(BigAnswers, ThatNobodyReadsTakeLittleRoom) {
  const std::size_t body_bytes =
      RawClient(server_->port()).request(http::get(steps_of_long_run_)).body.size();
  ASSERT_GT(body_bytes, std::size_t{4} * 1024 * 1024);
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 6; ++i) {  // no two of them are one answer, and four would fill the server
    deaf.push_back(deaf_client(fmt::format("{}?window=0-{}", steps_of_long_run_, 49'999 - i)));
  }
  EXPECT_EQ(server_->counters().requests_refused_busy, 0U);
  EXPECT_LT(server_->counters().large_bodies_bytes, deaf.size() * body_bytes / 4);
  EXPECT_GT(server_->counters().large_bodies_bytes, 0U);
  RawClient client(server_->port());
  for (const char* target : {"/healthz", "/api/v1/runs", "/api/v1/runs/1", "/api/v1/runs/1/steps",
                             "/api/v1/experiments", "/api/v1/status"}) {
    EXPECT_EQ(client.request(http::get(target)).status, 200) << target;
  }
  EXPECT_EQ(client.request(http::get(steps_of_long_run_ + "?window=35-44")).status, 200)
      << "a part of them is small";
  deaf.clear();
  EXPECT_TRUE(http::eventually([&] { return server_->counters().large_bodies_bytes == 0; }));
  EXPECT_EQ(client.request(http::get(steps_of_long_run_)).body.size(), body_bytes);
}

TEST_F(BigAnswers, ThatDoNotFitSayWhenToAskAgain) {
  serve(1);  // one that is held fills it
  const auto deaf = deaf_client(steps_of_long_run_);
  EXPECT_GT(server_->counters().large_bodies_bytes, 0U);
  const RawResponse refusal =
      RawClient(server_->port()).request(http::get(steps_of_long_run_ + "?window=0-49000"));
  EXPECT_EQ(refusal.status, 503);
  EXPECT_EQ(refusal.headers.at("retry-after"), "5");
  EXPECT_EQ(refusal.headers.at("content-type"), "application/problem+json");
}

// An answer is what one reading found, however slowly it is taken and whatever happens to the run.
TEST_F(BigAnswers, AreWhatTheirEtagNames) {
  for (const char* form : {"", ".csv", ".ndjson"}) {
    const std::string target = steps_of_long_run_ + form;
    RawClient client(server_->port());
    const RawResponse before = client.request(http::get(target));
    ASSERT_EQ(before.status, 200) << target;
    const auto slow = deaf_client(target, 256 * 1024);
    EXPECT_GT(server_->counters().large_bodies_bytes, 0U) << target << ": all of it has left";
    // The last steps, which the server has not come to.
    execute_sql("UPDATE step_sample SET step_time_s = step_time_s + 1 WHERE run_id = " + long_run_ +
                " AND iteration > 49900");
    execute_sql("UPDATE run SET revision = revision + 1 WHERE id = " + long_run_);
    const RawResponse taken = slow->read_response();
    EXPECT_EQ(taken.headers.at("etag"), before.headers.at("etag"));
    EXPECT_TRUE(taken.body == before.body) << target;
    const RawResponse after = client.request(http::get(target));
    EXPECT_NE(after.headers.at("etag"), before.headers.at("etag"));
    EXPECT_FALSE(after.body == before.body) << target;
  }
}

}  // namespace
}  // namespace llmb::api
