#include "server/http/static_files.h"

#include <gtest/gtest.h>

namespace llmb::http {
namespace {

const std::string kScript(5000, 's');

StaticFiles dashboard() {
  return StaticFiles({{"/index.html", "text/html; charset=utf-8", "<!doctype html>", false},
                      {"/assets/app-0123.js", "text/javascript", kScript, true},
                      {"/icon.png", "image/png", "png", false}});
}

Response answer_of(const StaticFiles& files, std::string path) {
  Request request;
  request.method = "GET";
  request.path = std::move(path);
  return files.serve(request);
}

TEST(StaticFiles, ServesAFileWithItsTypeAndTag) {
  const StaticFiles files = dashboard();
  const Response icon = answer_of(files, "/icon.png");
  EXPECT_EQ(icon.status, 200);
  EXPECT_EQ(icon.content_type, "image/png");
  EXPECT_EQ(*icon.body, "png");
  EXPECT_EQ(icon.etag.size(), 24U);
  EXPECT_NE(icon.etag, answer_of(files, "/").etag);
  EXPECT_EQ(icon.gzip_body, nullptr);
}

TEST(StaticFiles, LetsOnlyHashedNamesBeCachedForEver) {
  const StaticFiles files = dashboard();
  EXPECT_EQ(answer_of(files, "/assets/app-0123.js").cache_control,
            "public, max-age=31536000, immutable");
  EXPECT_EQ(answer_of(files, "/index.html").cache_control, "no-cache");
}

TEST(StaticFiles, CompressesBeforehand) {
  const StaticFiles files = dashboard();
  const Response script = answer_of(files, "/assets/app-0123.js");
  ASSERT_NE(script.gzip_body, nullptr);
  ASSERT_NE(script.zstd_body, nullptr);
  EXPECT_LT(script.gzip_body->size(), script.body->size());
}

TEST(StaticFiles, AnswersPagesWithTheIndex) {
  const StaticFiles files = dashboard();
  for (const char* path : {"/", "/runs", "/runs/123", "/a.b/c", "/apis"}) {
    EXPECT_EQ(*answer_of(files, path).body, "<!doctype html>") << path;
  }
}

TEST(StaticFiles, AnswersNotFoundForFilesAndTheApi) {
  const StaticFiles files = dashboard();
  for (const char* path : {"/favicon.ico", "/assets/old.js", "/api", "/api/v1/nothing"}) {
    EXPECT_EQ(answer_of(files, path).status, 404) << path;
  }
}

}  // namespace
}  // namespace llmb::http
