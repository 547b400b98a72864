#include "server/http/bearer_token.h"

#include <gtest/gtest.h>

#include <set>

namespace llmb::http {
namespace {

Request with_authorization(const std::string& value) {
  Request request;
  request.headers = {{"authorization", value}};
  return request;
}

TEST(BearerToken, IsTakenFromTheHeaderOnly) {
  EXPECT_EQ(bearer_token(with_authorization("Bearer abc")), "abc");
  EXPECT_EQ(bearer_token(with_authorization("bearer abc")), "abc");
  EXPECT_FALSE(bearer_token(with_authorization("Basic abc")));
  EXPECT_FALSE(bearer_token(with_authorization("Bearer ")));
  EXPECT_FALSE(bearer_token(with_authorization("Bearer")));
  Request in_query;
  in_query.query = {{"authorization", "Bearer abc"}, {"token", "abc"}};
  EXPECT_FALSE(bearer_token(in_query));
}

TEST(BearerToken, IsNewEveryTime) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(new_token());
  EXPECT_EQ(tokens.size(), 100U);
  EXPECT_EQ(tokens.begin()->size(), 5U + 64U);
}

// The standard's own example.
TEST(BearerToken, IsKeptAsItsSha256) {
  EXPECT_EQ(token_sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace llmb::http
