#include "runner/parallel/bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmb::runner {
namespace {

using ::testing::HasSubstr;
using Environment = std::map<std::string, std::string, std::less<>>;

Environment slurm_step() {
  return {{"SLURM_PROCID", "5"},  {"SLURM_STEP_NUM_TASKS", "8"},
          {"SLURM_NTASKS", "8"},  {"SLURM_STEP_NODELIST", "gpu[003-004]"},
          {"SLURM_STEP_ID", "2"}, {"SLURM_JOB_ID", "4711"},
          {"SLURM_LOCALID", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"},
          {"SLURM_NODEID", "1"}};
}

// The place that Slurm and torchrun give here.
void expect_sixth_of_eight(const ProcessPlace& place) {
  EXPECT_EQ(place.rank, 5);
  EXPECT_EQ(place.size, 8);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.local_size, 4);
  EXPECT_EQ(place.master_host, "gpu003");
}

TEST(Bootstrap, TakesThePlaceThatSlurmSays) {
  const auto place = place_from_environment(slurm_step());
  ASSERT_TRUE(place.has_value() && place->has_value());
  expect_sixth_of_eight(**place);
  EXPECT_GE((*place)->master_port, 15000);
  EXPECT_LT((*place)->master_port, 30000);
  Environment next = slurm_step();
  next["SLURM_STEP_ID"] = "3";
  EXPECT_NE((*place_from_environment(next))->master_port, (*place)->master_port);
  Environment elsewhere = slurm_step();
  elsewhere["SLURM_CLUSTER_NAME"] = "other";
  EXPECT_NE((*place_from_environment(elsewhere))->master_port, (*place)->master_port);
}

TEST(Bootstrap, MasterVariablesOutrankWhatIsDerived) {
  Environment environment = slurm_step();
  environment["MASTER_ADDR"] = "10.0.0.7";
  environment["MASTER_PORT"] = "29500";
  const auto place = place_from_environment(environment);
  EXPECT_EQ((*place)->master_host, "10.0.0.7");
  EXPECT_EQ((*place)->master_port, 29500);
}

TEST(Bootstrap, IsToldHowLongTheRanksMayTake) {
  Environment environment = slurm_step();
  EXPECT_FALSE((*place_from_environment(environment))->rendezvous_wait.has_value());
  environment["LLMB_RENDEZVOUS_WAIT_S"] = "3600";
  EXPECT_EQ((*place_from_environment(environment))->rendezvous_wait, std::chrono::hours(1));
  environment["LLMB_RENDEZVOUS_WAIT_S"] = "long";
  EXPECT_THAT(place_from_environment(environment).error().message,
              HasSubstr("LLMB_RENDEZVOUS_WAIT_S=long is no number"));
}

TEST(Bootstrap, KnowsOtherLaunchersAndNone) {
  EXPECT_FALSE(place_from_environment({})->has_value());
  const auto place = place_from_environment(
      {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "29500"}});
  EXPECT_EQ((*place)->rank, 1);
  EXPECT_EQ((*place)->size, 2);
  EXPECT_EQ((*place)->local_size, 2) << "where nothing is said, all are on this host";
}

// As torchrun's workers have them: here the second of four on the second of two nodes.
Environment torchrun_worker() {
  return {{"RANK", "5"},
          {"WORLD_SIZE", "8"},
          {"LOCAL_RANK", "1"},
          {"LOCAL_WORLD_SIZE", "4"},
          {"MASTER_ADDR", "gpu003"},
          {"MASTER_PORT", "29500"},
          {"GROUP_WORLD_SIZE", "2"},
          {"TORCHELASTIC_RUN_ID", "none"},
          {"TORCHELASTIC_USE_AGENT_STORE", "False"}};
}

void expect_torchruns_place(const Environment& environment) {
  const auto place = place_from_environment(environment);
  ASSERT_TRUE(place.has_value() && place->has_value());
  expect_sixth_of_eight(**place);
  EXPECT_EQ((*place)->master_port, 29500);
}

// Which has the variables of its first task.
TEST(Bootstrap, TakesTorchrunsPlaceInABatchScript) {
  Environment environment = torchrun_worker();
  expect_torchruns_place(environment);
  for (const auto& [name, value] : {std::pair("SLURM_PROCID", "0"),
                                    {"SLURM_LOCALID", "0"},
                                    {"SLURM_NTASKS", "2"},
                                    {"SLURM_JOB_ID", "4711"}}) {
    environment[name] = value;
  }
  expect_torchruns_place(environment);
  environment.erase("TORCHELASTIC_RUN_ID");  // another launcher's
  expect_torchruns_place(environment);
}

