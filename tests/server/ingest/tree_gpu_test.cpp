// The GPU of a tree's runs where neither log, name nor llmb-config says it: that of the root.
#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

const std::string kBridgeName =
    "pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64";
const std::string kBridgeLaunch = "experiments/" + kBridgeName + "/" + kBridgeName + "_1751000000/";
const std::string kBridgeLog =
    kBridgeLaunch + kBridgeName + "/log-acct." + kBridgeName + "_4711_0.out";

class TreeGpu : public TreeTest {
 protected:
  void ingest_with(const std::string& gpu_type) {
    IngestOptions with = options();
    for (RootOptions& root : with.roots) root.gpu_type = gpu_type;
    ingest_once(std::move(with));
  }
  // An empty one where nobody says it.
  parser::ConfigValue gpu_type() {
    return run_of(kBridgeLog)->configuration.get("gpu_type").value_or(parser::ConfigValue{});
  }
};

TEST_F(TreeGpu, IsThatOfItsRunsWhereNothingElseSaysIt) {
  write(kBridgeLog, nemo_lines(0, 50));
  ingest_with("h100");
  EXPECT_EQ(gpu_type(), (parser::ConfigValue{"h100", parser::ConfigSource::path}));
}

TEST_F(TreeGpu, ReachesRunsThatWereReadWithoutIt) {
  write(kBridgeLog, nemo_lines(0, 50));
  set_age(kBridgeLog, std::chrono::hours(1));
  ingest_with("");
  const auto before = *run_of(kBridgeLog);
  EXPECT_EQ(gpu_type().value, "");
  ingest_with("h100");
  EXPECT_EQ(gpu_type().value, "h100");
  EXPECT_EQ(run_of(kBridgeLog)->id, before.id);
  EXPECT_EQ(run_of(kBridgeLog)->step_count, before.step_count);
  const auto revision = run_of(kBridgeLog)->revision;
  ingest_with("h100");
  EXPECT_EQ(run_of(kBridgeLog)->revision, revision) << "as it was";
  ingest_with("b200");
  EXPECT_EQ(gpu_type().value, "b200");
  ingest_with("");
  EXPECT_EQ(gpu_type().value, "b200") << "as it was read";
}

TEST_F(TreeGpu, IsLessThanWhatAnLlmbConfigSays) {
  const std::string config = kBridgeLaunch + "llmb-config_4711.yaml";
  write(kBridgeLog, nemo_lines(0, 50));
  ingest_with("h100");
  write(config, "model_info:\n  gpu_type: gb200\n");
  ingest_with("h100");
  EXPECT_EQ(gpu_type(), (parser::ConfigValue{"gb200", parser::ConfigSource::llmb_config}));
}

}  // namespace
}  // namespace llmb::ingest
