// GET /api/v1/runs/{id}/log/text: the bytes of a log as they stand, of logs that change meanwhile,
// and of many at once.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/foundation/content_hash.h"
#include "server/api/attachment.h"
#include "server/http/server.h"
#include "tests/server/api/sample_database.h"
#include "tests/server/http/raw_client.h"
#include "tests/server/ingest/hanging_file_system.h"
#include "tests/server/unpacking/packed_bytes.h"

namespace llmb::api {
namespace {

using testing::HasSubstr;

// Some pieces of 256 KiB, and bytes that are no UTF-8.
std::string long_text(const std::string& word = "line") {
  std::string text = std::string("\0\xff\r\n\x1b[31m", 9);
  for (int i = 0; text.size() < (1U << 20U); ++i) text += word + " " + std::to_string(i) + "\n";
  return text + "unended";
}

class LogDownload : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    watch(tree());
    write(text_);
    commit(text_);
  }

  std::filesystem::path tree() const { return folder_ / "tree"; }
  std::filesystem::path file() const { return tree() / "log.out"; }
  void write(const std::string& text) const { std::ofstream(file(), std::ios::binary) << text; }
  // The run as it was read of a log with this text.
  void commit(const std::string& text) {
    storage::IngestBatch batch = sample_batch(status_.roots.front().id, "alpha", 1, 49, 7.0);
    batch.relative_path = "log.out";
    batch.cursor = {};
    batch.cursor.offset = text.rfind('\n') + 1;
    batch.cursor.head_length = 1024;
    batch.cursor.head_hash = parser::content_hash(text.substr(0, 1024));
    batch.cursor.tail_length = 256;
    batch.cursor.tail_hash = parser::content_hash(text.substr(batch.cursor.offset - 256, 256));
    run_ = writer_->commit({&batch, 1}).at(0);
  }
  std::string path() const { return "/api/v1/runs/" + std::to_string(run_) + "/log/text"; }

  const std::string text_ = long_text();
  storage::RunId run_ = 0;
};

TEST_F(LogDownload, GivesTheBytesAsTheyStand) {
  const http::Response response = get(path());
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(*response.body == text_);
  EXPECT_EQ(response.content_type, "text/plain");
  EXPECT_EQ(response.stream.size_bytes, text_.size());
  EXPECT_EQ(header_of(response, "Content-Disposition"), "attachment; filename=\"log.out\"");
  EXPECT_EQ(header_of(response, "Accept-Ranges"), "none");
  const Pairs held = {{"if-none-match", '"' + response.etag + '"'}};
  EXPECT_EQ(get(path(), {}, held).status, 304);
  write(text_ + " no more\n");
  EXPECT_EQ(get(path(), {}, held).status, 200);
  get_detail(path(), {{"offset", "1"}}, 400);
}

TEST_F(LogDownload, GivesAnEmptyLog) {
  write("");
  storage::IngestBatch batch = sample_batch(status_.roots.front().id, "alpha", 1, 49, 7.0);
  batch.relative_path = "log.out";
  batch.cursor = {};
  writer_->commit({&batch, 1});
  const http::Response response = get(path());
  EXPECT_EQ(response.stream.size_bytes, 0U);
  EXPECT_EQ(*response.body, "");
}

TEST_F(LogDownload, UnpacksWhatWasCompressedSince) {
  std::filesystem::remove(file());
  for (const unpacking::Packing packing : unpacking::kPackings) {
    const std::string name = file().string() + unpacking::suffix_of(packing);
    std::ofstream(name, std::ios::binary) << unpacking::packed_by(packing, text_);
    const http::Response response = get(path());
    EXPECT_TRUE(*response.body == text_) << name;
    EXPECT_EQ(response.stream.size_bytes, std::nullopt);
    EXPECT_EQ(header_of(response, "Content-Disposition"), "attachment; filename=\"log.out\"");
    EXPECT_EQ(get(path(), {}, {{"if-none-match", '"' + response.etag + '"'}}).status, 304);
    std::filesystem::remove(name);
  }
}

TEST_F(LogDownload, BreaksOffWhereACompressedLogTurnsOutToBeAnother) {
  std::filesystem::remove(file());
  const std::string packed = file().string() + ".gz";
  const auto pack = [&](const std::string& text) {
    std::ofstream(packed, std::ios::binary) << unpacking::gzipped(text);
  };
  std::string other = text_;
  other[text_.size() - 50] = '?';
  pack(other);
  EXPECT_FALSE(rest_of(begin(path())).has_value());
  pack(text_.substr(0, text_.size() / 2));
  EXPECT_FALSE(rest_of(begin(path())).has_value());
}

TEST_F(LogDownload, HasWhatWasReadOfACompressedLogThatIsCutOff) {
  std::filesystem::remove(file());
  const std::string whole = unpacking::gzipped(text_);
  const auto rest_of_first = [&](std::size_t bytes) {
    std::ofstream(file().string() + ".gz", std::ios::binary) << whole.substr(0, bytes);
    return rest_of(begin(path()));
  };
  const auto rest = rest_of_first(whole.size() - 4);
  ASSERT_TRUE(rest.has_value()) << "behind all of its text";
  const std::string gap = rest->substr(std::min(rest->size(), text_.size()));
  EXPECT_EQ(rest->substr(0, text_.size()), text_);
  EXPECT_EQ(gap.find("\n[llmb-report: the rest of the log is missing: "), 0U) << gap;
  EXPECT_EQ(gap.find('\n', 1), gap.size() - 1) << gap;
  EXPECT_FALSE(rest_of_first(whole.size() / 2).has_value()) << "before what was read of it";
}

