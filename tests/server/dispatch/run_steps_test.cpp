#include "server/dispatch/run_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/dispatch/plan_submission.h"

namespace llmb::dispatch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Submission short_proxy(const std::string& workload, const std::string& model_size) {
  Submission submission;
  submission.workload = workload;
  submission.model_size = model_size;
  submission.dtype = "bf16";
  submission.gpu_type = "h100";
  submission.scale = 2;  // of which no document has a row
  submission.proxy = true;
  return submission;
}

std::string verdict_on(const Submission& submission) {
  ClusterSettings settings;
  settings.workload_folder = "/lustre/workloads";
  settings.launch_scripts["pretrain_nemotron4"] = "/opt/launch.sh";
  const RunnerFacts runner{"llmb-step-runner 1.0", {"cpu", "cuda"}, ""};
  const auto& catalog = parser::embedded_catalog();
  const auto planned = plan_submission(submission, settings, catalog, runner);
  return planned ? why_never_complete(*planned, settings, catalog) : planned.error().message;
}

// nemotron4: a profiled job runs for 25 steps, and a loaded checkpoint for one.
TEST(RunSteps, ThatEndBeforeTheWindowMakeNoCompleteRun) {
  Submission proxy = short_proxy("pretrain_nemotron4", "15b");
  EXPECT_THAT(verdict_on(proxy), IsEmpty());
  proxy.profile = true;
  EXPECT_THAT(verdict_on(proxy), HasSubstr("a run of 25 steps (the document's default) is never"));
  proxy.runner_options["steps"] = 45;  // iterations from 0 to 44
  EXPECT_THAT(verdict_on(proxy), IsEmpty());
  proxy.runner_options["steps"] = 44;
  EXPECT_THAT(verdict_on(proxy), HasSubstr("11-44, needs 45 or more"));

  Submission loaded = short_proxy("pretrain_nemotron4", "15b");
  loaded.load_checkpoint_path = "/lustre/checkpoint";
  EXPECT_THAT(verdict_on(loaded), IsEmpty()) << "a function check";
  loaded.runner_options["steps"] = 33;
  EXPECT_THAT(verdict_on(loaded), HasSubstr("a run of 33 steps (asked for) is never complete"));
  loaded.runner_options["steps"] = 34;  // 11 may be the first behind the checkpoint
  EXPECT_THAT(verdict_on(loaded), IsEmpty());
}

TEST(RunSteps, AreEnoughByTheNumberingOfTheWorkloadsLogs) {
  Submission proxy = short_proxy("pretrain_llama3.1", "8b");
  proxy.dtype = "fp8";
  proxy.runner_options["steps"] = 44;  // iterations from 1 to 44
  EXPECT_THAT(verdict_on(proxy), IsEmpty());
}

TEST(RunSteps, OfARowHaveToHoldTheWindowOfItsDocument) {
  Submission whole = short_proxy("pretrain_grok1", "314b");
  whole.proxy = false;
  whole.dtype = "fp8";
  whole.gpu_type = "gb200";  // grok1-24.11, of h100, has the last step
  whole.scale = 512;
  whole.runner_options["steps"] = 45;
  EXPECT_THAT(verdict_on(whole), IsEmpty());
  whole.runner_options["steps"] = 30;
  EXPECT_THAT(verdict_on(whole), HasSubstr("a run of 30 steps (asked for) is never complete"));
}

// nemotron4-25.04 makes a result of the last step: 25 steps are complete there.
TEST(RunSteps, AreForADocumentToJudgeWhereItHasTheRow) {
  Submission whole = short_proxy("pretrain_nemotron4", "15b");
  whole.proxy = false;
  whole.scale = 16;
  whole.profile = true;
  EXPECT_THAT(verdict_on(whole), IsEmpty());
  whole.launcher = "recipe";
  EXPECT_THAT(verdict_on(whole), IsEmpty());
  Submission on_cpus = short_proxy("pretrain_nemotron4", "15b");
  on_cpus.scale = 16;
  on_cpus.profile = true;
  on_cpus.backend = "cpu";
  EXPECT_THAT(verdict_on(on_cpus), HasSubstr("is never complete"));
}

}  // namespace
}  // namespace llmb::dispatch
