#include "parser/lines/line_cleaner.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

struct Case {
  std::string_view raw;
  std::string_view clean;
};

void expect_cleaned(const Case& line) {
  std::string scratch;
  EXPECT_EQ(clean_line(line.raw, scratch), line.clean) << line.raw;
}

TEST(LineCleaner, StripsTheLabelsOfLaunchers) {
  for (const Case& line : std::initializer_list<Case>{
           {" 0: Training epoch 0, iteration 8/29 | lr: 5e-06",
            "Training epoch 0, iteration 8/29 | lr: 5e-06"},
           {"   1:  iteration       25/73242187 |", " iteration       25/73242187 |"},
           {"13: Step Time : 9.09s", "Step Time : 9.09s"},
           {" 0: ", ""},
           {"[default0]: [2025-12-22 15:18:33] iteration", " [2025-12-22 15:18:33] iteration"},
           {"[default12]:Step Time : 9.09s", "Step Time : 9.09s"},
           {"[rank2]: Traceback (most recent call last):", "Traceback (most recent call last):"},
           {"[rank368]:[E808 04:21:41 ProcessGroupNCCL.cpp:655] [Rank 368] Watchdog",
            "[E808 04:21:41 ProcessGroupNCCL.cpp:655] [Rank 368] Watchdog"},
           {"ain_fp8_mx/0 Training epoch 0", "Training epoch 0"},
           {"a_longer_role_name/0 text", "text"},
           {"ining-demo/0 [NeMo I 2025-03-07 22:37:01]", "[NeMo I 2025-03-07 22:37:01]"},
           {"(RayTrainWorker pid=615, ip=10.0.0.7) step", "step"},
           {"(RayTrainWorker pid=615) step", "step"},
           {"(pretraining, pid=4112) num_nodes", "num_nodes"},
           {"(head, rank=0, pid=4112)  iteration", " iteration"},
       }) {
    expect_cleaned(line);
  }
}

TEST(LineCleaner, StripsStackedLabelsEachKindOnce) {
  expect_cleaned({"(pretraining, pid=4112) ining-demo/0  0: [default3]:[rank3]: loss", "loss"});
  expect_cleaned({"\x1b[36m(RayTrainWorker pid=615)\x1b[0m 12: loss", "loss"});
  expect_cleaned({"0: 12: something", "12: something"});
}

TEST(LineCleaner, LeavesWhatOnlyLooksLikeALabel) {
  for (const std::string_view line : {"Step Time : 9.09s GPU utilization: 49.3MODEL_TFLOP/s/GPU",
                                      " [2025-12-22 15:18:33] iteration       11/      50 |",
                                      "[NeMo I 2025-03-07 22:37:01 nemo_logging:393] rank: 0",
                                      "Epoch 0: :   5%|5         | 1/20 [00:44<14:12, v_num=]",
                                      "2025-03-04 00:44:44,441 - root - INFO - step: 1990",
                                      "10:15:22 started",
                                      "12:something",
                                      "123456789: not a task id",
                                      "20/50 done",
                                      "/0 text",
                                      "role/ text",
                                      "role/0",
                                      "role/0/1 text",
                                      "TFLOP/s/GPU",
                                      "[default]: text",
                                      "[rank]: text",
                                      "[rank2] text",
                                      "[default0] text",
                                      "(min, max) time across ranks (ms):",
                                      "(pid=12) text",
                                      "(name pid=) text",
                                      "(name (pid=4) x) text",
                                      "(name, pid=4",
                                      ": text",
                                      "",
                                      " ",
                                      "0:"}) {
    expect_cleaned({line, line});
  }
}

TEST(LineCleaner, RemovesEscapeSequences) {
  expect_cleaned({"- INFO - \x1b[36mstep: 1990  \x1b[32mloss:  3.4370\x1b[39m",
                  "- INFO - step: 1990  loss:  3.4370"});
  expect_cleaned({"\x1b[1;31m\x1b[Kred\x1b[0m", "red"});
  expect_cleaned({"\x1b]8;id=1;file:///a.py\x1b\\a.py\x1b]8;;\x1b\\ end", "a.py end"});
  expect_cleaned({"\x1b]0;a title\atext", "text"});
  expect_cleaned({"\x1b[?25lhidden\x1b[?25h", "hidden"});
  expect_cleaned({"\x1b(Btext\x1b=\x1b>", "text"});
  expect_cleaned({"\x1b[32mining-demo/0\x1b[0m  0: \x1b[36mstep", "step"});
}

TEST(LineCleaner, KeepsTheTextAroundBrokenSequences) {
  expect_cleaned({"text\x1b", "text"});
  expect_cleaned({"text\x1b[", "text"});
  expect_cleaned({"text\x1b[31", "text"});
  expect_cleaned({"a\x1b[31\xc3\xa9z", "a\xc3\xa9z"});
  expect_cleaned({"a\x1b]8;;loss: 3", "a8;;loss: 3"});
  expect_cleaned({"a\x1b]8;;loss\x1b[0m: 3", "a8;;loss: 3"});
  expect_cleaned({"a\x1b\x1b[0mb", "ab"});
}

TEST(LineCleaner, RemovesNulsAndPassesInvalidUtf8) {
  using std::string_view_literals::operator""sv;
  expect_cleaned({"\0\0\0\0step\0\0: 1\0"sv, "step: 1"});
  expect_cleaned({"\0\0 0: step"sv, "step"});
  expect_cleaned({"\xff\xfe\x9b step \x80", "\xff\xfe\x9b step \x80"});
}

TEST(LineCleaner, CopiesOnlyWhatHasAHole) {
  const std::string plain = " 0: loss 3.4";
  std::string scratch = "untouched";
  const std::string_view clean = clean_line(plain, scratch);
  EXPECT_EQ(clean.data(), plain.data() + 4);
  EXPECT_EQ(scratch, "untouched");
}

}  // namespace
}  // namespace llmb::parser
