#include "server/api/kept_changes.h"

#include <gmock/gmock.h>

namespace llmb::api {
namespace {

using testing::ElementsAre;

// Of each series: the how many-th it was to be looked at, and its length.
class KeptChangesOfCountedSeries : public testing::Test {
 protected:
  std::vector<std::size_t> of(const std::vector<double>& values, double deviation_min = 0) {
    return kept_.of(values, {.deviation_min = deviation_min});
  }

  std::size_t asked_ = 0;
  KeptChanges kept_{[this](std::span<const double> values, const parser::SegmentationOptions&) {
    return std::vector<std::size_t>{++asked_, values.size()};
  }};
};

TEST_F(KeptChangesOfCountedSeries, AreAskedForOncePerSeries) {
  EXPECT_THAT(of({1, 2, 3}), ElementsAre(1, 3));
  EXPECT_THAT(of({1, 2, 3, 4}), ElementsAre(2, 4));
  EXPECT_THAT(of({1, 2, 3.5}), ElementsAre(3, 3));
  EXPECT_THAT(of({1, 2, 3}, 0.1), ElementsAre(4, 3));
  EXPECT_THAT(of({1, 2, 3}), ElementsAre(1, 3));
  EXPECT_THAT(of({1, 2, 3, 4}), ElementsAre(2, 4));
  EXPECT_THAT(of({1, 2, 3}, 0.1), ElementsAre(4, 3));
  EXPECT_EQ(asked_, 4U);
}

TEST_F(KeptChangesOfCountedSeries, GoWhereOthersWereAskedForSince) {
  constexpr std::size_t kLength = 400;
  constexpr std::size_t kSeries = KeptChanges::kBytesMax / (kLength * sizeof(double));
  const auto ask = [&](std::size_t i) {
    return of(std::vector<double>(kLength, static_cast<double>(i))).front();
  };
  const std::size_t first = ask(0);
  const std::size_t second = ask(1);
  for (std::size_t i = 2; i < kSeries; ++i) {
    ask(i);
    EXPECT_EQ(ask(0), first) << "one that is asked for all the time stays";
  }
  EXPECT_NE(ask(1), second);
  EXPECT_EQ(asked_, kSeries + 1);
}

}  // namespace
}  // namespace llmb::api
