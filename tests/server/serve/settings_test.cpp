// The configuration file, listening addresses, and which trees are watched.
#include <gtest/gtest.h>

#include <filesystem>

#include "server/cli/listen_address.h"
#include "server/cli/serve_settings.h"
#include "server/cli/watched_trees.h"
#include "server/http/server_options.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

namespace fs = std::filesystem;

std::string complaint(const std::string& yaml) {
  try {
    parse_serve_configuration(yaml, "/etc/llmb.yaml");
  } catch (const BadConfiguration& error) {
    return error.what();
  }
  return "";
}

TEST(ServeConfiguration, ReadsEveryKeyOfItsHelp) {
  std::string help = configuration_help();
  help.erase(0, help.find('\n') + 1);
  const ServeSettings settings = parse_serve_configuration(help, "/etc/llmb.yaml");
  ASSERT_EQ(settings.roots.size(), 2U);
  EXPECT_EQ(settings.roots[0].path, "/lustre/llmb/workloads/pretrain_grok1");
  EXPECT_EQ(settings.roots[0].cluster, "eos");
  EXPECT_EQ(settings.roots[0].gpu_type, "h100");
  EXPECT_EQ(settings.roots[1].path, "/home/me/experiments");
  EXPECT_EQ(settings.listen, "127.0.0.1:8642");
  EXPECT_EQ(settings.database, "/var/lib/llmb-report/llmb-report.db");
  EXPECT_EQ(settings.tls_certificate_file, "/etc/server.pem");
  EXPECT_EQ(settings.tls_key_file, "/etc/server.key");
  EXPECT_EQ(settings.behind_proxy, false);
  EXPECT_EQ(settings.receive, false);
  EXPECT_EQ(settings.read_only, false);
  EXPECT_EQ(settings.stand_by, false);
  EXPECT_EQ(settings.anew, false);
  EXPECT_EQ(settings.allowed_hosts, std::vector<std::string>{"report.example.org"});
  EXPECT_EQ(settings.allow_network_file_system, false);
  EXPECT_EQ(settings.http_threads, 2);
  EXPECT_EQ(settings.reader_threads, 2);
  EXPECT_EQ(settings.connections_max, static_cast<int>(http::ServerOptions().connections_max));
  EXPECT_EQ(settings.open_files_max, 256);
  EXPECT_EQ(settings.metadata_operations_per_s_max, 2000);
  ASSERT_EQ(settings.retention.size(), 3U);
  EXPECT_EQ(settings.retention[0].older_than, "2y");
  EXPECT_EQ(settings.retention[0].cluster, "eos");
  EXPECT_TRUE(settings.retention[1].gone);
  EXPECT_TRUE(settings.retention[2].log_text);
  ASSERT_TRUE(settings.cluster);
  EXPECT_EQ(settings.cluster->settings.name, "eos");
  EXPECT_EQ(settings.cluster->submitters, (std::vector<std::string>{"ci", "alice"}));
  EXPECT_EQ(settings.cluster->settings.slurm.at("partition"), "batch");
}

TEST(ServeConfiguration, RefusesARetentionThatWouldRemoveEverythingOrNothing) {
  EXPECT_NE(complaint("retention:\n- {log_text: true}\n")
                .find("/etc/llmb.yaml:2: an entry of "
                      "retention: it is not said which"),
            std::string::npos);
  EXPECT_NE(complaint("retention:\n- {older_than: soon}\n").find("'soon' is no age"),
            std::string::npos);
  EXPECT_NE(complaint("retention:\n- {older: 3d}\n").find("unknown key 'older'"),
            std::string::npos);
}

TEST(ServeConfiguration, ReadsEveryKeyOfTheClustersHelp) {
  std::string help(kClusterHelp);
  help.erase(0, help.find('\n') + 1);
  const ServeSettings settings = parse_serve_configuration(help, "/etc/llmb.yaml");
  ASSERT_TRUE(settings.cluster);
  const dispatch::ClusterSettings& cluster = settings.cluster->settings;
  EXPECT_EQ(cluster.workload_folder, "/lustre/llmb/workloads/pretrain_grok1");
  EXPECT_EQ(cluster.slurm.at("exclusive"), "");
  EXPECT_EQ(cluster.gpus_per_node, 4);
  EXPECT_EQ(cluster.launch_scripts.count("pretrain_grok1"), 1U);
  EXPECT_EQ(cluster.environment.at("NCCL_IB_HCA"), "mlx5");
  EXPECT_EQ(cluster.environment_allowed.count("MY_FABRIC_SETTING"), 1U);
  EXPECT_EQ(cluster.command_deadline, std::chrono::seconds(20));
}

TEST(ServeConfiguration, RefusesWhatAClusterCannotHave) {
  EXPECT_NE(complaint("cluster: {}\n").find("the cluster has no 'name'"), std::string::npos);
  EXPECT_NE(complaint("cluster:\n  name: a\n  slurm: {wrap: id}\n").find("'wrap'"),
            std::string::npos);
  EXPECT_NE(complaint("cluster:\n  name: a\n  poll_interval_s: 0\n").find(":3: "),
            std::string::npos);
}

