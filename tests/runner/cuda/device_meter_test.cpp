// The meter beside a training: by a stand-in library of NVML with known answers.
#include "runner/cuda/device_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "parser/reader/log_reader.h"
#include "runner/cuda/device_error.h"
#include "tests/patience.h"

namespace llmb::runner::cuda {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const LibraryPlaces kStandIn = {std::filesystem::path(LLMB_STAND_IN_NVML).parent_path(), {}};

// What the meter tells, and a wait for it.
class Told {
 public:
  EventSink sink() {
    return [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      text_ += line;
      changed_.notify_all();
    };
  }
  bool wait_for(const std::string& words) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestPatience,
                             [&] { return text_.find(words) != std::string::npos; });
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

std::vector<std::string> causes_in(const std::string& text) {
  std::vector<std::string> causes;
  for (const parser::LogEvent& event : parser::parse_log(text).facts.events) {
    causes.push_back(event.cause);
  }
  return causes;
}

TEST(DeviceMeter, ReadsBesideTheTraining) {
  Told told;
  DeviceMeter meter("0000:01:00.0", 3, told.sink(), kStandIn, 1ms);
  EXPECT_EQ(meter.why_nothing(), "");
  // Every reading counts an error more; those before the run are not told of.
  ASSERT_TRUE(told.wait_for("(4 since the run began)")) << told.text();
  EXPECT_THAT(told.text(), Not(HasSubstr("(3 since"))) << "it is told of when it has doubled";
  EXPECT_THAT(told.text(),
              HasSubstr("[rank3]: llmb-step-runner: uncorrectable ECC error of its GPU "
                        "0000:01:00.0 (1 since the run began): "));
  const DeviceUse use = meter.take();
  EXPECT_GT(use.energy_j.value(), 0);
  EXPECT_GT(use.power_w.value(), 0);
  EXPECT_EQ(use.sm_clock_hz, 1755e6);
  EXPECT_EQ(use.throttle_reasons.size(), 2U);
}

TEST(DeviceMeter, StandsWhereNvmlIsMissing) {
  Told told;
  DeviceMeter meter("0000:ff:00.0", 0, told.sink(), kStandIn, 1ms);
  EXPECT_THAT(meter.why_nothing(), HasSubstr("NVML knows no device"));
  EXPECT_EQ(meter.take().energy_j, std::nullopt);
  EXPECT_EQ(told.text(), "");
}

TEST(DeviceMeter, TellsOfErrorsInWordsThatTheReportKnows) {
  EXPECT_THAT(causes_in(xid_line(3, "0000:1b:00.0", 79, 2)),
              ::testing::ElementsAre("gpu_hardware_error"));
  EXPECT_THAT(causes_in(xid_line(3, "0000:1b:00.0", 31, 2)),
              ::testing::ElementsAre("illegal_memory_access"));
  EXPECT_THAT(causes_in(xid_line(3, "0000:1b:00.0", 43, 2)),
              ::testing::ElementsAre("gpu_process_error"));
  EXPECT_THAT(causes_in(ecc_line(3, "0000:1b:00.0", 2)),
              ::testing::ElementsAre("gpu_hardware_error"));
  const auto events = parser::parse_log(ecc_line(3, "0000:1b:00.0", 2)).facts.events;
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events.front().rank, 3);
}

// A run without NVML says so; that is no failure.
TEST(DeviceMeter, SaysWhatIsMissingInWordsThatAreNoFailure) {
  try {
    const VendorLibrary none({"NVML", {"libnone.so.1"}, "It comes with the driver."}, {});
    FAIL() << "was found";
  } catch (const NoDevice& error) {
    EXPECT_THAT(
        causes_in("llmb-step-runner: no clocks, power or energy: " + std::string(error.what())),
        IsEmpty());
  }
}

}  // namespace
}  // namespace llmb::runner::cuda
