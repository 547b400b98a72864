// Student's t against printed tables and 30-digit arithmetic.
#include "parser/statistics/student_t.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(IncompleteBeta, EqualsKnownValues) {
  struct Case {
    double a, b, x, expected;
  };
  for (const Case& known : {Case{0.5, 0.5, 0.3, 0.369010119565545}, Case{2, 3, 0.4, 0.5248},
                            Case{50, 0.5, 0.98, 0.156243507866818},
                            Case{500, 0.5, 0.999, 0.317310447309717}, Case{1, 1, 0.25, 0.25}}) {
    EXPECT_NEAR(regularized_incomplete_beta(known.a, known.b, known.x), known.expected, 1e-12)
        << known.a << ' ' << known.b << ' ' << known.x;
    EXPECT_NEAR(regularized_incomplete_beta(known.b, known.a, 1 - known.x), 1 - known.expected,
                1e-12);
  }
  EXPECT_EQ(regularized_incomplete_beta(3, 2, 0), 0);
  EXPECT_EQ(regularized_incomplete_beta(3, 2, 1), 1);
}

TEST(StudentT, GivesTwoSidedP) {
  EXPECT_NEAR(student_t_two_sided_p(2.5, 4), 0.0667665448119881, 1e-12);
  EXPECT_NEAR(student_t_two_sided_p(-2.5, 4), 0.0667665448119881, 1e-12);
  EXPECT_NEAR(student_t_two_sided_p(0.1, 1), 0.936548965138893, 1e-12);
  EXPECT_NEAR(student_t_two_sided_p(30, 1), 0.0212128048110708, 1e-12);
  EXPECT_NEAR(student_t_two_sided_p(3.2, 7.5), 0.0137351538624083, 1e-12);
  EXPECT_NEAR(student_t_two_sided_p(2, 1000), 0.0457703464932516, 1e-12);
  EXPECT_NEAR(student_t_two_sided_p(8, 2.3), 0.0100104833949296, 1e-12);
  EXPECT_EQ(student_t_two_sided_p(0, 3), 1);
}

// The table of every textbook, with more digits.
TEST(StudentT, GivesTabulatedQuantiles) {
  EXPECT_NEAR(student_t_quantile(0.95, 1), 12.7062047361747, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.95, 2), 4.30265272974946, 1e-11);
  EXPECT_NEAR(student_t_quantile(0.95, 3), 3.18244630528371, 1e-11);
  EXPECT_NEAR(student_t_quantile(0.95, 4), 2.77644510519779, 1e-11);
  EXPECT_NEAR(student_t_quantile(0.95, 9), 2.26215716279821, 1e-11);
  EXPECT_NEAR(student_t_quantile(0.95, 30), 2.04227245630124, 1e-11);
  EXPECT_NEAR(student_t_quantile(0.99, 2), 9.92484320091829, 1e-10);
  EXPECT_NEAR(student_t_quantile(0.90, 5), 2.01504837333302, 1e-11);
  EXPECT_NEAR(student_t_quantile(0.95, 2.5), 3.57465484200368, 1e-11);
}

}  // namespace
}  // namespace llmb::parser
