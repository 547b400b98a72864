#include "server/dispatch/container.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "server/dispatch/batch_script.h"
#include "server/dispatch/plan.h"
#include "server/dispatch/text_check.h"
#include "tests/server/dispatch/shell_launch.h"
#include "tests/temporary_folder.h"

namespace llmb::dispatch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kImage = "/lustre/images/nvidia+nemo+25.04.00.sqsh";
const Launch kLaunchInContainer = recorded_launch("llmb-0", "x_1750000000");

// A job of Grok 1 in a container, on a cluster that lists one image and one mount.
parser::Result<Plan> plan_in_container(const std::string& launcher, const Submission& container,
                                       const Environment& shell = {}, bool takes_any = false) {
  ClusterSettings cluster = launch_settings();
  cluster.container_images = {kImage};
  cluster.container_mounts = {"/data:/data:ro"};
  cluster.takes_any_container = takes_any;
  cluster.launch_environment = shell;
  cluster.runner = "/opt/llmb/bin/llmb-step-runner";
  Submission submission = container;
  submission.workload = "pretrain_grok1";
  submission.dtype = "fp8";
  submission.scale = 128;
  submission.launcher = launcher;
  return plan_submission(submission, cluster, parser::embedded_catalog(), kLaunchRunner);
}

// The recipes' launch.sh: IMAGE=${RUN_CONF_IMAGE:-…}, and RUN_CONF_MOUNTS beside its own mounts.
TEST(Containers, OfARecipeReachItsLaunchScriptAsItsVariables) {
  Submission container;
  container.container_image = kImage;
  const auto planned = plan_in_container("recipe", container);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->environment.find("RUN_CONF_IMAGE")->second, kImage);
  EXPECT_EQ(planned->environment.find("RUN_CONF_MOUNTS")->second, "/data:/data:ro");
  EXPECT_EQ(origin_of(*planned, "container_image"), std::string(kImage) + " by asked for");
  const auto of_shell = plan_in_container(
      "recipe", {}, {{"RUN_CONF_IMAGE", kImage}, {"RUN_CONF_MOUNTS", "/home"}}, true);
  ASSERT_TRUE(of_shell) << of_shell.error().message;
  EXPECT_EQ(origin_of(*of_shell, "container_image"),
            std::string(kImage) + " by RUN_CONF_IMAGE of the shell");
  EXPECT_EQ(of_shell->environment.find("RUN_CONF_MOUNTS")->second, "/data:/data:ro,/home");
  EXPECT_FALSE(plan_in_container("recipe", {})->environment.contains("RUN_CONF_MOUNTS"));
  container.document = "grok1-24.11";
  container.gpu_type = "h100";
  EXPECT_THAT(
      batch_script(*plan_in_container("recipe", container), launch_settings(), kLaunchInContainer),
      HasSubstr(std::string("export RUN_CONF_IMAGE='") + kImage + "'\n"));
}

TEST(Containers, OfTheRunnerAreOptionsOfItsSrun) {
  Submission container;
  container.container_image = kImage;
  const auto planned = plan_in_container("runner", container);
  ASSERT_TRUE(planned) << planned.error().message;
  ClusterSettings cluster = launch_settings();
  cluster.container_mounts = {"/data:/data:ro"};
  const std::string run_folder = run_place(*planned, cluster, kLaunchInContainer).run_folder;
  const std::string script = batch_script(*planned, cluster, kLaunchInContainer);
  EXPECT_THAT(script, HasSubstr(std::string(" '--container-image=") + kImage +
                                "' '--container-mounts=/data:/data:ro,/lustre/workloads/pretrain,"
                                "/opt/llmb/bin:/opt/llmb/bin:ro' '--container-workdir=" +
                                run_folder + "' "));
  EXPECT_THAT(script, HasSubstr("\nexport LLMB_RENDEZVOUS_WAIT_S=3600\n"));
  const std::string outside =
      batch_script(*plan_in_container("runner", {}), cluster, kLaunchInContainer);
  EXPECT_THAT(outside, AllOf(Not(HasSubstr("--container")), Not(HasSubstr("RENDEZVOUS_WAIT"))));
  // Somebody's shell has them for recipes.
  const auto of_shell = plan_in_container("runner", {}, {{"RUN_CONF_IMAGE", kImage}});
  ASSERT_TRUE(of_shell) << of_shell.error().message;
  EXPECT_EQ(of_shell->submission.container_image, "");
  EXPECT_THAT(of_shell->notes, Contains(HasSubstr("RUN_CONF_MOUNTS have no effect")));
}

// The mounts of a job in a container, whose runner is this program.
std::string mounts_beside(const std::string& runner, const Submission& more = {},
                          const std::vector<std::string>& of_cluster = {}) {
  ClusterSettings cluster = launch_settings();
  cluster.container_mounts = of_cluster;
  Plan plan;
  plan.submission = more;
  plan.submission.container_image = kImage;
  plan.program = runner;
  const std::string option = container_options(plan, cluster, "/x").at(1);
  return option.substr(option.find('=') + 1);
}

