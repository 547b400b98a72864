// The form of a saved state. Databases hold states of earlier versions, so a changed form needs a
// new kStateVersion (parser/reader/log_reader.cpp): then restore() refuses the old ones, and the
// logs are read anew. After raising it, write the golden file with
//   LLMB_UPDATE_GOLDENS=1 parser_dialects_tests --gtest_filter='SavedState.*'
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "log_samples.h"
#include "parser/dialects/dialect.h"

namespace llmb::parser {
namespace {

const std::filesystem::path kGolden =
    std::filesystem::path(LLMB_SOURCE_DIR) / "tests/logs/saved_state.golden.txt";

// What is saved beside the steps: facts of every kind.
constexpr std::string_view kFacts =
    "Global Checkpoint Save : Rank: 0 : Iteration: 4 : Start time: 1.000s : Save duration: 2.5s\n"
    "h:1:2 [0] NCCL INFO AllReduce: opCount 1f sendbuff 0x7f recvbuff 0x7f count 8 datatype 9 op 0"
    " root 0 comm 0x5 [nranks=4] stream 0x6\n"
    "| MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3468.20ms/0\n"
    "times across ranks (ms):\n  forward-backward:\n     rank  0: 7079.75\n"
    "GPU relative performance:\n Worst performing 1/8 ranks:\n  Rank=6 Node=n Score=0.94\n"
    "  GEMM throughput (8x8x8, bf16) [TFLOP/s/GPU]: median=7.5, mean=7.5, min=7, max=8\n"
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.\n"
    "[after training is done] datetime: 2026-01-16 07:32:24\n";

// `line` with the numbers 1 to `count` in place of its '#': readers that give way to others hold
// their first steps back.
std::string repeated(std::string_view line, int count) {
  std::string text;
  const std::size_t at = line.find('#');
  for (int i = 1; i <= count; ++i) {
    text.append(line.substr(0, at)).append(std::to_string(i)).append(line.substr(at + 1));
  }
  return text;
}

// One for each kind of reader, in the middle of what it holds between lines.
const std::vector<std::string>& step_lines() {
  static const std::vector<std::string> lines = {
      "Training epoch 0, iteration 3/49 | lr: 3e-06 | global_batch_size: 512 | global_step: 3 |"
      " reduced_train_loss: 11.2 | train_step_timing in s: 7.38 | TFLOPS_per_GPU: 1.6e+03\n",
      "Epoch 0: :   5%|x | 1/20 [00:44<14:12, v_num=, reduced_train_loss=11.20, global_step=0.000,"
      " consumed_samples=128.0, train_step_timing in s=44.90]\n",
      "Step Time : 7.14s GPU utilization: 512.5MODEL_TFLOP/s/GPU\n"
      " [2025-12-22 15:18:33] iteration        3/      50 | consumed samples:         1536 |"
      " elapsed time per iteration (ms): 7137.9 | learning rate: 1.0E-05 | global batch size:   512"
      " | lm loss: 1.1E+01 | loss scale: 1.0 | grad norm: nan | number of skipped iterations:   0 |"
      " number of nan iterations:   0 |\n"
      "Step Time : 7.20s GPU utilization: 508.0MODEL_TFLOP/s/GPU\n",
      "completed step: 3, seconds: 7.138, TFLOP/s/device: 512.5, Tokens/s/device: 1000.0,"
      " total_weights: 65536, loss: 10.5\n",
      "2025-12-22 15:18:33,123 - root - INFO - step: 3  loss: 10.5  memory: 68.57GiB(86.69%)"
      "  tps: 6,785  mfu: 39.73%\n",
      "step 3 step_time 7.138s throughput 12.5 seq/s loss 10.5\n",
      "  2%|#  | 3/200 [00:23<07:16,  2.31s/it]\n{'loss': 10.5, 'grad_norm': 1.0, 'epoch': 0.2}\n"
      "  2%|#  | 4/200 [00:25<07:14,  2.31s/it]\n",
      "[config.py:1003:print]   train_batch_size ............. 16\n" +
          repeated("[timer.py:264:stop] epoch=0/micro_step=1/global_step=#,"
                   " RunningAvgSamplesPerSec=8.0, CurrSamplesPerSec=8.0, MemAllocated=4.0GB\n",
                   12),
      repeated(":::MLLOG {\"time_ms\": 1760033997670, \"key\": \"tracked_stats\", \"value\":"
               " {\"train_step_time\": 0.5}, \"metadata\": {\"step\": #}}\n",
               4),
      "step:3 - actor/pg_loss:0.5 - perf/time_per_step:48.75 - perf/throughput:3283.5\n",
      "==== Step 3/100 ====\n  \u2022 Loss: 0.125\n  \u2022 Total step time: 41.20s\n",
      "2026-03-16 03:15:19 | INFO | __main__ | step 3 | epoch 0 | loss 2.5 | tps 80.5(10.0/gpu) |"
      " num_label_tokens 8192\n",
      "iteration: 3 / 50 | time_per_iteration_ms: 1.2K | lm_loss: 10.9 | lr: 0.0001\n",
  };
  return lines;
}

std::string state_of(std::string_view log) {
  LogReader reader;
  reader.feed(log);
  return reader.save_state();
}

// States of a reader that has chosen no dialect, and of one for each kind.
std::string all_states() {
  std::string text = state_of("") + "\n" + state_of(kFacts) + "\n";
  for (const std::string& line : step_lines()) {
    text += state_of(line + std::string(kFacts)) + "\n";
  }
  return text;
}

std::string_view version_of(std::string_view states) {
  return states.substr(0, states.find(' '));
}

TEST(SavedState, KeepsItsFormWithinAVersion) {
  const std::string states = all_states();
  const std::string golden = std::filesystem::exists(kGolden) ? read_file(kGolden) : std::string();
  if (states == golden) return;
  ASSERT_NE(version_of(states), version_of(golden))
      << "The form of the saved state has changed: raise kStateVersion in "
         "parser/reader/log_reader.cpp, then write the golden file anew.";
  ASSERT_NE(std::getenv("LLMB_UPDATE_GOLDENS"), nullptr)
      << "The version was raised: write the golden file anew with LLMB_UPDATE_GOLDENS=1.";
  std::ofstream(kGolden, std::ios::binary) << states;
}

TEST(SavedState, NamesItsReader) {
  const auto kinds = dialect_reader_kinds();
  ASSERT_EQ(step_lines().size(), kinds.size()) << "a new reader needs its line above";
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string state = state_of(step_lines()[i]);
    EXPECT_NE(state.find(" 1 1 \"" + std::string(kinds[i].name) + " "), std::string::npos)
        << kinds[i].name << ": " << state;
    EXPECT_TRUE(LogReader::restore(state).has_value());
  }
}

TEST(SavedState, OfAReaderThatIsNotThereIsRefused) {
  std::string state = state_of(step_lines()[0]);
  const std::size_t at = state.find("\"nemo ");
  ASSERT_NE(at, std::string::npos);
  state.replace(at, 5, "\"none");
  EXPECT_FALSE(LogReader::restore(state).has_value());
}

TEST(SavedState, FromBeforeADialectWasThereGoesOn) {
  // As if the last kind of reader had been added since: its part is missing.
  const std::string state = state_of("");
  const std::string_view last = dialect_reader_kinds().back().name;
  const std::size_t at = state.find(" \"" + std::string(last) + " ");
  ASSERT_NE(at, std::string::npos);
  const std::string count = " 0 " + std::to_string(dialect_reader_kinds().size()) + " \"";
  std::string earlier = state.substr(0, at);
  const std::size_t count_at = earlier.rfind(count);
  ASSERT_NE(count_at, std::string::npos);
  earlier.replace(count_at, count.size(),
                  " 0 " + std::to_string(dialect_reader_kinds().size() - 1) + " \"");
  auto reader = LogReader::restore(earlier);
  ASSERT_TRUE(reader.has_value());
  reader->feed(step_lines().back());
  EXPECT_EQ(reader->take_samples().size(), 1U);
}

}  // namespace
}  // namespace llmb::parser
