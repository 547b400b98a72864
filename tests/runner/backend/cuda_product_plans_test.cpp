// The algorithms of matrix products in whole runs over the double: every product of a fixed shape
// is tuned, on all ranks alike, and the file that keeps the choice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runner/cuda/host_device.h"
#include "tests/runner/backend/cuda_run.h"
#include "tests/runner/cuda/changed_devices.h"
#include "tests/temporary_folder.h"

namespace llmb::runner {
namespace {

using cuda::HostDeviceOptions;
using testing::ChangedDevices;
using ::testing::HasSubstr;
using ::testing::Not;

HostDeviceOptions told(std::vector<double> product_times_s) {
  HostDeviceOptions options;
  options.product_times_s = std::move(product_times_s);
  return options;
}

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

class PlansFile : public ::testing::Test {
 protected:
  std::string run(const HostDeviceOptions& devices, const Arguments& more = {}) const {
    const ChangedDevices changed(devices);
    return log_of(shorter(joined({"--steps", "2", "--global-batch-size", "2", "--dp", "2",
                                  "--product-plans", path.string()},
                                 more)),
                  true);
  }
  std::string text() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& content) const { std::ofstream(path) << content; }

  TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "plans.json";
  std::filesystem::path old = folder.path() / "plans.json.old";
};

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
  HostDeviceOptions newer = told({1e-3, 2e-3});
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
