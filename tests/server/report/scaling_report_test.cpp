#include "server/report/scaling_report.h"

#include <gmock/gmock.h>

#include <sstream>

namespace llmb::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string table_of(const parser::ScalingReport& scaling) {
  std::ostringstream out;
  write_scaling_table({}, scaling, out);
  return out.str();
}

TEST(ScalingReports, SayWhyAPointIsHeldAgainstNoPublishedResult) {
  parser::ScalingReport scaling;
  parser::ScalingPoint& point = scaling.series.emplace_back().points.emplace_back();
  point.gpu_count = 128;
  EXPECT_THAT(table_of(scaling), Not(HasSubstr("  no ")));
  point.published_reason = "The runs have different published results: a and b.";
  EXPECT_THAT(table_of(scaling),
              HasSubstr("\n  no speed against published at 128 GPUs: The runs have different "
                        "published results: a and b.\n"));
}

}  // namespace
}  // namespace llmb::report
