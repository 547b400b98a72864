// deploy/examples/push-once.sh, as cron and Slurm's EpilogSlurmctld start it: the real script, the
// real program, a real server.
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "tests/server/serve/push_agent_fixture.h"

namespace llmb::cli {
namespace {

class PushExample : public PushAgentTest {
 protected:
  void write_settings(const std::string& roots) const {
    std::ofstream settings(settings_);
    settings << "PUSH_URL=http://127.0.0.1:" << port_ << "\nPUSH_TOKEN_FILE=" << token_file_
             << "\nPUSH_CLUSTER=eos\nPUSH_STATE=" << folder_.file("state")
             << "\nPUSH_OPTIONS=--allow-network-file-system\nLLMB_REPORT=" LLMB_REPORT_PROGRAM "\n";
    if (!roots.empty()) settings << "PUSH_ROOTS=\"" << roots << "\"\n";
  }

  int run(const std::string& shell) const {
    const int status = std::system((shell + " 2>>" + folder_.file("errors")).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string errors() const {
    std::ifstream file(folder_.file("errors"));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string settings_ = folder_.file("push.conf");
  const std::string script_ =
      "sh " LLMB_SOURCE_DIR "/deploy/examples/push-once.sh " + folder_.file("push.conf");
};

TEST_F(PushExample, SendsTheTreesAndWaitsForTheOneBeforeIt) {
  const std::string tree = LLMB_SOURCE_DIR "/deploy/sample-tree";
  const std::string other_tree = folder_.file("tree");
  std::filesystem::copy(tree, other_tree, std::filesystem::copy_options::recursive);
  write_settings(tree + " " + other_tree);
  EXPECT_EQ(run(script_ + " & first=$!; " + script_ + " && wait $first"), 0) << errors();
  const auto agent = storage::Reader(folder_.file("state/agent.db")).totals();
  EXPECT_EQ(storage::Reader(central()).roots().size(), 2U);
  EXPECT_GT(agent.runs, 60);
  EXPECT_EQ(stored().runs, agent.runs);
  EXPECT_EQ(stored().steps, agent.steps);
}

TEST_F(PushExample, FindsSettingsInTheFolderThatItIsStartedIn) {
  write_settings("");
  const std::string folder = std::filesystem::path(settings_).parent_path();
  EXPECT_EQ(
      run("cd " + folder + " && sh " LLMB_SOURCE_DIR "/deploy/examples/push-once.sh push.conf"), 2);
  EXPECT_NE(errors().find("push.conf sets no PUSH_ROOTS"), std::string::npos) << errors();
}

TEST_F(PushExample, NamesTheSettingThatIsMissing) {
  write_settings("");
  EXPECT_EQ(run(script_), 2);
  EXPECT_NE(errors().find("sets no PUSH_ROOTS"), std::string::npos) << errors();
}

}  // namespace
}  // namespace llmb::cli
