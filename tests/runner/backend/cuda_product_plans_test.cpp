// The algorithms of matrix products in whole runs over the double: every product of a fixed shape
// is tuned, on all ranks alike, and the file that keeps the choice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/runner/backend/plans_file.h"

namespace llmb::runner {
namespace {

using testing::ChangedDevices;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::PlansFile;
using testing::told;

// The suggestion is slow, and so never what runs, but where rows differ from step to step: of
// experts, whose widths no other layer has.
void expect_tuned(const Arguments& arguments, const std::vector<std::string>& expert_widths = {}) {
  const ChangedDevices two(told({2e-3, 1e-3}));
  cuda::forget_host_products();
  const std::string log =
      log_of(joined(arguments, {"--steps", "1", "--tune-seconds", "300"}), true);
  EXPECT_THAT(log, HasSubstr("(50.0 % less)"));
  const cuda::HostProducts products = cuda::host_products();
  EXPECT_GT(products.size(), 6U);
  for (const auto& product : products) {
    const std::string& key = product.first;
    const auto is_in_key = [&key](const std::string& width) {
      return key.find(width) != std::string::npos;
    };
    if (std::any_of(expert_widths.begin(), expert_widths.end(), is_in_key)) continue;
    EXPECT_EQ(product.second, std::set<std::string>{"cpu 1"}) << key << "\n" << log;
  }
}

TEST(ProductPlans, ServeEveryProductOfLlama) {
  expect_tuned(shorter({"--global-batch-size", "1"}));
  expect_tuned(shorter({"--global-batch-size", "1", "--dtype", "bf16"}));
  expect_tuned(shorter({"--global-batch-size", "2", "--dtype", "fp8_cs"}));
}

TEST(ProductPlans, ServeTheLastChunkOfTheHead) {
  expect_tuned(shorter({"--global-batch-size", "1", "--head-chunk-rows", "12"}));
}

TEST(ProductPlans, ServeEveryRankAlike) {
  expect_tuned(shorter({"--global-batch-size", "4", "--tp", "2", "--pp", "2", "--dp", "2"}));
  expect_tuned(shorter({"--global-batch-size", "2", "--cp", "2", "--dp", "2", "--fsdp", "true"}));
}

TEST(ProductPlans, ServeTheRouterAndSharedExperts) {
  const Arguments experts = {"--num-layers", "2", "--expert-ffn-hidden-size", "40"};
  const std::vector<std::string> widths = {"40", "80"};  // of a gated one's two products
  for (const char* dtype : {"fp32", "bf16"}) {
    const Arguments alone = joined(experts, {"--global-batch-size", "1", "--dtype", dtype});
    expect_tuned(tiny_grok(alone), widths);
    expect_tuned(tiny_maverick(alone), widths);
  }
  expect_tuned(tiny_grok(joined(experts, {"--global-batch-size", "2", "--tp", "2", "--dp", "2",
                                          "--ep", "2", "--etp", "1"})),
               widths);
}

TEST(ProductPlans, ServeASquaredReluModel) {
  expect_tuned(tiny_nemotron({"--num-layers", "2", "--global-batch-size", "1"}));
}

TEST_F(PlansFile, PinsTheNextRun) {
  const std::string first = run(told({2e-3, 1e-3}));
  EXPECT_THAT(first, HasSubstr("shapes of matrix products tuned in"));
  EXPECT_THAT(text(), HasSubstr("cpu 1"));
  EXPECT_THAT(text(), Not(HasSubstr("cpu 0")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  const std::string written = text();
  cuda::forget_host_products();
  // What would be measured now says otherwise.
  const std::string second = run(told({1e-3, 2e-3}));
  EXPECT_THAT(second, HasSubstr(" plans of matrix products are those of '" + path.string() + "'"));
  EXPECT_THAT(second, HasSubstr("llmb-step-runner: 0 of "));
  EXPECT_EQ(text(), written);
  for (const auto& [key, algorithms] : cuda::host_products()) {
    EXPECT_EQ(algorithms, std::set<std::string>{"cpu 1"}) << key;
  }
  EXPECT_EQ(losses_of(second), losses_of(first));
}

TEST_F(PlansFile, GrowsByWhatItLacks) {
  run(told({2e-3, 1e-3}));
  const auto plans = [this] {
    const std::string content = text();
    return std::count(content.begin(), content.end(), '\n');
  };
  const auto before = plans();
  const std::string log = run(told({2e-3, 1e-3}), {"--seq-length", "16"});
  EXPECT_THAT(log, HasSubstr(" shapes of matrix products tuned in "));
  EXPECT_GT(plans(), before);
}

TEST_F(PlansFile, OfAnotherDriverIsKeptAsideAndTunedAnew) {
  run(told({2e-3, 1e-3}));
  const std::string written = text();
  cuda::HostDeviceOptions newer = told({1e-3, 2e-3});
  newer.driver_version = 13000;
  const std::string log = run(newer);
  EXPECT_THAT(log, HasSubstr("the plans of matrix products in '" + path.string() +
                             "' are not taken: the plans are of a driver for CUDA 12.4, this is a "
                             "driver for CUDA 13.0; they are tuned anew, and the file is kept as "
                             "'plans.json.old'\n"));
  EXPECT_THAT(text(), HasSubstr("cpu 0"));
  std::ifstream kept(old);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), written);
}

TEST_F(PlansFile, ThatIsNoneIsKeptAsideAndTunedAnew) {
  write("not plans");
  const std::string log = run(told({2e-3, 1e-3}));
  EXPECT_THAT(log, HasSubstr("are not taken: it does not hold plans of matrix products: "));
  EXPECT_THAT(text(), HasSubstr("cpu 1"));
  EXPECT_TRUE(std::filesystem::exists(old));
}

TEST_F(PlansFile, ThatCannotBeWrittenEndsNoRun) {
  path = folder.path() / "missing" / "plans.json";
  const std::string log = run(told({2e-3, 1e-3}));
  EXPECT_THAT(log, HasSubstr("the plans of matrix products are not kept: could not create"));
  EXPECT_EQ(losses_of(log).size(), 2U);
}

TEST_F(PlansFile, IsAllThatCountsWhereNothingIsTuned) {
  cuda::forget_host_products();
  const std::string log = run(told({2e-3, 1e-3}), {"--tune-seconds", "0"});
  EXPECT_THAT(log, Not(HasSubstr("matrix products")));
  EXPECT_FALSE(std::filesystem::exists(path));
  for (const auto& [key, algorithms] : cuda::host_products()) {
    EXPECT_EQ(algorithms, std::set<std::string>{"cpu 0"}) << key;
  }
  run(told({2e-3, 1e-3}));
  cuda::forget_host_products();
  const std::string pinned = run(told({2e-3, 1e-3}), {"--tune-seconds", "0"});
  EXPECT_THAT(pinned, HasSubstr(" plans of matrix products are those of "));
  for (const auto& [key, algorithms] : cuda::host_products()) {
    EXPECT_EQ(algorithms, std::set<std::string>{"cpu 1"}) << key;
  }
}

}  // namespace
}  // namespace llmb::runner
