// Clocks, power and errors as NVML tells them: by a stand-in library with known answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "runner/cuda/clocks.h"
#include "runner/cuda/device_error.h"
#include "tests/temporary_folder.h"

namespace llmb::runner::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

const LibraryPlaces kStandIn = {std::filesystem::path(LLMB_STAND_IN_NVML).parent_path(), {}};

TEST(Clocks, AreReadAsNvmlTellsThem) {
  ClockReader reader("0000:1b:00.0", kStandIn);
  EXPECT_EQ(reader.why_nothing(), "");
  const ClockReading reading = reader.read();
  EXPECT_EQ(reading.sm_clock_hz, 1755e6);
  EXPECT_EQ(reading.sm_clock_hz_max, 1980e6);
  EXPECT_EQ(reading.memory_clock_hz, 2619e6);
  EXPECT_DOUBLE_EQ(reading.power_w.value(), 698.5);
  EXPECT_DOUBLE_EQ(reading.power_limit_w.value(), 700);
  EXPECT_EQ(reading.energy_j, std::nullopt) << "not supported by this device";
  EXPECT_EQ(reading.temperature_c, std::nullopt) << "no such function in this library";
  EXPECT_THAT(reading.throttle_reasons,
              ElementsAre("power cap by software", "thermal slowdown by hardware"));
  EXPECT_EQ(reading.ecc_errors_corrected, 5);
  EXPECT_EQ(reading.ecc_errors_uncorrected, 0);
  EXPECT_THAT(reader.take_xid_errors(), ElementsAre(79, 94));
  EXPECT_THAT(reader.take_xid_errors(), IsEmpty());
}

// NVML answers for the board that the device is a slice of.
TEST(Clocks, LeaveOutWhatIsTheWholeBoards) {
  EXPECT_EQ(ClockReader("0000:1b:00.0", kStandIn).why_no_energy(), "");
  EXPECT_EQ(ClockReader("0000:01:00.0", kStandIn).why_no_energy(), "") << "knows no MIG";
  ClockReader reader("0000:2b:00.0", kStandIn);
  EXPECT_EQ(reader.why_nothing(), "");
  EXPECT_THAT(reader.why_no_energy(), HasSubstr("a slice of a board (MIG)"));
  const ClockReading reading = reader.read();
  EXPECT_EQ(reading.sm_clock_hz, 1755e6);
  EXPECT_EQ(reading.power_w, std::nullopt);
  EXPECT_EQ(reading.power_limit_w, std::nullopt);
  EXPECT_EQ(reading.energy_j, std::nullopt);
}

TEST(Clocks, StandWithoutADeviceThatNvmlKnows) {
  ClockReader reader("0000:ff:00.0", kStandIn);
  EXPECT_EQ(reader.why_nothing(), "NVML knows no device 0000:ff:00.0 (answer 6)");
  EXPECT_EQ(reader.read().power_w, std::nullopt);
  EXPECT_THAT(reader.take_xid_errors(), IsEmpty());
}

TEST(VendorLibrary, IsFoundBesideTheProgramOrInAFolder) {
  const std::filesystem::path file = LLMB_STAND_IN_NVML;
  const LibraryName name = {"NVML", {"libnone.so", file.filename()}, "It comes with the driver."};
  EXPECT_EQ(VendorLibrary(name, {file.parent_path(), {}}).path(), file);
  const VendorLibrary library(name, {"/nowhere", {"/nor/here", file.parent_path()}});
  EXPECT_EQ(library.function<int (*)()>("nvmlInit_v2")(), 0);
  EXPECT_EQ(library.function_if_there<int (*)()>("nvmlInit_v3"), nullptr);
  EXPECT_THROW(library.function<int (*)()>("nvmlInit_v3"), NoDevice);
}

// A virtual environment that nobody activated: python3 in PATH is a link into it.
TEST(VendorLibrary, IsFoundAmongThePackagesOfThePythonInPath) {
  const TemporaryFolder folder;
  const std::filesystem::path root = folder.path();
  folder.write("system/bin/python3.12", "");
  std::filesystem::create_directories(root / "torch/bin");
  std::filesystem::create_directories(root / "bin");
  std::filesystem::create_symlink("../../system/bin/python3.12", root / "torch/bin/python3");
  std::filesystem::create_symlink(root / "torch/bin/python3", root / "bin/python3");
  const std::string packages = "lib/python3.12/site-packages/";
  folder.write("torch/" + packages + "nvidia/cudnn/lib/libcudnn.so.9", "");
  folder.write("torch/" + packages + "torch/lib/libtorch.so", "");
  folder.write("system/" + packages + "nvidia/cu13/lib/libcublasLt.so.13", "");
  const LibraryPlaces places =
      usual_library_places({{"PATH", "/nowhere::relative:" + folder.file("bin")}});
  EXPECT_THAT(places.folders, IsSupersetOf({root / "torch" / packages / "nvidia/cudnn/lib",
                                            root / "torch" / packages / "torch/lib",
                                            root / "system" / packages / "nvidia/cu13/lib"}));
}

TEST(VendorLibrary, NamesWhatIsMissing) {
  try {
    const VendorLibrary library({"cuBLASLt", {"libnone.so.13"}, "Install CUDA 13's libraries."},
                                {"/nowhere", {}});
    FAIL() << "was found";
  } catch (const NoDevice& error) {
    EXPECT_THAT(error.what(), HasSubstr("Could not load cuBLASLt: libnone.so.13 was not found"));
    EXPECT_THAT(error.what(), HasSubstr("Install CUDA 13's libraries. LD_LIBRARY_PATH"));
  }
}

TEST(VendorLibrary, SaysWhyAFileIsNoLibrary) {
  try {
    const VendorLibrary library({"cuBLASLt", {"clocks_test.cpp"}, ""},
                                {LLMB_SOURCE_DIR "/tests/runner/cuda", {}});
    FAIL() << "was loaded";
  } catch (const NoDevice& error) {
    EXPECT_THAT(error.what(), HasSubstr("clocks_test.cpp: "));
  }
}

TEST(VendorLibrary, IsLookedForInCudasFoldersAndPythonsPackages) {
  const std::filesystem::path root = ::testing::TempDir() + "vendor_places";
  const std::filesystem::path packages = root / "lib/python3.12/site-packages";
  std::filesystem::create_directories(packages / "nvidia/cublas/lib");
  std::filesystem::create_directories(packages / "torch/lib");
  const LibraryPlaces places =
      usual_library_places({{"CUDA_HOME", "/opt/cuda"}, {"VIRTUAL_ENV", root.string()}});
  EXPECT_THAT(places.folders,
              ::testing::IsSupersetOf<std::filesystem::path>(
                  {"/opt/cuda/lib64", packages / "nvidia/cublas/lib", packages / "torch/lib"}));
  EXPECT_FALSE(places.beside_program.empty());
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace llmb::runner::cuda
