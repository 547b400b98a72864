// The compat output against a slow oracle in shell and gawk, and against hand-written rows for
// each documented quirk.
#include "server/compat/shell_parser.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "server/compat/whole_file.h"
#include "server/sample/sample_tree.h"
#include "tests/temporary_folder.h"

namespace llmb::compat {
namespace {

namespace fs = std::filesystem;

struct Output {
  std::string out;
  int exit_code = 0;
};

class ShellParserTest : public ::testing::Test {
 protected:
  void write(const std::string& relative_path, const std::string& text) {
    temporary_.write(relative_path, text);
  }

  Output ours(const std::string& release, Format format, bool full_names = false) {
    Options options;
    options.release = find_release(release).value();
    options.format = format;
    options.full_names = full_names;
    options.folder = folder_.string();
    std::ostringstream out;
    std::ostringstream err;
    Output output;
    output.exit_code = run(options, out, err);
    output.out = out.str();
    return output;
  }

  Output oracle(const std::string& release, const std::string& format) {
    const std::size_t at = release.find('@');
    const std::string command = std::string(LLMB_SOURCE_DIR) +
                                "/tests/server/compat/shell_equivalent.sh " +
                                release.substr(0, at) + " " + release.substr(at + 1) + " " +
                                format + " '" + folder_.string() + "' 2>/dev/null";
    Output output;
    FILE* pipe = ::popen(command.c_str(), "r");
    char buffer[4096];
    std::size_t length = 0;
    while ((length = std::fread(buffer, 1, sizeof buffer, pipe)) > 0) {
      output.out.append(buffer, length);
    }
    output.exit_code = WEXITSTATUS(::pclose(pipe));
    return output;
  }

  void expect_equal_to_the_oracle() {
    for (const char* release :
         {"nemo@25.05", "nemo@25.07", "nemo@25.10", "nemo@25.12", "mbridge@25.10", "mbridge@25.12",
          "mbridge@26.02", "mbridge@26.05"}) {
      const std::pair<Format, const char*> formats[] = {
          {Format::table, "table"}, {Format::csv, "csv"}, {Format::json, "json"}};
      for (const auto& [format, name] : formats) {
        const Output expected = oracle(release, name);
        const Output actual = ours(release, format);
        EXPECT_EQ(actual.out, expected.out) << release << " " << name;
        EXPECT_EQ(actual.exit_code, expected.exit_code) << release << " " << name;
      }
    }
  }