TEST(Bootstrap, TakesTorchrunsPlaceWhereItIsTheOneTaskOfANode) {
  Environment environment = slurm_step();
  environment["SLURM_PROCID"] = "1";
  environment["SLURM_STEP_NUM_TASKS"] = environment["SLURM_NTASKS"] = "2";
  environment["SLURM_LOCALID"] = "0";
  environment["SLURM_STEP_TASKS_PER_NODE"] = "1(x2)";
  environment.merge(torchrun_worker());
  expect_torchruns_place(environment);
}

TEST(Bootstrap, LeavesSlurmsTasksTheirPlaceWhereOtherVariablesAreLeftOver) {
  Environment environment = slurm_step();
  environment["RANK"] = environment["LOCAL_RANK"] = "0";
  environment["WORLD_SIZE"] = "1";
  const auto place = place_from_environment(environment);
  EXPECT_EQ((*place)->rank, 5);
  EXPECT_EQ((*place)->size, 8);
  EXPECT_EQ((*place)->local_rank, 1);
}

TEST(Bootstrap, LeavesSlurmsTasksTheirPlaceWhereATorchrunSubmittedTheJob) {
  Environment environment = slurm_step();
  environment.merge(torchrun_worker());
  environment["RANK"] = "0";
  const auto place = place_from_environment(environment);
  EXPECT_EQ((*place)->rank, 5);
  EXPECT_EQ((*place)->size, 8);
}

TEST(Bootstrap, LeavesTorchrunThePortThatItListensAt) {
  Environment environment = torchrun_worker();
  environment["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  const int port = (*place_from_environment(environment))->master_port;
  EXPECT_NE(port, 29500);
  EXPECT_GE(port, 15000);
  EXPECT_LT(port, 30000);
  Environment other_node = environment;
  other_node["RANK"] = other_node["LOCAL_RANK"] = "0";
  EXPECT_EQ((*place_from_environment(other_node))->master_port, port);
  environment["MASTER_PORT"] = "29501";  // another job's on this machine
  EXPECT_NE((*place_from_environment(environment))->master_port, port);
}

TEST(Bootstrap, ReadsTheTasksOfEachNode) {
  EXPECT_EQ(tasks_on_node("4(x2),3", 0), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 1), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 2), 3);
  EXPECT_EQ(tasks_on_node("8", 0), 8);
  for (const char* list : {"", "4", "x", "4(x", "4(x)", "4(y2)", ",", "-1(x2)"}) {
    EXPECT_EQ(tasks_on_node(list, 1), std::nullopt) << list;
  }
}

// In a batch script SLURM_PROCID is 0 and SLURM_NTASKS that of the job, but no other task runs.
TEST(Bootstrap, DoesNotTakeABatchScriptForATask) {
  Environment environment = slurm_step();
  environment.erase("SLURM_STEP_ID");
  EXPECT_FALSE(place_from_environment(environment)->has_value());
}

// As salloc's shell has it (SLURM_INTERACTIVE_STEP), and whoever is told "no step" (NO_VAL).
TEST(Bootstrap, DoesNotTakeASpecialStepForOneWithTasks) {
  Environment environment = slurm_step();
  for (const char* step : {"4294967290", "4294967294"}) {
    environment["SLURM_STEP_ID"] = environment["SLURM_STEPID"] = step;
    const auto place = place_from_environment(environment);
    ASSERT_TRUE(place.has_value()) << place.error().message;
    EXPECT_FALSE(place->has_value()) << step;
  }
  environment["SLURM_STEP_ID"] = "2147483648";
  EXPECT_EQ((*place_from_environment(environment))->rank, 5);
  for (const char* step : {"4294967296", "-1", "batch"}) {
    environment["SLURM_STEP_ID"] = step;
    EXPECT_THAT(place_from_environment(environment).error().message, HasSubstr("is no number"));
  }
}

TEST(Bootstrap, RefusesWhatContradictsItself) {
  Environment environment = slurm_step();
  environment["SLURM_PROCID"] = "8";
  EXPECT_THAT(place_from_environment(environment).error().message, HasSubstr("rank 8 of 8"));
  environment["SLURM_PROCID"] = "x";
  EXPECT_THAT(place_from_environment(environment).error().message, HasSubstr("SLURM_PROCID=x"));
  environment = slurm_step();
  environment.erase("SLURM_STEP_NODELIST");
  EXPECT_THAT(place_from_environment(environment).error().message, HasSubstr("MASTER_ADDR"));
}

TEST(Bootstrap, ReadsTheFirstHostOfANodeList) {
  EXPECT_EQ(first_host("node7"), "node7");
  EXPECT_EQ(first_host("node7,node9"), "node7");
  EXPECT_EQ(first_host("gpu[03-05,9],login"), "gpu03");
  EXPECT_EQ(first_host("gpu[9,11]"), "gpu9");
  EXPECT_EQ(first_host("rack[2-3]n[08-09]"), "rack2n08");
  EXPECT_EQ(first_host("r[1-2]-ib,x"), "r1-ib");
  EXPECT_EQ(first_host(""), "");
}

}  // namespace
}  // namespace llmb::runner
