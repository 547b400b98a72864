// Which window ingest stores a run's statistics over: that of its recipe, as soon as it is known.
#include "tests/server/ingest/ingest_fixture.h"
#include "tests/storage/execute_sql.h"

namespace llmb::ingest {
namespace {

using parser::Window;

// Nemotron-4 15B on 32 GPUs: a row of the 25.04 document, which takes the last step.
const std::string kName = "pretrain_nemotron4_15b_bf16_gpus32_tp2_pp1_cp1_vpNone_mbs2_gbs128";
const std::string kLaunch = "experiments/" + kName + "/" + kName + "_1751000000/";
const std::string kWindowLog = kLaunch + kName + "/log-acct." + kName + "_4711_0.out";

class IngestWindow : public TreeTest {};

TEST_F(IngestWindow, IsThatOfTheRecipesDocument) {
  write(kWindowLog, nemo_lines(0, 50));
  set_age(kWindowLog, std::chrono::hours(1));
  ingest_once();
  const auto run = run_of(kWindowLog);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->summary.window, (Window{49, 49}));
  EXPECT_EQ(run->window_source, "nemotron4-25.04");
  EXPECT_EQ(run->summary.status, parser::RunStatus::complete);
  EXPECT_TRUE(run->summary.window_is_whole);
  ASSERT_TRUE(run->summary.step_time_s);
  EXPECT_EQ(run->summary.step_time_s->count, 1);
  EXPECT_NEAR(run->summary.step_time_s->mean, 7.549, 1e-9);
}

TEST_F(IngestWindow, IsTheSameForALogThatGrewAsForOneThatWasWhole) {
  write(kWindowLog, nemo_lines(0, 20));
  ingest_once();
  EXPECT_EQ(run_of(kWindowLog)->summary.window, (Window{19, 19}));
  append(kWindowLog, nemo_lines(20, 27));
  ingest_once();
  EXPECT_EQ(run_of(kWindowLog)->summary.window, (Window{46, 46}));
  append(kWindowLog, nemo_lines(47, 3));
  ingest_once();
  const auto grown = run_of(kWindowLog)->summary;
  EXPECT_EQ(grown.window, (Window{49, 49}));
  ASSERT_TRUE(grown.step_time_s);
  EXPECT_NEAR(grown.step_time_s->mean, 7.549, 1e-9);
}

// In a database from before that was kept, the next start looks at every log once more.
TEST_F(IngestWindow, SaysWhereItComesFromOfARunThatWasStoredWithoutIt) {
  write(kWindowLog, nemo_lines(0, 50));
  set_age(kWindowLog, std::chrono::hours(1));
  ingest_once();
  const auto before = *run_of(kWindowLog);
  storage::execute_sql(database_, "UPDATE run SET window_source = ''");
  ASSERT_EQ(run_of(kWindowLog)->window_source, "");
  ingest_once();
  const auto after = *run_of(kWindowLog);
  EXPECT_EQ(after.summary, before.summary);
  EXPECT_EQ(after.window_source, before.window_source);
  EXPECT_EQ(after.step_count, before.step_count);
  EXPECT_EQ(after.id, before.id);
}

TEST_F(IngestWindow, FollowsTheLlmbConfigThatComesLater) {
  write(kWindowLog, nemo_lines(0, 50));
  Ingest ingest(options(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] {
    const auto run = run_of(kWindowLog);
    return run && run->summary.window == Window{49, 49};
  }));
  write(kLaunch + "llmb-config_4711.yaml", "workload_info:\n  gsw_version: '25.08'\n");
  EXPECT_TRUE(eventually([&] {
    const auto run = *run_of(kWindowLog);
    return run.summary.window == Window{35, 44} && run.summary.step_time_s &&
           run.summary.step_time_s->count == 10 && run.window_source == "release 25.08";
  }));
}

TEST_F(IngestWindow, KnownConfigurationsAreNotStoredAgainAfterARestart) {
  write(kWindowLog, nemo_lines(0, 50));
  const std::string config = kLaunch + "llmb-config_4711.yaml";
  write(config, "workload_info:\n  gsw_version: '25.08'\n");
  ingest_once();
  ingest_once();
  const auto revision = run_of(kWindowLog)->revision;
  ingest_once();
  EXPECT_EQ(run_of(kWindowLog)->revision, revision);
  write(config, "workload_info:\n  gsw_version: '25.04'\n");
  ingest_once();
  EXPECT_GT(run_of(kWindowLog)->revision, revision);
}

}  // namespace
}  // namespace llmb::ingest