TEST_F(LogDownload, AnswersWhatTheLogsLinesAnswerWhereItCannotBeRead) {
  const auto expect_same = [&](int status) {
    const std::string lines = path().substr(0, path().size() - 5);
    EXPECT_EQ(get_detail(path(), {}, status), get_detail(lines, {}, status));
  };
  const storage::RunId watched = run_;
  run_ = 999;
  expect_same(404);
  run_ = add_run("beta", 2, 49, 7.0);  // its root is not watched
  expect_same(404);
  run_ = watched;
  write("other" + text_);
  expect_same(409);
  std::filesystem::remove(file());
  expect_same(404);
  const std::filesystem::path packed = file().string() + ".gz";
  std::ofstream(packed, std::ios::binary) << "\x1f\x8b\x08 no such file";
  expect_same(503);
  std::filesystem::remove(packed);
  std::filesystem::create_symlink("/etc/passwd", file());
  expect_same(404);
}

TEST_F(LogDownload, OfACompressedLogWithinAPieceToo) {
  const std::string small = text_.substr(0, 5'000) + "\n";
  commit(small);
  std::filesystem::remove(file());
  std::ofstream(file().string() + ".gz", std::ios::binary)
      << unpacking::gzipped(small.substr(0, 4'000) + std::string(1'001, '?'));
  EXPECT_THAT(get_detail(path(), {}, 409), HasSubstr("read anew"));
}

TEST_F(LogDownload, IsNotWaitedForWhereItsFileSystemHangs) {
  const http::Response begun = begin(path());
  ingest::HangingFileSystem hanging(tree().string(), ingest::HangingFileSystem::Calls::reads);
  EXPECT_THAT(get_detail(path(), {}, 503), HasSubstr("has not answered"));
  EXPECT_EQ(rest_of(begun), std::nullopt);
}

TEST_F(LogDownload, EndsWhereTheLogEndedWhenItBegan) {
  const http::Response response = begin(path());
  std::ofstream(file(), std::ios::app) << " and goes on\n" << text_;
  EXPECT_TRUE(rest_of(response) == text_);
  EXPECT_EQ(response.stream.size_bytes, text_.size());
}

TEST_F(LogDownload, BreaksOffWhereTheLogIsWrittenAnew) {
  http::Response response = begin(path());
  write(text_.substr(0, 100));
  EXPECT_EQ(rest_of(response), std::nullopt) << "it became shorter";
  write(text_);
  response = begin(path());
  write(long_text("word") + text_);
  EXPECT_EQ(rest_of(response), std::nullopt) << "it is longer, and another";
  // Whoever has a file open reads on in it.
  write(text_);
  response = begin(path());
  std::filesystem::rename(file(), tree() / "log.old");
  write(long_text("word"));
  EXPECT_TRUE(rest_of(response) == text_);
}

TEST_F(LogDownload, LeavesOthersAloneHoweverManyThereAre) {
  std::ofstream log(file(), std::ios::app);
  for (int i = 0; i < 32; ++i) log << text_;
  log.close();
  std::unique_ptr<http::Server> server;
  restart_api([&](ApiOptions& options) {
    options.server_counters = [&server] { return server->counters(); };
  });
  http::ServerOptions options;
  options.port = 0;
  server = std::make_unique<http::Server>(options, router_);
  server->start();
  const auto streams = [&] { return server->counters().body_streams_open; };
  std::vector<std::unique_ptr<http::RawClient>> clients;
  for (std::size_t i = 0; i < options.streams_max; ++i) {
    clients.push_back(std::make_unique<http::RawClient>(server->port(), 4096));
    ASSERT_TRUE(clients.back()->send(http::get(path())));
  }
  ASSERT_TRUE(http::eventually([&] { return streams() == options.streams_max; }));
  http::RawClient client(server->port());
  for (const char* const other : {"/healthz", "/api/v1/runs", "/metrics"}) {
    EXPECT_EQ(client.request(http::get(other)).status, 200) << other;
  }
  EXPECT_EQ(client.request(http::get("/api/v1/runs/" + std::to_string(run_) + "/log")).status, 200);
  EXPECT_EQ(client.request(http::get(path())).status, 503);
  clients.clear();
  ASSERT_TRUE(http::eventually([&] { return streams() == 0; }));
  write(text_);
  EXPECT_TRUE(client.request(http::get(path())).body == text_);
  server.reset();
}

TEST(AttachmentHeader, NamesTheFileInAsciiAndAsItIsCalled) {
  const auto value = [](std::string_view name) { return attachment_header(name).second; };
  EXPECT_EQ(value("log (1).out"), "attachment; filename=\"log (1).out\"");
  EXPECT_EQ(value("r\xc3\xa9sum\xc3\xa9.out"),
            "attachment; filename=\"r_sum_.out\"; filename*=UTF-8''r%C3%A9sum%C3%A9.out");
  EXPECT_EQ(value("a\"b%.out"), "attachment; filename=\"a_b_.out\"; filename*=UTF-8''a%22b%25.out");
  const std::string hostile = value("..\\x\r\nSet-Cookie: a=b\xff/\xe2\x80\xae.out");
  EXPECT_EQ(hostile.find_first_of("\r\n\\/\xff\xe2"), std::string::npos) << hostile;
  EXPECT_EQ(hostile.find("%E2"), std::string::npos) << hostile;
}

}  // namespace
}  // namespace llmb::api
