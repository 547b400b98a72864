// The choice of algorithms by timing, over the double, which is told what each of them takes.
#include "runner/cuda/gemm_tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/gemm_plans.h"
#include "runner/cuda/stream.h"
#include "tests/runner/cuda/changed_devices.h"

namespace llmb::runner::cuda {
namespace {

using std::chrono::steady_clock;
using testing::ChangedDevices;
using ::testing::HasSubstr;

constexpr auto kNever = steady_clock::time_point::max();

AlgorithmChoice choose(const std::vector<double>& times_s, steady_clock::time_point until) {
  const auto time_of = [&](std::size_t index) {
    return times_s[index] > 0 ? std::optional(times_s[index]) : std::nullopt;
  };
  return choose_algorithm(times_s.size(), time_of, until).value_or(AlgorithmChoice{99, 0, 0});
}

TEST(AlgorithmChoice, IsTheQuickestOfThoseThatAreNotRefused) {
  EXPECT_EQ(choose({3, 0, 1, 2}, kNever).index, 2U);
  EXPECT_EQ(choose({3, 0, 1, 2}, kNever).first_time_s, 3);
  const AlgorithmChoice after_refusal = choose({0, 2, 1}, kNever);
  EXPECT_EQ(after_refusal.index, 2U);
  EXPECT_EQ(after_refusal.first_time_s, 2);
  EXPECT_EQ(choose({0, 0}, kNever).index, 99U);
  EXPECT_EQ(choose({}, kNever).index, 99U);
}

TEST(AlgorithmChoice, LeavesTheSuggestionForMoreThanNoiseOnly) {
  EXPECT_EQ(choose({1, 0.995}, kNever).index, 0U);
  EXPECT_EQ(choose({1, 0.985}, kNever).index, 1U);
}

TEST(AlgorithmChoice, EndsInTimeWithOneAtLeast) {
  EXPECT_EQ(choose({3, 1}, steady_clock::now()).index, 0U);
  EXPECT_EQ(choose({0, 2, 1}, steady_clock::now()).index, 1U);
}

class Tuning : public ::testing::Test {
 protected:
  static HostDeviceOptions told(std::vector<double> product_times_s) {
    HostDeviceOptions options;
    options.product_times_s = std::move(product_times_s);
    return options;
  }
  static std::vector<CountedGemm> llama_products() {
    return products_of({{"qkv", 32, 16, 48, 2}, {"head", 32, 16, 64, 1, LinearKind::head}},
                       ProductNumbers::bf16);
  }
};

TEST_F(Tuning, ReplacesASuggestionThatIsSlow) {
  const ChangedDevices three(told({3e-3, 1e-3, 2e-3}));
  choose_device(0);
  const OwnedStream stream;
  GemmEngine engine;
  const Gemm gemm = llama_products().front().gemm;
  EXPECT_FALSE(engine.has_plan(gemm));
  const TunedGemm tuned = engine.tune(gemm, stream);
  EXPECT_EQ(tuned.algorithm, "cpu 1");
  EXPECT_EQ(tuned.time_s, 1e-3);
  EXPECT_EQ(tuned.first_time_s, 3e-3);
  EXPECT_TRUE(engine.has_plan(gemm));
  const GemmBuffers buffers(gemm, stream);
  forget_host_products();
  engine.run(buffers.gemm(), stream);
  synchronize(stream);
  EXPECT_EQ(host_products(), (HostProducts{{plan_key(gemm), {"cpu 1"}}}));
}

TEST_F(Tuning, SaysWhatItWon) {
  const ChangedDevices two(told({2e-3, 1e-3}));
  choose_device(0);
  const OwnedStream stream;
  GemmEngine engine;
  TuningResult result = tune_products(engine, llama_products(), 60, stream);
  EXPECT_EQ(result.products, 6);
  EXPECT_EQ(result.tuned, 6);
  EXPECT_EQ(engine.plan_count(), 6U);
  EXPECT_NEAR(result.first_time_s, 3 * (2 + 1) * 2e-3, 1e-9);
  EXPECT_NEAR(result.time_s, 3 * (2 + 1) * 1e-3, 1e-9);
  result.seconds = 1.25;
  EXPECT_EQ(tuning_text(result),
            "6 of 6 shapes of matrix products tuned in 1.2 s: a micro-batch's take 9.000 ms in "
            "place of 18.000 ms by the library's suggestions (50.0 % less)");
  result = tune_products(engine, llama_products(), 60, stream);
  EXPECT_EQ(result.known, 6);
  EXPECT_THAT(tuning_text(result), HasSubstr("0 of 6 shapes"));
  EXPECT_THAT(tuning_text(result), HasSubstr("; 6 were known"));
}

TEST_F(Tuning, LeavesWhatTimeAndMemoryDoNotAllow) {
  const HostDeviceOptions before = told({2e-3, 1e-3});
  {
    const ChangedDevices two(before);
    choose_device(0);
    const OwnedStream stream;
    GemmEngine engine;
    const TuningResult late = tune_products(engine, llama_products(), 0, stream);
    EXPECT_EQ(late.tuned, 0);
    EXPECT_THAT(tuning_text(late), HasSubstr("6 keep the library's suggestion, the time was over"));
  }
  HostDeviceOptions small = before;
  small.memory_bytes = 8 << 10;
  const ChangedDevices few(small);
  choose_device(0);
  const OwnedStream stream;
  GemmEngine engine;
  const TuningResult result = tune_products(engine, llama_products(), 60, stream);
  EXPECT_GT(result.tuned, 0);
  EXPECT_GT(result.without_memory, 0);
  EXPECT_EQ(result.tuned + result.without_memory, 6);
  EXPECT_THAT(tuning_text(result), HasSubstr("did not fit the device's free memory"));
}

// The head is BF16; what a layer sums over comes in whole blocks.
TEST_F(Tuning, TunesProductsInBlocks) {
  const ChangedDevices one(told({1e-3}));
  choose_device(0);
  const OwnedStream stream;
  GemmEngine engine;
  const std::vector<CountedGemm> products = products_of(
      {{"qkv", 40, 16, 48, 2}, {"head", 40, 16, 64, 1, LinearKind::head}}, ProductNumbers::mxfp8);
  EXPECT_EQ(tune_products(engine, products, 60, stream).tuned, 6);
  std::vector<std::int64_t> summed;
  for (const CountedGemm& product : products) {
    if (product.gemm.a.type == NumberType::mxfp8) summed.push_back(product.gemm.k);
  }
  EXPECT_THAT(summed, ::testing::UnorderedElementsAre(32, 64, 64));
}

TEST_F(Tuning, RefusesBlocksOnADeviceThatHasNone) {
  const ChangedDevices hopper({.compute_capability = 90});
  choose_device(0);
  const OwnedStream stream;
  GemmEngine engine;
  const auto products = products_of({{"qkv", 32, 16, 48, 2}}, ProductNumbers::mxfp8);
  try {
    engine.tune(products.front().gemm, stream);
    FAIL() << "blocks were tuned on sm_90";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("device 0 (double) is sm_90, tensor cores take blocks from "
                                        "sm_100 on"));
  }
}

TEST_F(Tuning, ForgetsAPinnedPlanThatTheLibraryRefuses) {
  const ChangedDevices two(told({2e-3, 1e-3}));
  choose_device(0);
  const OwnedStream stream;
  GemmEngine engine;
  const Gemm gemm = llama_products().front().gemm;
  const GemmPlans plans{gemm_place(), {{plan_key(gemm), "cpu 7"}}};
  EXPECT_EQ(engine.pin_plans(gemm_plans_as_json(plans)), "");
  EXPECT_EQ(engine.plan_count(), 1U);
  EXPECT_FALSE(engine.has_plan(gemm));
  EXPECT_EQ(engine.plan_count(), 0U);
}

TEST_F(Tuning, TakesNoPlansOfAnotherDriverOrDevice) {
  const ChangedDevices two(told({2e-3, 1e-3}));
  choose_device(0);
  GemmEngine engine;
  GemmPlans plans{gemm_place(), {{"k", "cpu 1"}}};
  plans.place.driver = "a driver for CUDA 11.8";
  EXPECT_EQ(engine.pin_plans(gemm_plans_as_json(plans)),
            "the plans are of a driver for CUDA 11.8, this is a driver for CUDA 12.4");
  plans = {gemm_place(), {{"k", "cpu 1"}}};
  plans.place.device = "H100";
  EXPECT_EQ(engine.pin_plans(gemm_plans_as_json(plans)),
            "the plans are of a H100, this is a double");
  EXPECT_EQ(engine.plan_count(), 0U);
}

}  // namespace
}  // namespace llmb::runner::cuda
