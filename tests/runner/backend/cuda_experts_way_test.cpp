// Whether the experts' products are one launch or an expert at a time by the library: what was
// quicker, on all ranks alike, and kept with the plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/runner/backend/plans_file.h"

namespace llmb::runner {
namespace {

using testing::ChangedDevices;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::PlansFile;
using testing::told;

// Experts of Grok-1 on one rank, or in slices on two. What the library takes is told; one launch
// takes what the shim needs, some milliseconds.
class ExpertsWay : public PlansFile {
 protected:
  std::string run_experts(double library_product_s, const Arguments& more = {}) const {
    const ChangedDevices changed(told({library_product_s}));
    return log_of(tiny_grok(joined({"--num-layers", "2", "--steps", "1", "--global-batch-size", "1",
                                    "--dtype", "bf16", "--product-plans", path.string()},
                                   more)),
                  true);
  }
  static constexpr double kQuick = 1e-12;
  static constexpr double kSlow = 1e3;
};

// The library multiplies an expert's rows by themselves: by its own width, which no other has.
bool library_had_experts() {
  for (const auto& product : cuda::host_products()) {
    if (product.first.find("72") != std::string::npos) return true;
  }
  return false;
}

const Arguments kWidth = {"--expert-ffn-hidden-size", "72"};

TEST_F(ExpertsWay, IsTheOneThatWasQuicker) {
  cuda::forget_host_products();
  const std::string launched = run_experts(kSlow, kWidth);
  EXPECT_THAT(launched, HasSubstr("experts of "));
  EXPECT_THAT(launched, HasSubstr("they are multiplied by one launch\n"));
  EXPECT_FALSE(library_had_experts());
  std::filesystem::remove(path);
  const std::string library = run_experts(kQuick, kWidth);
  EXPECT_THAT(library, HasSubstr("they are multiplied an expert at a time by the library\n"));
  EXPECT_TRUE(library_had_experts());
  EXPECT_NEAR(losses_of(library).at(0) / losses_of(launched).at(0), 1, 1e-3);
}

TEST_F(ExpertsWay, IsTheOneThatWasQuickerInFp8) {
  cuda::forget_host_products();
  const Arguments fp8 = joined(kWidth, {"--dtype", "fp8_cs"});
  const std::string launched = run_experts(kSlow, fp8);
  EXPECT_THAT(launched, HasSubstr("rows in FP8 take "));
  EXPECT_THAT(launched, HasSubstr("they are multiplied by one launch\n"));
  EXPECT_FALSE(library_had_experts());
  std::filesystem::remove(path);
  const std::string library = run_experts(kQuick, fp8);
  EXPECT_THAT(library, HasSubstr("they are multiplied an expert at a time by the library\n"));
  EXPECT_TRUE(library_had_experts());
  EXPECT_NEAR(losses_of(library).at(0) / losses_of(launched).at(0), 1, 1e-3);
}

TEST_F(ExpertsWay, IsKeptWithThePlansForTheNextRun) {
  run_experts(kQuick, kWidth);
  EXPECT_THAT(text(), HasSubstr("\"library\""));
  cuda::forget_host_products();
  const std::string next = run_experts(kSlow, kWidth);
  EXPECT_THAT(next, HasSubstr("experts are multiplied an expert at a time by the library, as the "
                              "file of plans has it\n"));
  EXPECT_TRUE(library_had_experts());
  const std::string untimed = run_experts(kSlow, joined(kWidth, {"--tune-seconds", "0"}));
  EXPECT_THAT(untimed, HasSubstr("by the library, as the file of plans has it\n"));
  const std::string longer = run_experts(kSlow, joined(kWidth, {"--seq-length", "16"}));
  EXPECT_THAT(longer, HasSubstr("they are multiplied by one launch\n")) << "other rows";
  EXPECT_THAT(text(), HasSubstr("\"library\""));
  EXPECT_THAT(text(), HasSubstr("\"device\""));
}

TEST_F(ExpertsWay, IsWhatTheOptionSays) {
  cuda::forget_host_products();
  const std::string log = run_experts(kQuick, joined(kWidth, {"--expert-products", "device"}));
  EXPECT_THAT(log, Not(HasSubstr("multiplied")));
  EXPECT_FALSE(library_had_experts());
}

TEST_F(ExpertsWay, IsByTheirRowsWhereNothingIsTimed) {
  cuda::forget_host_products();
  const std::string log = run_experts(kQuick, joined(kWidth, {"--tune-seconds", "0"}));
  EXPECT_THAT(log, Not(HasSubstr("multiplied")));
  EXPECT_FALSE(library_had_experts()) << "few rows: one launch";
}

TEST_F(ExpertsWay, IsEveryRanksAlike) {
  cuda::forget_host_products();
  const Arguments slices = joined(
      kWidth, {"--tp", "2", "--etp", "2", "--ep", "1", "--dp", "2", "--global-batch-size", "2"});
  const std::string log = run_experts(kQuick, slices);
  EXPECT_THAT(log, HasSubstr("they are multiplied an expert at a time by the library\n"));
  const std::vector<double> one_rank = losses_of(
      run_experts(kQuick, joined(kWidth, {"--global-batch-size", "2", "--product-plans", ""})));
  EXPECT_NEAR(losses_of(log).at(0) / one_rank.at(0), 1, 1e-3);
}

}  // namespace
}  // namespace llmb::runner
