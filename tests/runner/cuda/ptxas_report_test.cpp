// What ptxas says of every kernel that nvcc compiled: registers are told, and nothing may spill.
#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace llmb::runner {
namespace {

struct KernelReport {
  std::string name;  // as CUDA mangles it
  std::string architecture;
  int registers = -1;
  int spilled_bytes = 0;  // of the kernel and the functions that it calls
  bool is_spill_known = false;
};

// ptxas -v says for each kernel: its name, then the bytes that it and its functions spill, then its
// registers.
std::vector<KernelReport> read_reports(std::istream& text) {
  static const std::regex entry("Compiling entry function '([^']+)' for '([^']+)'");
  static const std::regex spill("([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads");
  static const std::regex used("Used ([0-9]+) registers");
  std::vector<KernelReport> reports;
  std::smatch match;
  for (std::string line; std::getline(text, line);) {
    if (std::regex_search(line, match, entry)) {
      reports.push_back({match[1], match[2]});
    } else if (!reports.empty() && std::regex_search(line, match, spill)) {
      reports.back().spilled_bytes += std::stoi(match[1]) + std::stoi(match[2]);
      reports.back().is_spill_known = true;
    } else if (!reports.empty() && std::regex_search(line, match, used)) {
      reports.back().registers = std::stoi(match[1]);
    }
  }
  return reports;
}

// "RmsNormForwardKernel<Bf16>"
std::string short_name(const std::string& mangled) {
  char* demangled = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, nullptr);
  std::string name = demangled ? demangled : mangled;
  std::free(demangled);
  name = std::regex_replace(name, std::regex("\\(anonymous namespace\\)::|[a-z_0-9]+::"), "");
  std::smatch match;
  return std::regex_search(name, match, std::regex("run_kernel<(.*)>\\(")) ? match[1].str() : name;
}

TEST(PtxasReport, IsReadAsPtxasWritesIt) {
  std::istringstream text(
      "ptxas info    : Compiling entry function '_Z1aif' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1aif\n"
      "    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 32 bytes smem\n");
  const auto reports = read_reports(text);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(short_name(reports[0].name), "a(int, float)");
  EXPECT_EQ(reports[0].architecture, "sm_90");
  EXPECT_EQ(reports[0].registers, 40);
  EXPECT_EQ(reports[0].spilled_bytes, 12);
}

TEST(PtxasReport, NoKernelSpills) {
  if (*LLMB_NO_NVCC != '\0') GTEST_SKIP() << "The kernels are not compiled: " << LLMB_NO_NVCC;
  int kernels = 0;
  for (const auto& file : std::filesystem::directory_iterator(LLMB_KERNEL_REPORTS)) {
    if (file.path().extension() != ".ptxas") continue;
    std::ifstream text(file.path());
    for (const KernelReport& report : read_reports(text)) {
      ++kernels;
      const std::string name = short_name(report.name);
      std::printf("%-8s %4d registers  %s\n", report.architecture.c_str(), report.registers,
                  name.c_str());
      EXPECT_TRUE(report.is_spill_known) << name << " for " << report.architecture;
      EXPECT_EQ(report.spilled_bytes, 0) << name << " for " << report.architecture;
      EXPECT_GT(report.registers, 0) << name << " for " << report.architecture;
    }
  }
  EXPECT_GT(kernels, 0) << "no report in " << LLMB_KERNEL_REPORTS;
}

}  // namespace
}  // namespace llmb::runner
