// What agreement says of the two shell parsers, against what server/compat prints for the same log.
#include "parser/statistics/agreement.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <utility>

#include "parser/reader/log_reader.h"
#include "server/compat/log_verdict.h"
#include "server/sample/sample_tree.h"

namespace llmb::compat {
namespace {

using parser::ToolResult;

struct LogShape {
  int first = 0;
  int last = 49;
  int gap = -1;  // an iteration that is left out
  int declared = 49;
  bool has_tflops = true;
  int nan_gradient = -1;
  // Of Megatron-Bridge's Step Time lines.
  const char* unit = "MODEL_TFLOP/s/GPU";
  bool time_line_last = false;  // rank 0 is behind the last rank
  int lost_time_line = -1;
  int unit_changes_at = -1;  // to the older spelling
};

std::string print(const char* format, double value) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

// Uneven, and the same at every run: 0 to 999.
int uneven(int i) {
  return (i * 7919 + 1237) % 1000;
}

std::string nemo_log(const LogShape& shape) {
  std::string log;
  for (int i = shape.first; i <= shape.last; ++i) {
    if (i == shape.gap) continue;
    log += "Training epoch 0, iteration " + std::to_string(i) + "/" +
           std::to_string(shape.declared) + " | lr: 1.5e-07 | global_batch_size: 256 | " +
           "global_step: " + std::to_string(i) + " | reduced_train_loss: 11.03 | " +
           "train_step_timing in s: " + print("%.3f", 7 + 0.001 * uneven(i));
    if (shape.has_tflops) log += " | TFLOPS_per_GPU: " + print("%.1f", 500 + 0.1 * uneven(i + 3));
    log += "\n";
  }
  return log;
}

std::string mbridge_log(const LogShape& shape) {
  std::string log;
  for (int i = std::max(1, shape.first); i <= shape.last; ++i) {
    if (i == shape.gap) continue;
    const double time_ms = 1500 + 0.1 * uneven(i);
    std::string time_line;
    if (shape.has_tflops && i != shape.lost_time_line) {
      const bool is_older = shape.unit_changes_at >= 0 && i >= shape.unit_changes_at;
      time_line = "Step Time : " + print("%.2f", time_ms / 1000) +
                  "s GPU utilization: " + print("%.1f", 700 + 0.1 * uneven(i + 5)) +
                  (is_older ? "TFLOP/s/GPU" : shape.unit) + "\n";
    }
    if (!shape.time_line_last) log += time_line;
    log += " [2025-12-22 15:18:00] iteration " + std::to_string(i) +
           "/ 50 | consumed samples: " + std::to_string(64 * i) +
           " | elapsed time per iteration (ms): " + print("%.1f", time_ms) +
           " | learning rate: 1.0E-04 | global batch size: 64 | " +
           "lm loss: 1.1E+01 | loss scale: 1.0 | grad norm: " +
           (i == shape.nan_gradient ? "nan" : "1.500") +
           " | number of skipped iterations: 0 | number of nan iterations: 0 |\n";
    if (shape.time_line_last) log += time_line;
  }
  return log;
}

ToolResult find_result(const std::string& log, const std::string& tool,
                       const std::string& release) {
  const parser::ParsedLog parsed = parser::parse_log(log);
  const auto window = parser::default_window(parsed.facts.dialect);
  const auto ours = parser::summarize_run(parsed.samples, parsed.facts, window, false);
  for (ToolResult& result : parser::compute_agreement(parsed.samples, parsed.facts, ours)) {
    if (result.tool == tool && result.release == release) return std::move(result);
  }
  ADD_FAILURE() << "there is no " << tool << " " << release;
  return {};
}

void expect_equal(const LogVerdict& printed, const ToolResult& told, double unit,
                  const std::string& where) {
  EXPECT_EQ(told.gives_result, printed.kind == LogVerdict::Kind::success)
      << where << ": " << told.reason;
  EXPECT_FALSE(told.why.empty());
  if (!told.gives_result) {
    EXPECT_FALSE(told.reason.empty()) << where;
    return;
  }
  EXPECT_EQ(print("%.3f", *told.step_time_s_mean * unit), printed.time_mean) << where;
  EXPECT_EQ(print("%.3f", *told.step_time_s_std * unit), printed.time_std) << where;
  const auto& tflops = told.tflops_per_gpu_mean;
  EXPECT_EQ(tflops ? print("%.2f", *tflops) : "-", printed.tflops_mean)
      << where << ": " << told.reason;
}

const std::vector<LogShape>& shapes() {
  static const std::vector<LogShape> all = {{},
                                            {0, 44},
                                            {0, 43},
                                            {0, 30},
                                            {0, 8},
                                            {20, 49},
                                            {0, 49, 38},
                                            {0, 49, 44},
                                            {0, 49, 12},
                                            {0, 49, -1, 99},
                                            {0, 49, -1, 49, false},
                                            {0, 49, -1, 49, true, 20}};
  return all;
}

std::vector<LogShape> bridge_shapes() {
  std::vector<LogShape> all = shapes();
  LogShape shape;
  shape.unit = "TFLOP/s/GPU";
  all.push_back(shape);
  shape.time_line_last = true;
  all.push_back(shape);
  shape.unit = "MODEL_TFLOP/s/GPU";
  all.push_back(shape);
  shape.lost_time_line = 39;
  all.push_back(shape);
  shape.time_line_last = false;
  all.push_back(shape);
  shape.unit_changes_at = 40;
  all.push_back(shape);
  return all;
}

TEST(Agreement, IsTheNemoShellParsersPrintedResult) {
  const std::vector<std::pair<std::string, std::string>> releases = {{"25.05", "25.05"},
                                                                     {"25.07", "25.07"},
                                                                     {"25.10", "25.08 to 26.05"},
                                                                     {"25.12", "25.08 to 26.05"},
                                                                     {"26.05", "25.08 to 26.05"}};
  for (std::size_t i = 0; i < shapes().size(); ++i) {
    std::string log = nemo_log(shapes()[i]);
    for (const auto& [release, entry] : releases) {
      const std::string where = "nemo@" + release + " shape " + std::to_string(i);
      const auto verdict =
          judge_nemo_log(find_release("nemo@" + release).value(), "log-x_1_0.out", log);
      const ToolResult told = find_result(log, "NeMo shell parser", entry);
      expect_equal(verdict, told, 1, where);
      const bool has_figure = verdict.kind == LogVerdict::Kind::success && shapes()[i].has_tflops;
      EXPECT_EQ(told.tflops_per_gpu_mean.has_value(), has_figure) << where;
    }
  }
}

TEST(Agreement, IsTheMegatronBridgeShellParsersPrintedResult) {
  for (std::size_t i = 0; i < bridge_shapes().size(); ++i) {
    const std::string log = mbridge_log(bridge_shapes()[i]);
    for (const std::string release : {"25.10", "25.12", "26.02", "26.05"}) {
      const std::string where = "mbridge@" + release + " shape " + std::to_string(i);
      const auto verdict =
          judge_mbridge_log(find_release("mbridge@" + release).value(), "log-x_1_0.out", log);
      expect_equal(verdict, find_result(log, "Megatron-Bridge shell parser", release), 1000, where);
    }
  }
}

// Their pairing is one of lines, not of steps: it must be told as it is, and named.
TEST(Agreement, SaysThatTheShellParserTookTheTflopsOfOtherSteps) {
  LogShape shape;
  shape.time_line_last = true;
  const ToolResult told = find_result(mbridge_log(shape), "Megatron-Bridge shell parser", "26.05");
  EXPECT_NE(told.why.find("need not be of that step"), std::string::npos) << told.why;
  const ToolResult none = find_result(mbridge_log({}), "Megatron-Bridge shell parser", "25.10");
  EXPECT_EQ(none.tflops_per_gpu_mean, std::nullopt);
  EXPECT_NE(none.reason.find("TFLOP/s/GPU alone"), std::string::npos) << none.reason;
}

// What is told for the steps as they come back from reading a log in pieces is the same.
TEST(Agreement, DoesNotDependOnHowALogWasCutIntoPieces) {
  LogShape shape;
  shape.time_line_last = true;
  const std::string log = mbridge_log(shape);
  parser::LogReader reader;
  std::vector<parser::StepSample> samples;
  for (std::size_t at = 0; at < log.size(); at += 777) {
    reader.feed(std::string_view(log).substr(at, 777));
    parser::merge_samples(samples, reader.take_samples());
    const std::string state = reader.save_state();
    const auto committed = reader.committed_offset();
    reader = parser::LogReader::restore(state).value();
    reader.feed(
        std::string_view(log).substr(committed, std::min(log.size(), at + 777) - committed));
    parser::merge_samples(samples, reader.take_samples());
  }
  EXPECT_EQ(samples, parser::parse_log(log).samples);
}

TEST(Agreement, IsWhatTheShellParsersPrintForTheSampleTree) {
  int results = 0;
  for (const sample::SampleFile& file : sample::make_sample_tree()) {
    if (!file.relative_path.ends_with(".out")) continue;
    const std::string name = file.relative_path.substr(file.relative_path.rfind('/') + 1);
    for (const std::string& release : release_names()) {
      if (release.find('@') == std::string::npos) continue;
      const Release known = find_release(release).value();
      const bool is_nemo = known.family == Family::nemo;
      const auto verdict = is_nemo ? judge_nemo_log(known, name, file.content)
                                   : judge_mbridge_log(known, name, file.content);
      const std::string number = release.substr(release.find('@') + 1);
      const bool is_merged = is_nemo && number >= "25.08";
      const ToolResult told =
          find_result(file.content, is_nemo ? "NeMo shell parser" : "Megatron-Bridge shell parser",
                      is_merged ? "25.08 to 26.05" : number);
      expect_equal(verdict, told, is_nemo ? 1 : 1000, release + " " + name);
      if (told.gives_result) ++results;
    }
  }
  EXPECT_GT(results, 40);
}

// Both average the passes of a restarted log together; we count one pass.
TEST(Agreement, CountsAllPassesOfARestartedLogAsTheShellParsersDo) {
  LogShape second;
  second.first = 40;
  const std::string nemo = nemo_log({0, 47}) + nemo_log(second);
  const ToolResult told = find_result(nemo, "NeMo shell parser", "25.08 to 26.05");
  expect_equal(judge_nemo_log(find_release("nemo@25.10").value(), "log-x_1_0.out", nemo), told, 1,
               "nemo");
  EXPECT_EQ(told.step_count, 15);
  EXPECT_NE(told.why.find("2 passes"), std::string::npos) << told.why;
  const std::string bridge = mbridge_log({0, 47}) + mbridge_log(second);
  expect_equal(judge_mbridge_log(find_release("mbridge@26.05").value(), "log-x_1_0.out", bridge),
               find_result(bridge, "Megatron-Bridge shell parser", "26.05"), 1000, "mbridge");
}

}  // namespace
}  // namespace llmb::compat
