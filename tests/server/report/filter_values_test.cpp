// What somebody asks for, as the filters of storage have it.
#include "server/report/filter_values.h"

#include <gmock/gmock.h>

namespace llmb::report {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// A launch within the second that is asked for lies in it whole.
TEST(FilterValues, OfInstantsAreWholeSeconds) {
  const auto instant = [](const char* text) { return parser::parse_instant(text).value(); };
  EXPECT_EQ(since_asked(instant("2026-01-31T12:00:00.5Z")), "2026-01-31T12:00:00");
  EXPECT_EQ(before_asked(instant("2026-01-31T12:00:00.5Z")), "2026-01-31T12:00:01");
  EXPECT_EQ(before_asked(instant("2026-01-31")), "2026-01-31T00:00:00");
}

TEST(FilterValues, NameWhatIsNotThere) {
  EXPECT_THAT(clusters_asked({"eos", "none"}), UnorderedElementsAre("eos", "none", ""));
  EXPECT_THAT(clusters_asked({"eos"}), ElementsAre("eos"));
  EXPECT_THAT(causes_asked({"none", "hung"}), UnorderedElementsAre("", "hung"));
}

}  // namespace
}  // namespace llmb::report
