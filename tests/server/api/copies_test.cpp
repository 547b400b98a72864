// Runs whose logs have the bytes of another run's: what every answer about runs says of them.
#include <gmock/gmock.h>

#include <sstream>

#include "storage/tail_state.h"
#include "tests/server/api/sample_database.h"

namespace llmb::api {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class Copies : public ApiTest {
 protected:
  // A log with so many steps, whose bytes have this hash; all begin and end alike.
  storage::RunId add_log(const std::string& experiment, std::int64_t last_iteration,
                         std::uint64_t content_hash, bool is_timed = true) {
    auto batch = sample_batch(root_, experiment, 7, last_iteration, 2.0);
    if (!is_timed) batch.summary.step_time_s.reset();
    batch.cursor.head_hash = 5;
    batch.cursor.head_length = 1'024;
    batch.cursor.tail_hash = 6;
    storage::TailState state;
    state.content_hash = content_hash;
    batch.cursor.parser_state = storage::encode_tail_state(state);
    return writer_->commit({&batch, 1}).front();
  }

  Json copy_of(storage::RunId run) {
    const Json details = get_json("/api/v1/runs/" + std::to_string(run));
    const Json list = get_json("/api/v1/runs");
    for (const Json& listed : list["runs"]) {
      if (listed["id"] == run) {
        EXPECT_EQ(listed["copy_of"], details["copy_of"]);
      }
    }
    return details["copy_of"];
  }
};

TEST_F(Copies, NameTheRunThatCounts) {
  const auto original = add_log("a", 49, 1);
  const auto copy = add_log("b", 49, 1);
  const auto other = add_log("c", 40, 1);
  EXPECT_EQ(copy_of(original), nullptr);
  EXPECT_EQ(copy_of(copy), original);
  EXPECT_EQ(copy_of(other), nullptr);
  std::istringstream csv(*get("/api/v1/runs.csv", {{"sort", "id"}}).body);
  std::vector<std::string> lines;
  for (std::string line; std::getline(csv, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0], EndsWith(",marks,copy_of\r"));
  EXPECT_THAT(lines[1], EndsWith(",\r"));
  EXPECT_THAT(lines[2], EndsWith("," + std::to_string(original) + "\r"));
  EXPECT_THAT(*get("/api/v1/runs.ndjson").body,
              HasSubstr("\"copy_of\":" + std::to_string(original)));
}

// A few equal times are many runs' own.
TEST_F(Copies, OfShortRunsAreToldByTheirBytes) {
  const auto first = add_log("a", 14, 1);
  const auto repeat = add_log("b", 14, 2);
  EXPECT_EQ(copy_of(first), nullptr);
  EXPECT_EQ(copy_of(repeat), nullptr);
  const auto short_original = add_log("c", 13, 3);
  EXPECT_EQ(copy_of(add_log("d", 13, 3)), short_original);
  // Not only the first of those that look alike is compared.
  EXPECT_EQ(copy_of(add_log("e", 14, 2)), repeat);
  EXPECT_EQ(copy_of(add_log("f", 14, 4)), nullptr);
}

// They end before their first step, say.
TEST_F(Copies, OfRunsWithoutTimesAreToldByTheirBytes) {
  const auto first = add_log("a", 14, 1, false);
  const auto repeat = add_log("b", 14, 2, false);
  EXPECT_EQ(copy_of(first), nullptr);
  EXPECT_EQ(copy_of(repeat), nullptr);
  EXPECT_EQ(copy_of(add_log("c", 14, 2, false)), repeat);
}

// It changes without the copy.
TEST_F(Copies, TellAnewWhenTheOtherLogIsGone) {
  add_log("looks alike", 14, 2);
  const auto original = add_log("a", 14, 1);
  const auto copy = add_log("b", 14, 1);
  const std::string path = "/api/v1/runs/" + std::to_string(copy);
  const std::string tag = get(path).etag;
  ASSERT_FALSE(tag.empty());
  storage::RetentionPolicy policy;
  policy.words = "root /logs";
  const auto later = parser::parse_instant("2100-01-01T00:00:00Z").value();
  EXPECT_EQ(writer_->remove_logs(policy, std::vector{original}, later).runs, 1);
  EXPECT_NE(get(path).etag, tag);
  EXPECT_EQ(copy_of(copy), nullptr);
}

}  // namespace
}  // namespace llmb::api