TEST(ServeConfiguration, NamesFileLineAndKeyOfWhatItRefuses) {
  EXPECT_EQ(complaint(""), "");
  EXPECT_EQ(complaint("# nothing\n"), "");
  EXPECT_NE(complaint("listen: x\nport: 80\n")
                .find("/etc/llmb.yaml:2: unknown key 'port' in the configuration; known: roots"),
            std::string::npos);
  EXPECT_NE(complaint("db: a\ndb: b\n").find(":2: key 'db' is there twice"), std::string::npos);
  EXPECT_NE(complaint("roots:\n  - path: /a\n    clutser: x\n").find(":3: unknown key 'clutser'"),
            std::string::npos);
  EXPECT_NE(complaint("roots:\n  - cluster: x\n").find("no 'path'"), std::string::npos);
  EXPECT_NE(complaint("roots: /a\n").find("list"), std::string::npos);
  EXPECT_NE(complaint("behind_proxy: maybe\n").find("true or false"), std::string::npos);
  EXPECT_NE(complaint("limits:\n  http_threads: 0\n")
                .find(":2: 'http_threads' has to be a whole "
                      "number from 1 to 64"),
            std::string::npos);
  EXPECT_NE(complaint("limits:\n  http_threads: 99999999999999999999\n").find("whole number"),
            std::string::npos);
  EXPECT_NE(complaint("roots: [\n").find("not valid YAML"), std::string::npos);
  EXPECT_NE(complaint("- a\n").find("key: value"), std::string::npos);
}

TEST(ServeSettings, PreferTheFirstSource) {
  ServeSettings command_line;
  command_line.listen = "127.0.0.1:1";
  ServeSettings file;
  file.listen = "127.0.0.1:2";
  file.database = "file.db";
  file.roots = {{"/a", "eos"}};
  const ServeSettings both = first_of(command_line, file);
  EXPECT_EQ(both.listen, "127.0.0.1:1");
  EXPECT_EQ(both.database, "file.db");
  EXPECT_EQ(both.roots.size(), 1U);
  EXPECT_FALSE(both.http_threads);
}

TEST(ListenAddress, IsReadAsPeopleWriteIt) {
  const auto parsed = [](std::string_view text) { return parse_listen_address(text).value(); };
  EXPECT_EQ(parsed("127.0.0.1:80"), (ListenAddress{"127.0.0.1", 80}));
  EXPECT_EQ(parsed("[::1]:0"), (ListenAddress{"::1", 0}));
  EXPECT_EQ(parsed("::1"), (ListenAddress{"::1", 8642}));
  EXPECT_EQ(parsed("[::]"), (ListenAddress{"::", 8642}));
  EXPECT_EQ(parsed("9000"), (ListenAddress{"127.0.0.1", 9000}));
  EXPECT_EQ(parsed("localhost"), (ListenAddress{"localhost", 8642}));
  for (const char* text : {"", ":80", "a:", "a:b", "a:65536", "a:-1", "[::1", "[]:1", "[::1]80"}) {
    EXPECT_FALSE(parse_listen_address(text)) << text;
  }
  EXPECT_EQ(to_string(ListenAddress{"::1", 80}), "[::1]:80");
}

class WatchedTrees : public ::testing::Test {
 protected:
  std::vector<std::string> chosen(const std::vector<std::string>& names,
                                  const std::string& of_jobs = "") {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back((folder_ / name).string());
    notes_.clear();
    std::vector<std::string> result;
    std::optional<ingest::RootOptions> jobs_root;
    if (!of_jobs.empty()) jobs_root = {(folder_ / of_jobs).string(), "eos"};
    for (const auto& root : choose_roots(roots_at(paths), notes_, jobs_root)) {
      result.push_back(fs::path(root.path).lexically_relative(folder_).string());
    }
    return result;
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  std::vector<std::string> notes_;
};

TEST_F(WatchedTrees, AreEachReadOnce) {
  fs::create_directories(folder_ / "a/experiments");
  fs::create_directories(folder_ / "ab");
  fs::create_directory_symlink(folder_ / "a", folder_ / "link");
  using Names = std::vector<std::string>;
  EXPECT_EQ(chosen({"a", "ab"}), (Names{"a", "ab"}));
  EXPECT_EQ(chosen({"a/experiments", "a"}), (Names{"a"}));
  EXPECT_EQ(chosen({"a", "a"}), (Names{"a"}));
  EXPECT_EQ(notes_.size(), 1U);
  EXPECT_EQ(chosen({"a", "link"}), (Names{"a"}));
  EXPECT_EQ(chosen({"missing", "missing/experiments"}), (Names{"missing"}));
}

TEST_F(WatchedTrees, HoldWhereJobsRunAndNotTwice) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(chosen({"a"}, "jobs"), (Names{"a", "jobs"}));
  EXPECT_EQ(chosen({"a"}, "a"), (Names{"a"}));
  EXPECT_EQ(chosen({"a"}, "a/jobs"), (Names{"a"}));
  EXPECT_TRUE(notes_.empty()) << "nobody named it, so nobody has to be told";
  EXPECT_EQ(chosen({"jobs/experiments"}, "jobs"), (Names{"jobs"}));
  EXPECT_EQ(notes_.size(), 1U);
  std::vector<std::string> notes;
  const auto only =
      choose_roots({}, notes, ingest::RootOptions{(folder_ / "jobs").string(), "eos"});
  ASSERT_EQ(only.size(), 1U);
  EXPECT_EQ(only[0].cluster, "eos");
}

TEST_F(WatchedTrees, FollowALinkInThePlaceOfExperiments) {
  fs::create_directories(folder_ / "w");
  fs::create_directories(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "w/experiments");
  EXPECT_EQ(chosen({"w"}), (std::vector<std::string>{"w", "w/experiments"}));
}

}  // namespace
}  // namespace llmb::cli
