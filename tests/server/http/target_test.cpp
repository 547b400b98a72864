#include "server/http/target.h"

#include <gtest/gtest.h>

namespace llmb::http {
namespace {

std::string complaint(std::string_view raw) {
  Request request;
  return read_target(raw, request);
}

Request read(std::string_view raw) {
  Request request;
  EXPECT_EQ(read_target(raw, request), "") << raw;
  return request;
}

TEST(Target, DecodesPathAndQuery) {
  const Request request = read("/a%20b/%C3%BC?x=1+2&y=%26%3d&empty=&bare&&x=3");
  EXPECT_EQ(request.target, "/a%20b/%C3%BC?x=1+2&y=%26%3d&empty=&bare&&x=3");
  EXPECT_EQ(request.path, "/a b/\u00fc");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"x", "1 2"}, {"y", "&="}, {"empty", ""}, {"bare", ""}, {"x", "3"}};
  EXPECT_EQ(request.query, expected);
  EXPECT_EQ(request.query_value("x"), "1 2");
  EXPECT_EQ(request.query_value("z"), std::nullopt);
}

TEST(Target, KeepsThePlusOfAPath) {
  EXPECT_EQ(read("/a+b").path, "/a+b");
}

TEST(Target, TakesTheHostOfTheAbsoluteForm) {
  const Request request = read("http://example.org:80?x=1");
  EXPECT_EQ(request.host, "example.org:80");
  EXPECT_EQ(complaint("http:///x"), "the request's target names no host");
}

TEST(Target, RefusesWhatCouldBeReadInTwoWays) {
  for (const char* raw : {"/a%00b",
                          "/a%0ab",
                          "/a%7f",
                          "/..",
                          "/a/../b",
                          "/a/./b",
                          "/%2e%2e/etc/passwd",
                          "/.%2E",
                          "/a%2fb",
                          "/a%2Fb",
                          "/a%5cb",
                          "/a\\b",
                          "/%c0%af",
                          "/%e0%80%af",
                          "/%ed%a0%80",
                          "/%ff",
                          "/%f4%90%80%80",
                          "/%C3",
                          "/%",
                          "/%4",
                          "/%zz",
                          "/a#b",
                          "/a b",
                          "/\xc3\xbc",
                          "",
                          "*",
                          "a",
                          "localhost:80",
                          "ftp://x/",
                          "/?a=%00",
                          "/?a=%",
                          "/?%ff=1"}) {
    EXPECT_NE(complaint(raw), "") << raw;
  }
}

TEST(Target, AcceptsDotsThatAreNoSegments) {
  for (const char* raw : {"/a..b", "/...", "/.well-known", "/a.", "/index.html"}) {
    EXPECT_EQ(complaint(raw), "") << raw;
  }
}

TEST(HostCheck, KnowsTheLoopbackAndWhatIsAllowed) {
  const std::vector<std::string> allowed = {"bench.example.org", "other.example.org:8080"};
  for (const char* host :
       {"localhost", "LOCALHOST:8642", "127.0.0.1", "127.0.0.1:1", "127.0.0.2:8642", "[::1]",
        "[::1]:8642", "[0:0:0:0:0:0:0:1]:8642", "bench.example.org", "Bench.Example.Org:443",
        "other.example.org:8080"}) {
    EXPECT_TRUE(host_is_allowed(host, allowed)) << host;
  }
  for (const char* host :
       {"evil.example.org", "localhost.evil.org", "127.0.0.1.evil.org", "localhost:80@evil.org",
        "other.example.org", "localhost:8x", "::1", "[127.0.0.1]", "[localhost]", "128.0.0.1",
        "bench.example.org.", "", ":80"}) {
    EXPECT_FALSE(host_is_allowed(host, allowed)) << host;
  }
}

TEST(Utf8, IsJudgedAsTheStandardSays) {
  for (const char* good : {"", "abc", "\u00fc", "\u20ac", "\U0001f600", "\U0010ffff"}) {
    EXPECT_TRUE(is_valid_utf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe2\x82", "\xe0\x9f\xbf",
                          "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf5\x80\x80\x80", "\xc3\x28"}) {
    EXPECT_FALSE(is_valid_utf8(bad));
  }
}

}  // namespace
}  // namespace llmb::http
