// A run that is saved, loaded and gone on with: the same numbers as one that never stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "parser/reader/log_reader.h"
#include "runner/checkpoint/durable_file.h"
#include "tests/runner/train/tiny_run.h"
#include "tests/temporary_folder.h"

namespace llmb::runner {
namespace {

class Resume : public testing::Test {
 protected:
  std::string path() const { return folder_.path(); }
  Environment saving() const { return {{"ENABLE_CHECKPOINT", "true"}}; }
  Environment loading() const { return {{"LOAD_CHECKPOINT_PATH", path()}}; }
  // Steps 6 to 8 after a checkpoint at 5, which are those of a run that never stopped.
  std::vector<double> expect_going_on_to_the_bit(const Arguments& layout) const;

 private:
  const TemporaryFolder folder_;
};

std::vector<double> losses_of_steps(const TinyRun& run) {
  std::vector<double> losses;
  std::istringstream lines(run.phases);
  for (std::string line; std::getline(lines, line);) {
    losses.push_back(nlohmann::json::parse(line)["loss"]);
  }
  return losses;
}

Arguments grok(const Arguments& more) {
  return tiny_grok(joined({"--virtual-ranks", "4", "--global-batch-size", "4"}, more));
}

std::vector<double> Resume::expect_going_on_to_the_bit(const Arguments& layout) const {
  const std::vector<double> whole =
      losses_of_steps(run_tiny(grok(joined(layout, {"--steps", "8"}))));
  run_tiny(grok(joined(layout, {"--steps", "5", "--checkpoint-path", path()})), saving());
  const std::vector<double> rest =
      losses_of_steps(run_tiny(grok(joined(layout, {"--steps", "3"})), loading()));
  EXPECT_EQ(rest, std::vector<double>(whole.begin() + 5, whole.end()));
  return rest;
}

TEST_F(Resume, GoesOnToTheBit) {
  expect_going_on_to_the_bit({"--tp", "2", "--pp", "2", "--etp", "1", "--ep", "2"});
}

// What delayed scaling remembers of the steps before is part of a run.
TEST_F(Resume, GoesOnToTheBitWithDelayedScaling) {
  const std::vector<double> rest =
      expect_going_on_to_the_bit({"--dtype", "fp8_ds", "--tp", "2", "--pp", "2", "--etp", "2"});
  const Arguments other = {"--dtype", "fp8_ds", "--ep", "4", "--etp", "1", "--dp", "4"};
  const std::vector<double> moved =
      losses_of_steps(run_tiny(grok(joined(other, {"--steps", "3"})), loading()));
  ASSERT_EQ(moved.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(moved[i], rest[i], 0.02 * rest[i]);
}

TEST_F(Resume, LogsTheDocumentsLinesAndRunsOneStep) {
  const Arguments layout = {"--tp", "2", "--dp", "2", "--etp", "1"};
  const TinyRun saved =
      run_tiny(grok(joined(layout, {"--steps", "3", "--checkpoint-path", path()})), saving());
  const TinyRun loaded = run_tiny(grok(layout), loading());
  const auto save_events = parser::parse_log(saved.log).facts.checkpoints;
  ASSERT_EQ(save_events.size(), 1U);
  EXPECT_EQ(save_events[0].kind, parser::CheckpointEvent::Kind::save);
  EXPECT_EQ(save_events[0].iteration, 3);
  const parser::ParsedLog log = parser::parse_log(loaded.log);
  ASSERT_EQ(log.facts.checkpoints.size(), 1U);
  EXPECT_EQ(log.facts.checkpoints[0].kind, parser::CheckpointEvent::Kind::load);
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].iteration, 3);  // NeMo's numbering: after 0, 1, 2
  EXPECT_EQ(log.facts.declared_last_iteration, 3);
}

TEST_F(Resume, AnotherLayoutLoadsIt) {
  const Arguments saving_layout = {"--tp", "2", "--dp", "2", "--etp", "1", "--ep", "2"};
  const Arguments loading_layout = {"--tp", "1", "--cp", "2", "--pp", "2", "--ep", "1"};
  const auto whole = losses_of_steps(run_tiny(grok(joined(saving_layout, {"--steps", "5"}))));
  run_tiny(grok(joined(saving_layout, {"--steps", "3", "--checkpoint-path", path()})), saving());
  const auto rest =
      losses_of_steps(run_tiny(grok(joined(loading_layout, {"--steps", "2"})), loading()));
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_NEAR(rest[0], whole[3], 1e-4);
  EXPECT_NEAR(rest[1], whole[4], 1e-4);
}

TEST_F(Resume, AnotherModelIsRefused) {
  run_tiny(grok({"--dp", "4", "--steps", "1", "--checkpoint-path", path()}), saving());
  EXPECT_THROW(run_tiny(grok({"--dp", "4", "--ffn-hidden-size", "32", "--num-layers", "2",
                              "--hidden-size", "64"}),
                        loading()),
               CheckpointError);
  EXPECT_THROW(run_tiny(grok({"--dp", "4"}), {{"LOAD_CHECKPOINT_PATH", path() + "/absent"}}),
               CheckpointError);
}

}  // namespace
}  // namespace llmb::runner
