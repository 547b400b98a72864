#include "parser/statistics/run_start.h"

#include <gmock/gmock.h>

namespace llmb::parser {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

RunStart launched(const char* at, std::optional<std::int64_t> job_id = {}) {
  return {at, job_id, "eos"};
}

RunStart job(std::int64_t id, const char* cluster = "eos") {
  return {std::nullopt, id, cluster};
}

TEST(RunStart, OfAllThatSayTheirLaunchIsByIt) {
  EXPECT_THAT(order_of({launched("2025-11-02T00:00:00Z", 7), launched("2025-11-01T00:00:00Z", 9)}),
              Optional(ElementsAre(1U, 0U)));
  EXPECT_THAT(order_of({launched("2025-11-02T00:00:00Z", 9), launched("2025-11-02T00:00:00Z", 7)}),
              Optional(ElementsAre(1U, 0U)));
}

TEST(RunStart, OfAllThatSayTheirJobIsByIt) {
  EXPECT_THAT(order_of({job(12), job(9), launched("2025-11-01T00:00:00Z", 10)}),
              Optional(ElementsAre(1U, 2U, 0U)));
}

TEST(RunStart, OfJobsOfTwoClustersOrOfWhatIsNotSaidIsNotKnown) {
  EXPECT_THAT(order_of({job(9), job(12, "selene")}), Eq(std::nullopt));
  EXPECT_THAT(order_of({job(9), launched("2025-11-01T00:00:00Z")}), Eq(std::nullopt));
  EXPECT_THAT(order_of({job(9), {}}), Eq(std::nullopt));
}

}  // namespace
}  // namespace llmb::parser