// As enroot mounts them: one after another, each over what is there.
TEST(Containers, AreMountedInTheOrderInWhichTheyLieBelowOneAnother) {
  EXPECT_EQ(mounts_beside("/lustre/llmb-step-runner"),
            "/lustre:/lustre:ro,/lustre/workloads/pretrain");
  EXPECT_EQ(mounts_beside("/lustre/workloads/pretrain/programs/llmb-step-runner-1a", {},
                          {"/scratch:/lustre/workloads/pretrain/scratch", "/lustre:/lustre:ro"}),
            "/lustre:/lustre:ro,/lustre/workloads/pretrain,"
            "/scratch:/lustre/workloads/pretrain/scratch");
}

TEST(Containers, KeepTheProgramsOfTheirImage) {
  for (const char* runner : {"/usr/local/bin/llmb-step-runner", "/bin/r", "/r"}) {
    EXPECT_THAT(mounts_beside(runner), HasSubstr(fmt::format("{0}:{0}:ro", runner)));
  }
  EXPECT_EQ(mounts_beside("llmb-step-runner"), "/lustre/workloads/pretrain") << "in their PATH";
}

TEST(Containers, ShowTheCheckpointToLoad) {
  Submission load;
  load.load_checkpoint_path = "/checkpoints/a/step_5";
  EXPECT_EQ(mounts_beside("/opt/r/r", load),
            "/checkpoints/a/step_5:/checkpoints/a/step_5:ro,/lustre/workloads/pretrain,"
            "/opt/r:/opt/r:ro");
  load.load_checkpoint_path = "/lustre/workloads/pretrain/experiments/x/checkpoints";
  EXPECT_EQ(mounts_beside("/opt/r/r", load), "/lustre/workloads/pretrain,/opt/r:/opt/r:ro");
  load.container_image = kImage;
  load.load_checkpoint_path = "/check points";
  EXPECT_THAT(plan_in_container("runner", load).error().message,
              HasSubstr("'/check points' cannot be mounted in a container"));
}

TEST(Containers, OfWhichSomethingMayBeMissingAreTakenWithANote) {
  const TemporaryFolder folder;
  Submission container;
  container.container_image = (folder.path() / "x.sqsh").string();
  EXPECT_THAT(plan_in_container("recipe", container, {}, true)->notes,
              Contains(HasSubstr("x.sqsh cannot be seen from here (No such file")));
  std::ofstream(container.container_image) << "image";
  EXPECT_THAT(plan_in_container("recipe", container, {{"HF_TOKEN", "set"}}, true)->notes,
              ElementsAre(HasSubstr("launch.sh cannot be seen from here (No such file")));
  ClusterSettings by_name = launch_settings();
  container.launcher = "runner";
  EXPECT_THAT(container_notes(container, by_name),
              ElementsAre(HasSubstr("'llmb-step-runner' is looked for in the container")));
  by_name.runner = "/opt/llmb-step-runner";
  EXPECT_THAT(container_notes(container, by_name), IsEmpty());
}

TEST(Containers, AreOfTheListThatTheConfigurationHas) {
  Submission container;
  container.container_image = "docker.io#somebody/theirs:1";
  EXPECT_THAT(plan_in_container("recipe", container).error().message,
              AllOf(HasSubstr("may not be asked for"), HasSubstr(kImage)));
  EXPECT_TRUE(plan_in_container("recipe", container, {}, true)) << "as themselves";
  container.container_image = kImage;
  container.container_mounts = "/data:/data:ro,/home:/opt";
  EXPECT_THAT(plan_in_container("recipe", container).error().message,
              HasSubstr("the mount '/home:/opt' may not be asked for"));
  container.container_mounts = "/data:/data:ro";
  EXPECT_TRUE(plan_in_container("recipe", container));
}

TEST(Containers, AreNothingThatAShellWouldSplitOrAPathLeadOutOf) {
  for (const char* image : {"-x", "a b", "a;b", "$(id)", "a'b", "../x.sqsh", "/a/../b", "a,b", "",
                            "./x.sqsh", "images/x.sqsh", "x.squashfs"}) {
    EXPECT_FALSE(is_container_image(image)) << image;
  }
  for (const char* image : {kImage, "nvcr.io#nvidia/nemo:25.04", "user@registry#a/b:c", "ubuntu"}) {
    EXPECT_TRUE(is_container_image(image)) << image;
  }
  for (const char* mount : {"", "data", "/a:b", "/a:/b:", "/a:/b:ro:x", "/a:/b:r o", "/a b", "/a;b",
                            "/a:/../b", "/a:/b:RO"}) {
    EXPECT_FALSE(is_container_mount(mount)) << mount;
  }
  for (const char* mount : {"/a", "/a:/b", "/a:/b:ro", "/a.b-c_d:/b:ro+rprivate"}) {
    EXPECT_TRUE(is_container_mount(mount)) << mount;
  }
  Submission container;
  container.container_mounts = "/data";
  EXPECT_THAT(plan_in_container("runner", container, {}, true).error().message,
              HasSubstr("needs a container_image"));
}

}  // namespace
}  // namespace llmb::dispatch
