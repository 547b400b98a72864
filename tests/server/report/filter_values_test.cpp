// What somebody asks for, as the filters of storage have it.
#include "server/report/filter_values.h"

#include <gmock/gmock.h>

#include "server/report/stored_runs.h"

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

TEST(FilterValues, AreMatchedInAnyCase) {
  EXPECT_THAT(spellings_asked({"H100"}), UnorderedElementsAre("H100", "h100"));
  EXPECT_THAT(spellings_asked({"Gb200", "b200"}),
              UnorderedElementsAre("Gb200", "gb200", "GB200", "b200", "B200"));
  EXPECT_THAT(names_of_dtype("FP8_CS"), UnorderedElementsAre("FP8_CS", "fp8_cs"));
  EXPECT_THAT(names_of_dtype("Fp8"), testing::IsSupersetOf({"Fp8", "fp8", "FP8", "fp8_cs"}));
}

TEST(FilterValues, NameWhatIsNotThere) {
  EXPECT_THAT(clusters_asked({"eos", "none"}), UnorderedElementsAre("eos", "none", ""));
  EXPECT_THAT(clusters_asked({"eos"}), ElementsAre("eos"));
  EXPECT_THAT(causes_asked({"none", "hung"}), UnorderedElementsAre("", "hung"));
}

}  // namespace
}  // namespace llmb::report
