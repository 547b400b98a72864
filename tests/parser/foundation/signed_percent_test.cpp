#include "parser/foundation/signed_percent.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(SignedPercent, HasASignAndAsManyDecimalsAsAreAskedFor) {
  EXPECT_EQ(signed_percent(1.02), "+2.00 %");
  EXPECT_EQ(signed_percent(0.9987), "-0.13 %");
  EXPECT_EQ(signed_percent(1.0137, 3), "+1.370 %");
  EXPECT_EQ(signed_percent(0.99994), "-0.01 %");
}

TEST(SignedPercent, OfWhatIsShownAsZeroIsNotNegative) {
  EXPECT_EQ(signed_percent(1), "+0.00 %");
  EXPECT_EQ(signed_percent(0.99996), "+0.00 %");
  EXPECT_EQ(signed_percent(0.99996, 3), "-0.004 %");
  EXPECT_EQ(signed_percent(0.999996, 3), "+0.000 %");
}

}  // namespace
}  // namespace llmb::parser
