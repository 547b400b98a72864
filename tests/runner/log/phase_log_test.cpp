// The side file's line: what a device tells, and the energy of a token.
#include "runner/phase_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace llmb::runner {
namespace {

RunSettings settings(Backend backend = Backend::cuda) {
  Options options;
  options.workload = "pretrain_grok1";
  options.model_size = "314b";
  options.gpu_type = "h100";
  options.backend = backend;
  options.scale = 512;
  return *make_run_settings(options, parser::embedded_catalog());
}

nlohmann::json line_of(const StepRecord& step) {
  return nlohmann::json::parse(phase_line(settings(), step, {}, {}));
}

TEST(PhaseLine, HasWhatTheDeviceTells) {
  StepRecord step;
  step.step_time_s = 2;
  step.energy_j_per_gpu = 1300;
  step.device.energy_j = 1250;
  step.device.power_w = 625;
  step.device.sm_clock_hz = 1.755e9;
  step.device.throttle_reasons = {"power cap by software"};
  const nlohmann::json line = line_of(step);
  EXPECT_EQ(line["energy_j_per_gpu"], 1300);
  const RunSettings run = settings();
  const auto tokens = static_cast<double>(run.batch.global_batch_size * 8192);
  EXPECT_DOUBLE_EQ(line["energy_j_per_token"], 1300 * 512 / tokens);
  EXPECT_EQ(line["device"], nlohmann::json::parse(
                                R"({"energy_j": 1250.0, "power_w": 625.0, "sm_clock_hz": 1.755e9,
                                    "throttle_reasons": ["power cap by software"]})"));
}

TEST(PhaseLine, LeavesOutWhatNobodyTells) {
  StepRecord step;
  step.step_time_s = 2;
  const nlohmann::json line = line_of(step);
  EXPECT_FALSE(line.contains("device"));
  EXPECT_FALSE(line.contains("energy_j_per_token"));
}

// On a device the host is done with a phase, or a call, before the device has begun it.
TEST(PhaseLine, HasSecondsOfPhasesAndCallsWhereTheyAreTheHosts) {
  const auto line_on = [](Backend backend) {
    const CommunicationByGroup calls = {{"dp", {3, 64, 0.5}}};
    return nlohmann::json::parse(phase_line(settings(backend), {}, {.forward_s = 0.25}, calls));
  };
  const nlohmann::json cpu = line_on(Backend::cpu);
  EXPECT_EQ(cpu["phases"]["forward_s"], 0.25);
  EXPECT_EQ(cpu["communication"]["dp"]["time_s"], 0.5);
  const nlohmann::json cuda = line_on(Backend::cuda);
  EXPECT_FALSE(cuda.contains("phases"));
  EXPECT_EQ(cuda["communication"]["dp"],
            nlohmann::json::parse(R"({"calls": 3, "bytes_sent": 64})"));
}

}  // namespace
}  // namespace llmb::runner
