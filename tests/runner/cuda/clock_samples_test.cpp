#include "runner/cuda/clock_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmb::runner::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ClockReading reading(double energy_j, double power_w) {
  ClockReading made;
  made.energy_j = energy_j;
  made.power_w = power_w;
  return made;
}

TEST(ClockSamples, GiveTheCountersDifferences) {
  ClockSamples samples;
  samples.add(reading(1000, 500), 10);
  samples.add(reading(1050, 500), 10.1);
  DeviceUse use = samples.take(10.1);
  EXPECT_DOUBLE_EQ(use.energy_j.value(), 50);
  EXPECT_NEAR(use.power_w.value(), 500, 1e-9);
  samples.add(reading(1090, 400), 10.2);
  use = samples.take(10.2);
  EXPECT_DOUBLE_EQ(use.energy_j.value(), 40);
}

// A step that ends between two readings takes its share, and the next one the rest.
TEST(ClockSamples, CarryTheCounterOnByThePower) {
  ClockSamples samples;
  samples.add(reading(1000, 600), 10);
  EXPECT_NEAR(samples.take(10.05).energy_j.value(), 30, 1e-9);
  samples.add(reading(1058, 600), 10.1);
  EXPECT_NEAR(samples.take(10.1).energy_j.value(), 28, 1e-9);
}

TEST(ClockSamples, NeverGiveLessThanNothing) {
  ClockSamples samples;
  samples.add(reading(1000, 600), 10);
  EXPECT_NEAR(samples.take(10.09).energy_j.value(), 54, 1e-9);
  samples.add(reading(1010, 100), 10.1);
  EXPECT_EQ(samples.take(10.1).energy_j, 0);
  samples.add(reading(1070, 600), 10.2);
  EXPECT_NEAR(samples.take(10.2).energy_j.value(), 16, 1e-9) << "together 70 J, as counted";
}

TEST(ClockSamples, BelieveASilentReaderForASecond) {
  ClockSamples samples;
  samples.add(reading(1000, 600), 10);
  EXPECT_NEAR(samples.take(60).energy_j.value(), 600, 1e-9);
}

TEST(ClockSamples, AddPowerUpWhereNothingCountsEnergy) {
  ClockSamples samples;
  ClockReading power;
  power.power_w = 400;
  samples.add(power, 5);
  power.power_w = 600;
  samples.add(power, 6);
  EXPECT_DOUBLE_EQ(samples.take(6).energy_j.value(), 500);
}

TEST(ClockSamples, AreMeansOfTheStepOrTheNewest) {
  ClockSamples samples;
  EXPECT_EQ(samples.take(1).sm_clock_hz, std::nullopt);
  EXPECT_EQ(samples.take(1).energy_j, std::nullopt);
  ClockReading one;
  one.sm_clock_hz = 1.9e9;
  one.temperature_c = 60;
  one.throttle_reasons = {"power cap by software"};
  samples.add(one, 2);
  one.sm_clock_hz = 1.7e9;
  one.temperature_c = 55;
  samples.add(one, 2.1);
  DeviceUse use = samples.take(2.2);
  EXPECT_EQ(use.sm_clock_hz, 1.8e9);
  EXPECT_EQ(use.temperature_c, 60);
  EXPECT_THAT(use.throttle_reasons, ElementsAre("power cap by software"));
  EXPECT_EQ(use.energy_j, std::nullopt) << "neither energy nor power is told";
  use = samples.take(2.3);
  EXPECT_EQ(use.sm_clock_hz, 1.7e9);
  EXPECT_THAT(use.throttle_reasons, IsEmpty());
  samples.add(one, 2.4);
  EXPECT_EQ(samples.take(2.4).temperature_c, 55);
}

}  // namespace
}  // namespace llmb::runner::cuda
