// What a request is refused for does not depend on how its bytes arrive.
#include "server/http/message_parser.h"

#include <gtest/gtest.h>

namespace llmb::http {
namespace {

TEST(MessageParser, SaysThatHttp2IsNotServedWhereverItsPrefaceIsCut) {
  constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  for (std::size_t cut = 1; cut <= kPreface.size(); ++cut) {
    MessageParser parser(4096);
    std::size_t consumed = 0;
    MessageParser::Status status = parser.feed(kPreface.substr(0, cut), consumed);
    if (status == MessageParser::Status::need_more) {
      status = parser.feed(kPreface.substr(consumed), consumed);
    }
    ASSERT_EQ(status, MessageParser::Status::refused) << cut;
    EXPECT_EQ(parser.problem().status, 400) << cut;
    EXPECT_NE(parser.problem().body->find("HTTP/2 is not served here"), std::string::npos) << cut;
  }
}

}  // namespace
}  // namespace llmb::http
