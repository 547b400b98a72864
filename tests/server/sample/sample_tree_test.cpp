#include "server/sample/sample_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "parser/reader/log_reader.h"
#include "parser/statistics/run_summary.h"
#include "server/sample/sample_runs.h"

namespace llmb::sample {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(SampleTree, IsWhatTheGeneratorMakes) {
  const fs::path root = fs::path(LLMB_SOURCE_DIR) / "deploy/sample-tree";
  std::set<std::string> expected;
  for (const SampleFile& file : make_sample_tree()) {
    expected.insert(file.relative_path);
    EXPECT_EQ(read_file(root / file.relative_path), file.content)
        << file.relative_path << ": run `llmb-report sample deploy/sample-tree` to renew it";
  }
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) {
      EXPECT_TRUE(expected.contains(fs::relative(entry.path(), root).generic_string()))
          << entry.path() << " is not of the generator";
    }
  }
}

TEST(SampleTree, HoldsEveryDialectAndStatus) {
  std::set<std::string> dialects;
  std::set<std::string> statuses;
  for (const SampleRun& run : sample_runs()) {
    const parser::ParsedLog log = parser::parse_log(log_text(run));
    dialects.emplace(parser::dialect_name(log.facts.dialect));
    const auto summary = parser::summarize_run(log.samples, log.facts,
                                               parser::default_window(log.facts.dialect), false);
    statuses.emplace(parser::run_status_name(summary.status));
  }
  EXPECT_EQ(dialects, (std::set<std::string>{"nemo", "nemo_progress_bar", "megatron_bridge",
                                             "megatron_lm", "unknown"}));
  EXPECT_EQ(statuses, (std::set<std::string>{"complete", "failed", "incomplete", "invalid"}));
}

// Every step that is printed is read back, to the precision it was printed in.
TEST(SampleTree, IsReadBackStepByStep) {
  for (const SampleRun& run : sample_runs()) {
    const parser::ParsedLog log = parser::parse_log(log_text(run));
    const bool from_one = run.producer != Producer::nemo && run.producer != Producer::progress_bar;
    for (const parser::StepSample& sample : log.samples) {
      const StepFigures step = step_figures(run, sample.iteration - (from_one ? 1 : 0));
      ASSERT_TRUE(sample.step_time_s) << run.experiment << " " << sample.iteration;
      EXPECT_NEAR(*sample.step_time_s, step.step_time_s, sample.step_time_resolution_s * 1.001)
          << run.experiment << " " << sample.iteration;
      if (sample.tflops_per_gpu) {
        EXPECT_NEAR(*sample.tflops_per_gpu, step.tflops_per_gpu, 0.001 * step.tflops_per_gpu + 0.05)
            << run.experiment << " " << sample.iteration;
      }
    }
  }
}

TEST(SampleTree, RestartsAndCutsLeaveTheStepsTheyPrinted) {
  std::map<Trouble, parser::LogFacts> facts;
  for (const SampleRun& run : sample_runs()) {
    facts[run.trouble] = parser::parse_log(log_text(run)).facts;
  }
  ASSERT_EQ(facts[Trouble::restart_inside].segments.size(), 2U);
  EXPECT_EQ(facts[Trouble::restart_inside].segments[0].last_iteration, 27);
  EXPECT_EQ(facts[Trouble::restart_inside].segments[1].first_iteration, 10);
  EXPECT_TRUE(facts[Trouble::out_of_memory_at_start].segments.empty());
  ASSERT_EQ(facts[Trouble::none].segments.size(), 1U);
  EXPECT_EQ(facts[Trouble::none].segments[0].step_count, 50);
}

TEST(LiveRun, GrowsStepByStepToAWholeRun) {
  const LiveRun live = make_live_run(1790000000);
  std::string text = live.head;
  EXPECT_TRUE(parser::parse_log(text).samples.empty());
  for (std::size_t i = 0; i < live.steps.size(); ++i) {
    text += live.steps[i];
    EXPECT_EQ(parser::parse_log(text).samples.size(), i + 1);
  }
  EXPECT_EQ(live.steps.size(), 50U);
}

}  // namespace
}  // namespace llmb::sample
