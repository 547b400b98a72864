// The parts that handlers are made of, each by itself.
#include <gtest/gtest.h>

#include <limits>

#include "server/api/cursor.h"
#include "server/api/json.h"
#include "server/api/openmetrics_text.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/tagged_response.h"

namespace llmb::api {
namespace {

TEST(Cursor, SurvivesTheRoundTrip) {
  for (const Cursor& cursor : {Cursor{"-launched_at", "2025-12-22T15:18:33Z", 12, "abc"},
                               Cursor{"id", std::nullopt, 1, ""},
                               Cursor{"experiment", std::string("\xff\0x", 3), 9, "f"}}) {
    const std::string text = encode_cursor(cursor);
    EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "0123456789-_"),
              std::string::npos);
    EXPECT_EQ(decode_cursor(text), cursor);
  }
}

TEST(Cursor, RefusesForgeries) {
  for (const char* text : {"", "!", "AAAA", "W10", "WzEsMiwzLDRd", "bnVsbA", "e30"}) {
    EXPECT_EQ(decode_cursor(text), std::nullopt) << text;
  }
}

TEST(QueryParameters, CanonicalFormNamesTheQuestion) {
  http::Request request;
  request.query = {{"b", "x y&z"}, {"a", "\xc3\xa9"}};
  const QueryParameters parameters(request, {"a", "b"});
  EXPECT_EQ(parameters.canonical(), "a=%C3%A9&b=x%20y%26z");
  EXPECT_EQ(parameters.canonical({"a"}), "b=x%20y%26z");
  EXPECT_THROW(QueryParameters(request, {"a"}), RequestError);
}

TEST(OpenMetricsText, EscapesLabels) {
  OpenMetricsText text;
  text.begin_family("llmb_x", "gauge", "", "A \"help\"\nof two lines.");
  text.sample("", {{"path", "a\"b\\c\nd"}}, std::int64_t{-1});
  EXPECT_EQ(std::move(text).finish(),
            "# TYPE llmb_x gauge\n# HELP llmb_x A \\\"help\\\"\\nof two lines.\n"
            "llmb_x{path=\"a\\\"b\\\\c\\nd\"} -1\n# EOF\n");
  EXPECT_EQ(metric_number(1), "1.0");
  EXPECT_EQ(metric_number(0.00025), "0.00025");
}

}  // namespace
}  // namespace llmb::api
