// Clocks, power and energy of whole runs over the double, by a stand-in library of NVML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "parser/reader/log_reader.h"
#include "runner/cuda/vendor_library.h"
#include "tests/runner/backend/cuda_run.h"
#include "tests/temporary_folder.h"

namespace llmb::runner {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// A folder of CUDA's that has NVML's stand-in.
class Energy : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path file = LLMB_STAND_IN_NVML;
    std::filesystem::create_directories(folder_.path() / "lib64");
    std::filesystem::create_symlink(file, folder_.path() / "lib64" / file.filename());
    setenv("CUDA_HOME", folder_.path().c_str(), 1);
    const cuda::VendorLibrary library({"NVML", {file.filename()}, ""},
                                      cuda::usual_library_places());
    if (!library.path().starts_with(folder_.path().string())) GTEST_SKIP() << "there is a real one";
  }
  void TearDown() override { unsetenv("CUDA_HOME"); }

 private:
  TemporaryFolder folder_;
};

TEST_F(Energy, IsInTheStepLineAndTheSideFile) {
  std::ostringstream phases;
  const std::string text =
      log_of(shorter({"--steps", "3", "--global-batch-size", "2", "--dp", "2"}), true,
             std::int64_t{80} << 30, &phases);
  const parser::ParsedLog log = parser::parse_log(text);
  ASSERT_EQ(log.samples.size(), 3U);
  for (const parser::StepSample& sample : log.samples) {
    EXPECT_THAT(sample.extra_fields,
                Contains(testing::Pair("energy per GPU (J/iter/GPU)", testing::Gt(0))));
  }
  std::istringstream lines(phases.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const nlohmann::json step = nlohmann::json::parse(line);
    const double energy = step["energy_j_per_gpu"];
    EXPECT_DOUBLE_EQ(step["energy_j_per_token"], energy * 2 / (2 * 32));
    EXPECT_GT(step["device"]["energy_j"], 0);
    EXPECT_EQ(step["device"]["sm_clock_hz"], 1755e6);
    EXPECT_THAT(step["device"]["throttle_reasons"], Contains("power cap by software"));
  }
  EXPECT_EQ(count, 3);
  // The stand-in counts an error with every reading, and has an Xid 79 to tell.
  EXPECT_THAT(text, HasSubstr("uncorrectable ECC error of its GPU 0000:01:00.0 ("));
  ASSERT_FALSE(log.facts.events.empty());
  EXPECT_EQ(log.facts.events.front().cause, "gpu_hardware_error");
}

}  // namespace
}  // namespace llmb::runner