  const TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
};

bool has_gawk() {
  return std::system("gawk --version >/dev/null 2>&1") == 0;
}

std::string nemo_step(int iteration, const std::string& rest, int last = 49) {
  return "Training epoch 0, iteration " + std::to_string(iteration) + "/" + std::to_string(last) +
         " | lr: 1e-06 | " + rest + "\n";
}

std::string nemo_log(int first, int last) {
  std::string text;
  for (int i = first; i <= last; ++i) {
    text += nemo_step(i, "train_step_timing in s: 7." + std::to_string(100 + i) +
                             " | TFLOPS_per_GPU: 1.19" + std::to_string(i % 10) + "e+03");
  }
  return text;
}

std::string mbridge_log(int first, int last, const std::string& unit, bool time_first = true) {
  std::string text;
  for (int i = first; i <= last; ++i) {
    const std::string figure = "Step Time : 5.7" + std::to_string(i % 10) +
                               "s GPU utilization: 16" + std::to_string(10 + i) + ".5" + unit +
                               "\n";
    const std::string line = " [2025-12-22 15:18:33] iteration       " + std::to_string(i) +
                             "/      50 | elapsed time per iteration (ms): 57" +
                             std::to_string(10 + i) + ".3 | grad norm: 0.042 |\n";
    text += time_first ? figure + line : line + figure;
  }
  return text;
}

TEST_F(ShellParserTest, HoldsALogThatIsCutShortWhileItIsSearched) {
  write("a.out", "training\n");
  const std::string path = folder_ / "a.out";
  const auto bytes = read_whole_file(path);
  std::filesystem::resize_file(path, 0);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, "training\n");
  EXPECT_EQ(read_whole_file(path), "");
  EXPECT_FALSE(read_whole_file(folder_));
}

TEST_F(ShellParserTest, EqualsTheOracleOnTheSampleTree) {
  if (!has_gawk()) GTEST_SKIP() << "gawk is not installed";
  sample::write_sample_tree(folder_.string());
  expect_equal_to_the_oracle();
}

TEST_F(ShellParserTest, EqualsTheOracleOnQuirks) {
  if (!has_gawk()) GTEST_SKIP() << "gawk is not installed";
  write("a/log-acc.pretrain_x_1_0.out", nemo_log(0, 49));
  write("a/log-acc.pretrain_x_2_1.out", nemo_log(0, 44));  // dies after 44: Success
  write("a/pretrain_llama3.1_8b_3.out", nemo_log(0, 30));  // loses its head
  write("a/early.out", nemo_log(0, 5));                    // no row at all
  write("a/no_timing.out", "the model is loading\n");
  write("a/sbatch_x.out", "training\n");
  write("a/vboost.out", "training\n");
  write("a/silent.out", "nothing\n");
  write("a/empty.out", "");
  write("a/x_nccltrace_1.out", nemo_log(0, 49));
  write("a/import_ckpt_exp.out", nemo_log(0, 49));
  write("b/gap.out", nemo_log(11, 20) + nemo_log(40, 49));
  write("b/no_tflops.out", nemo_step(12, "train_step_timing in s: 7.") +
                               nemo_step(44, "train_step_timing in s: 8.25"));
  write("b/exponent.out", nemo_step(44, "train_step_timing in s: 1.2e+04 | TFLOPS_per_GPU: 9e-05"));
  write("b/long_run.out", nemo_step(44, "train_step_timing in s: 3.5 | TFLOPS_per_GPU: 5", 4900));
  write("b/twice.out", nemo_log(0, 49) + nemo_log(30, 49));
  write("b/glued.out", "x" + nemo_step(40, "train_step_timing in s: 3 |") + "y\r\n");
  expect_equal_to_the_oracle();
}

TEST_F(ShellParserTest, EqualsTheOracleOnMegatronQuirks) {
  if (!has_gawk()) GTEST_SKIP() << "gawk is not installed";
  write("log-a.old_1_0.out", mbridge_log(1, 50, "TFLOP/s/GPU"));
  write("log-a.new_2_0.out", mbridge_log(1, 50, "MODEL_TFLOP/s/GPU"));
  write("log-a.reversed_3_0.out", mbridge_log(1, 50, "MODEL_TFLOP/s/GPU", false));
  write("log-a.died_4_0.out", mbridge_log(1, 40, "MODEL_TFLOP/s/GPU"));
  write("log-a.early_5_0.out", mbridge_log(1, 12, "TFLOP/s/GPU"));
  write("plain.out", mbridge_log(35, 44, "TFLOP/s/GPU"));
  std::string nan = mbridge_log(1, 50, "MODEL_TFLOP/s/GPU");
  nan.replace(nan.find("grad norm: 0.042", 2000), 16, "Grad_Norm :  NaN");
  write("log-a.nan_6_0.out", nan);
  write("log-a.nan_unknown_7_0.out", mbridge_log(1, 50, "TFLOP/s/GPU") + "grad norm: nan\n");
  write("log-a.not_nan_8_0.out", mbridge_log(1, 50, "TFLOP/s/GPU") + "grad norm: nano\n");
  write("log-a.split_nan_9_0.out", mbridge_log(1, 50, "TFLOP/s/GPU") + "grad norm:\n nan\n");
  write("log-a.one_10_0.out", mbridge_log(44, 44, "MODEL_TFLOP/s/GPU"));
  write("log-a.lm_11_0.out",
        "iteration 44/ 50 | elapsed time per iteration (ms): 15800 | throughput per GPU "
        "(TFLOP/s/GPU): 490.0 |\n");
  write("log-a.upper_12_0.out", "ELAPSED TIME PER ITERATION (MS): 4\n");
  write("log-a.glued_13_0.out",
        "Step Time : 5.74s GPU utilization: 50.0 MODEL_TFLOP/s/GPU iteration 44/50 | elapsed time "
        "per iteration (ms): 5740.1 |Number of parameters");
  expect_equal_to_the_oracle();
}

TEST_F(ShellParserTest, PrintsTheDocumentsExampleRow) {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += nemo_step(i, i % 2 == 0 ? "train_step_timing in s: 7.342 | TFLOPS_per_GPU: 1.186e+03"
                                    : "train_step_timing in s: 7.422 | TFLOPS_per_GPU: 1.199e+03");
  }
  write("log-acct-acct.pretrain_grok1_314b_bf16_256_388660_0.out", text);
  EXPECT_EQ(ours("nemo", Format::table).out,
            "Train Step Timing and TFLOPS Analysis (iterations 11-44)\n" + std::string(80, '=') +
                "\nExperiment                                                                     "
                "              Status Time Mean (s) Time Std (s) TFLOPS_per_GPU Mean "
                "TFLOPS_per_GPU Std\n" +
                std::string(90, '-') +
                " -------- ------------- ------------ ------------------- ------------------\n"
                "pretrain_grok1_314b_bf16_256_388660                                            "
                "             Success         7.382        0.040             1192.50            "
                "   6.50\n\nSummary:\n  Success experiments: 1\n  Failed experiments: 0\n  Success "
                "rate: 100%\n");
}

TEST_F(ShellParserTest, FailedRowsOfTheNemoCsvHaveEightFields) {
  write("x.out", nemo_log(0, 20));
  const Output output = ours("nemo@25.07", Format::csv);
  EXPECT_NE(output.out.find("x.out,Failed,,,,,,20\n# Summary: 0 success, 1 failed, 1 total\n"),
            std::string::npos)
      << output.out;
  EXPECT_EQ(output.exit_code, 1);
}

TEST_F(ShellParserTest, MissingTflopsMakeTheNemoJsonInvalid) {
  write("x.out", nemo_step(44, "train_step_timing in s: 8.25"));
  EXPECT_NE(ours("nemo@25.07", Format::json).out.find("\"tflops_per_gpu_mean\": -,"),
            std::string::npos);
}

TEST_F(ShellParserTest, FindDoesNotFollowALinkedFolder) {
  write("real/x.out", nemo_log(0, 49));
  fs::create_directory_symlink(folder_ / "real", folder_ / "linked");
  folder_ = folder_ / "linked";
  const Output output = ours("nemo", Format::table);
  EXPECT_EQ(output.out, "");
  EXPECT_EQ(output.exit_code, 1);
  folder_ = folder_.parent_path();
}

TEST_F(ShellParserTest, MissingAndEmptyFoldersExitWithOne) {
  EXPECT_EQ(ours("nemo", Format::json).exit_code, 1);
  folder_ /= "missing";
  EXPECT_EQ(ours("mbridge", Format::csv).exit_code, 1);
  folder_ = folder_.parent_path();
}

TEST_F(ShellParserTest, FullNamesKeepTheWholeFileName) {
  write("log-a.x_1_0.out", nemo_log(0, 49));
  EXPECT_EQ(ours("nemo", Format::table).out.find("log-a.x_1_0.out"), std::string::npos);
  EXPECT_NE(ours("nemo", Format::table, true).out.find("log-a.x_1_0.out"), std::string::npos);
}

}  // namespace
}  // namespace llmb::compat
