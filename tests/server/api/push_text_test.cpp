// The text of logs that agents send along, and the lines that are shown of it.
#include <gmock/gmock.h>

#include <vector>

#include "tests/server/api/push_fixture.h"

namespace llmb::api {
namespace {

using testing::HasSubstr;

// What a log says that just stopped growing is not the last that is known of its bytes.
TEST_F(Push, ALaterReadingsWordThatARunIsRunningIsNotTheLastOne) {
  Spool first(agent_path());
  auto log = first.batch("alpha", 49);
  log.reading = 1;
  log.summary.status = parser::RunStatus::running;
  first.commit(log);
  push_all(first);
  fall_silent();
  Spool live(agent_path("live"));
  live.commit(live.batch("alpha", 49));
  EXPECT_EQ(push_all(live), std::vector<std::string>{"taken"});
  EXPECT_NE(get_json("/api/v1/runs")["runs"].at(0)["status"], "running");
}

TEST_F(Push, SaysThatTheLogStaysOnItsCluster) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 10));
  push_all(spool);
  const std::string run = get_json("/api/v1/runs")["runs"][0]["id"].dump();
  EXPECT_THAT(get_detail("/api/v1/runs/" + run + "/log", {}, 404),
              HasSubstr("it stays on its cluster, 'eos'"));
}

TEST_F(Push, ShowsTheTextThatWasSentAlong) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 10));
  push_all(spool);
  const std::string log =
      "/api/v1/runs/" + get_json("/api/v1/runs")["runs"][0]["id"].dump() + "/log";
  const std::string path = spool.batch("alpha", 10).relative_path;
  std::string text;
  for (int i = 0; text.size() < 3 * storage::kLogBlockBytes; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  const auto send = [&](std::uint64_t block, std::int64_t generation = 0) {
    const std::uint64_t first = block * storage::kLogBlockBytes;
    const std::string piece = text.substr(first, storage::kLogBlockBytes);
    return post_text(spool.store.store_id(),
                     {{"/lustre/w", path, generation, push::packed_block(first, piece)}});
  };
  EXPECT_EQ(send(0, 5), Json::array({nullptr}));  // that generation was never told
  EXPECT_EQ(send(0), Json::array({storage::kLogBlockBytes}));
  EXPECT_EQ(send(2), Json::array({3 * storage::kLogBlockBytes}));
  const Json first = get_json(log, {{"offset", "8"}, {"before", "2"}, {"after", "1"}});
  EXPECT_EQ(first["lines"][1]["text"], "line 1");
  EXPECT_EQ(first["lines"].size(), 3U);
  EXPECT_EQ(first["size_bytes"], 3 * storage::kLogBlockBytes);
  const std::string in_the_gap = std::to_string(storage::kLogBlockBytes + 10);
  EXPECT_THAT(get_detail(log, {{"offset", in_the_gap}}, 404), HasSubstr("is not here"));
  std::vector<int> found;
  bool has_gaps = false;
  // A slow machine looks through a part of it in the time of one question.
  for (Json next = 0; next.is_number();) {
    const Json part =
        get_json(log + "/matches", {{"pattern", "^line [0-9]*000$"}, {"from", next.dump()}});
    for (const Json& line : part["lines"]) {
      found.push_back(std::stoi(line["text"].get<std::string>().substr(5)));
    }
    has_gaps |= part["has_gaps"].get<bool>();
    next = part["next_offset"];
  }
  EXPECT_EQ(found.front(), 1'000);
  EXPECT_GT(found.back(), 60'000) << "behind the gap";
  EXPECT_LT(found.size(), 60U);
  EXPECT_TRUE(has_gaps);
  const Json behind_it = get_json(
      log, {{"offset", std::to_string(2 * storage::kLogBlockBytes + 100)}, {"before", "500"}});
  EXPECT_GE(behind_it["lines"][0]["offset"], 2 * storage::kLogBlockBytes);
  send(1);
  const Json in_it = get_json(log, {{"offset", in_the_gap}, {"after", "0"}, {"before", "0"}});
  const std::size_t begin = text.rfind('\n', storage::kLogBlockBytes + 10) + 1;
  EXPECT_EQ(in_it["lines"][0]["offset"], begin);
  EXPECT_EQ(in_it["lines"][0]["text"], text.substr(begin, text.find('\n', begin) - begin));
}

TEST_F(Push, GivesTheWholeTextThatWasSentAlong) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 10));
  push_all(spool);
  const std::string id = get_json("/api/v1/runs")["runs"][0]["id"].dump();
  const std::string path = "/api/v1/runs/" + id + "/log/text";
  EXPECT_THAT(get_detail(path, {}, 404), HasSubstr("it stays on its cluster, 'eos'"));
  std::string text = "\xff no UTF-8\r\n";
  for (int i = 0; text.size() < 5 * storage::kLogBlockBytes / 2; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  const auto send = [&](std::uint64_t block, std::size_t size = storage::kLogBlockBytes) {
    const std::uint64_t first = block * storage::kLogBlockBytes;
    post_text(spool.store.store_id(), {{"/lustre/w", spool.batch("alpha", 10).relative_path, 0,
                                        push::packed_block(first, text.substr(first, size))}});
  };
  send(0);
  send(2, 1'000);
  const http::Response with_gap = get(path);
  const std::size_t gap_ends = 2 * storage::kLogBlockBytes;
  EXPECT_TRUE(with_gap.body->starts_with(text.substr(0, storage::kLogBlockBytes) +
                                         "\n[llmb-report: 262144 bytes of the log are missing"));
  EXPECT_TRUE(with_gap.body->ends_with("]\n" + text.substr(gap_ends, 1'000)));
  EXPECT_EQ(with_gap.stream.size_bytes, with_gap.body->size());
  const auto held = [](const http::Response& response) {
    return Pairs{{"if-none-match", '"' + response.etag + '"'}};
  };
  EXPECT_EQ(get(path, {}, held(with_gap)).status, 304);
  send(1);
  const http::Response growing = begin(path);
  send(2);
  const http::Response whole = get(path, {}, held(with_gap));
  EXPECT_TRUE(*whole.body == text);
  EXPECT_TRUE(rest_of(growing) == text.substr(0, gap_ends + 1'000))
      << "as long as it was when it began";
  // Of what is removed meanwhile nobody gets a part as if it were the whole.
  const http::Response removed = begin(path);
  execute_sql("DELETE FROM log_text WHERE first_byte > 0");
  EXPECT_FALSE(removed.stream.next().empty());
  EXPECT_THROW(removed.stream.next(), std::exception);
  execute_sql("DELETE FROM log_text");
  get_detail(path, {}, 404);
}

TEST_F(Push, TakesTextOfTheTokensClusterOnly) {
  Spool spool(agent_path());
  spool.commit(spool.batch("alpha", 10));
  push_all(spool);
  const storage::LogBlockTelling told{"/lustre/w", spool.batch("alpha", 10).relative_path, 0,
                                      push::packed_block(0, "line\n")};
  const auto status = [&](http::Request request) { return answer(request).status; };
  http::Request request = text_request_of(spool.store.store_id(), {told});
  request.body.pop_back();
  EXPECT_EQ(status(request), 400);
  request = request_of("s", {});
  request.path = request.target = "/api/v1/push/text";
  EXPECT_EQ(status(request), 415);
  authorization_ = token_for("dgx");
  EXPECT_EQ(status(text_request_of(spool.store.store_id(), {told})), 403);
  cluster_ = "dgx";
  EXPECT_EQ(post_text(spool.store.store_id(), {told}), Json::array({nullptr}));
}

}  // namespace
}  // namespace llmb::api
