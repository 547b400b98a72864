// What agents say of their requests' bodies. Those of jobs are in jobs_test.cpp.
#include "tests/server/api/push_fixture.h"

namespace llmb::api {
namespace {

class PushBody : public Push {
 protected:
  int status_of(http::Request request, const std::string& encoding) {
    request.headers.emplace_back("content-encoding", encoding);
    return answer(request).status;
  }
};

TEST_F(PushBody, MayBePackedByZstd) {
  http::Request request = request_of("s", {});
  EXPECT_EQ(status_of(request, "identity"), 200);
  EXPECT_EQ(status_of(request, "gzip"), 415);
  EXPECT_EQ(status_of(request, "zstd"), 400) << "it is none";
  const std::string packed = http::compress(request.body, http::Encoding::zstd, http::Effort::once);
  request.body = packed.substr(0, packed.size() - 1);
  EXPECT_EQ(status_of(request, "zstd"), 400) << "not all of it came";
  request.body = packed;
  EXPECT_EQ(status_of(request, "ZSTD"), 200);
  const std::string long_text(std::size_t{9} << 20U, 'x');
  request.body = http::compress(long_text, http::Encoding::zstd, http::Effort::once);
  EXPECT_EQ(status_of(request, "zstd"), 413);
}

TEST_F(PushBody, OfTextIsTakenAsItIs) {
  EXPECT_EQ(status_of(text_request_of("s", {}), "identity"), 200);
  EXPECT_EQ(status_of(text_request_of("s", {}), "zstd"), 415);
}

TEST_F(PushBody, HasItsTypeInAnyCase) {
  http::Request request = request_of("s", {});
  request.headers[1].second = "Application/VND.llmb-report.push";
  EXPECT_EQ(answer(request).status, 200);
}

}  // namespace
}  // namespace llmb::api
