// Two thousand submissions that try to be more than a submission, against the real sbatch: no extra
// argument, header line, file or environment variable comes of any, and every refusal says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "parser/catalog/catalog.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/send_queue.h"
#include "server/dispatch/text_check.h"
#include "storage/job_store.h"
#include "tests/slurm/test_cluster.h"

namespace llmb::slurm_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::size_t kInputs = 2'000;
// Each costs a process or two; the argv and script of the others are looked at only.
constexpr std::size_t kSubmittedMax = 60;

class HostileInput : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster_ = TestCluster::get("accounting");
    if (cluster_ == nullptr) GTEST_SKIP() << "there is no Slurm here: see the test slurm.up";
    folder_ = cluster_->folder() / "hostile";
    fs::create_directories(folder_ / "workload");
    storage::OpenOptions options;
    options.path = (folder_ / "jobs.db").string();
    options.allow_network_file_system = true;
    store_ = std::make_unique<storage::JobStore>(options);
    settings_.name = "hostile";
    settings_.workload_folder = (folder_ / "workload").string();
    settings_.runner = LLMB_BINARY_DIR "/bin/llmb-step-runner";
    settings_.backend = "cpu";
    settings_.gpus_per_node = 4;
    settings_.gpu_type = "h100";
    settings_.slurm_conf = (cluster_->cluster_folder() / "slurm.conf").string();
    settings_.environment_allowed = {"ANYTHING"};
    canary_ = (folder_ / "canary").string();
  }

  // What is put where a word is expected.
  std::vector<std::string> payloads() const {
    const std::string touch = "touch " + canary_;
    return {"\n#SBATCH --output=" + canary_,
            "x\n" + touch,
            "x\r\n" + touch,
            "; " + touch,
            "$(" + touch + ")",
            "`" + touch + "`",
            "' ; " + touch + " ; '",
            "\" ; " + touch + " ; \"",
            "--wrap=" + touch,
            "--output=" + canary_,
            "-o" + canary_,
            "-",
            "--",
            std::string("a\0b", 3),
            "a\037b",
            "a|b|c",
            "\x1b[31mred",
            "\xff\xfe",
            "%j/../../" + canary_,
            "../../" + canary_,
            "a b",
            " a",
            "a ",
            "a=b,c=d",
            "ALL,LD_PRELOAD=" + canary_,
            "*",
            "~root",
            "${PATH}",
            "!!",
            "\\",
            "'",
            "\"",
            "''",
            "EOF\n" + touch + "\nEOF",
            "END_OF_LLMB_CONFIG\n" + touch,
            "é",
            "node1,node2\t",
            "1;" + touch,
            "1 --wrap=x",
            std::string(4'000, 'a'),
            std::string(std::size_t{1024} * 1024, 'a'),
            ""};
  }

  static json base() {
    return {{"workload", "pretrain_nemotron4"},
            {"model_size", "15b"},
            {"dtype", "bf16"},
            {"scale", 8},
            {"proxy", true},
            {"runner_options", {{"steps", 1}}},
            {"slurm", {{"hold", true}}}};
  }

  // The payload in one of the places that take text.
  static json submission_with(std::size_t place, const std::string& payload) {
    json submission = base();
    static const std::vector<std::string> keys = {"workload",
                                                  "model_size",
                                                  "dtype",
                                                  "gpu_type",
                                                  "launcher",
                                                  "backend",
                                                  "load_checkpoint_path",
                                                  "additional_slurm_params"};
    static const std::vector<std::string> slurm = {
        "account",     "partition", "nodelist",      "exclude",  "constraint", "qos",       "time",
        "reservation", "gres",      "gpus-per-node", "licenses", "dependency", "mail-user", "nice",
        "segment",     "begin",     "wckey",         "signal",   "mem"};
    if (place < keys.size()) {
      submission[keys[place]] = payload;
      return submission;
    }
    place -= keys.size();
    if (place < slurm.size()) {
      submission["slurm"][slurm[place]] = payload;
      return submission;
    }
    place -= slurm.size();
    if (place < 6) {  // twice as often: these reach the job
      submission["environment"][place % 2 == 0 ? "ANYTHING" : "NCCL_DEBUG"] = payload;
    } else if (place == 6) {
      submission["environment"][payload] = "x";
    } else if (place == 7) {
      submission["slurm"][payload] = "x";
    } else if (place == 8) {
      submission["runner_options"][payload] = 1;
    } else {
      submission[payload] = payload;
    }
    return submission;
  }
  static constexpr std::size_t kPlaces = 8 + 19 + 10;

  TestCluster* cluster_ = nullptr;
  fs::path folder_;
  std::string canary_;
  std::unique_ptr<storage::JobStore> store_;
  dispatch::ClusterSettings settings_;
};

void expect_clean(const dispatch::DryRun& run) {
  const auto& words = run.arguments;
  ASSERT_GE(words.size(), 3U);
  EXPECT_EQ(words.front(), "sbatch");
  EXPECT_EQ(words.back(), run.place.script_file);
  static const std::set<std::string> never = {"--wrap",  "--export-file", "--get-user-env",
                                              "--uid",   "--gid",         "--prolog",
                                              "--bcast", "--burst-buffer"};
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    EXPECT_THAT(words[i], StartsWith("--"));
    EXPECT_FALSE(never.contains(words[i].substr(0, words[i].find('=')))) << words[i];
    EXPECT_TRUE(dispatch::is_printable(words[i]));
  }
  EXPECT_THAT(run.script, Not(HasSubstr("#SBATCH")));
  EXPECT_EQ(run.script.find('\0'), std::string::npos);
}

TEST_F(HostileInput, StaysInputAndIsMostlyRefused) {
  dispatch::RunnerProbe runner(settings_);
  dispatch::Dispatcher dispatcher(settings_, parser::embedded_catalog(), *store_, runner);
  dispatch::JobSender sender(settings_, parser::embedded_catalog(), *store_, runner);
  std::mt19937 random(20251121);
  const auto pick = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  const std::vector<std::string> all = payloads();
  std::size_t refused = 0;
  std::size_t accepted = 0;
  std::vector<storage::JobRecord> submitted;
  for (std::size_t i = 0; i < kInputs; ++i) {
    // Every payload in every place once, then two of them glued together.
    std::string payload = all[i % all.size()];
    if (i >= all.size() * kPlaces) payload += all[pick(all.size() - 2)];
    const json input = submission_with(i / all.size() % kPlaces, payload);
    const std::string text = input.dump(-1, ' ', false, json::error_handler_t::ignore);
    const auto submissions = dispatch::parse_submissions(text);
    const auto planned =
        submissions ? dispatcher.dry_run(*submissions) : tl::make_unexpected(submissions.error());
    if (!planned) {
      ++refused;
      ASSERT_FALSE(planned.error().message.empty()) << text;
      ASSERT_LT(planned.error().message.size(), 4'000U) << text;
      continue;
    }
    ++accepted;
    for (const dispatch::DryRun& run : *planned) expect_clean(run);
    if (submitted.size() >= kSubmittedMax) continue;
    auto outcome = dispatcher.submit({*submissions, "hostile", "", false, {}});
    dispatch::send_all(sender, outcome);
    submitted.insert(submitted.end(), outcome.jobs.begin(), outcome.jobs.end());
    EXPECT_TRUE(!outcome.refusal || !outcome.refusal->message.empty()) << text;
    if (HasFailure()) FAIL() << "of " << text.substr(0, 2'000);
  }
  RecordProperty("refused", static_cast<int>(refused));
  RecordProperty("accepted", static_cast<int>(accepted));
  EXPECT_GT(refused, kInputs / 2);
  EXPECT_GT(accepted, 10U);

  // Slurm's own view of those that it took.
  const CommandAnswer queue = cluster_->slurm({"squeue", "--json"});
  const json listed = json::parse(queue.output, nullptr, false);
  ASSERT_TRUE(listed.is_object()) << queue.output << queue.errors;
  std::size_t seen = 0;
  for (const storage::JobRecord& job : submitted) {
    if (!job.job_id) {
      EXPECT_FALSE(job.trouble.empty());
      EXPECT_FALSE(fs::exists(job.run_folder));
      continue;
    }
    for (const json& entry : listed["jobs"]) {
      if (entry["job_id"] != *job.job_id) continue;
      ++seen;
      EXPECT_EQ(entry["comment"], job.submission_id);
      EXPECT_EQ(entry["current_working_directory"], job.run_folder);
      EXPECT_THAT(entry["standard_output"].get<std::string>(), StartsWith(job.run_folder + "/"));
      EXPECT_THAT(entry["name"].get<std::string>(), HasSubstr(job.experiment));
    }
    EXPECT_EQ(cluster_->slurm({"scancel", std::to_string(*job.job_id)}).exit_code, 0);
  }
  EXPECT_GT(seen, 3U);
  EXPECT_FALSE(fs::exists(canary_));
}

// What is allowed as a value reaches the job as that value, and nothing of it is run.
TEST_F(HostileInput, ReachesTheJobAsAValueOnly) {
  const std::string value = "'; touch " + canary_ + "; $(touch " + canary_ + ") \"`id`\" --wrap=x";
  json input = base();
  input["slurm"] = json::object();
  input["environment"]["ANYTHING"] = value;
  const auto submissions = dispatch::parse_submissions(input.dump());
  ASSERT_TRUE(submissions.has_value()) << submissions.error().message;
  // A runner that prints what it got.
  const fs::path printer = folder_ / "printer";
  std::ofstream(printer) << "#!/bin/bash\nprintf 'ANYTHING=%s\\n' \"$ANYTHING\"\n"
                         << "printf 'arguments=%s\\n' \"$#\"\n"
                         << "printf 'FROM_OUTSIDE=%s\\n' \"${FROM_OUTSIDE-none}\"\n";
  fs::permissions(printer, fs::perms::owner_all);
  settings_.runner = printer.string();
  ASSERT_EQ(setenv("FROM_OUTSIDE", "leaked", 1), 0);
  dispatch::RunnerProbe runner(settings_);
  dispatch::Dispatcher dispatcher(settings_, parser::embedded_catalog(), *store_, runner);
  dispatch::JobSender sender(settings_, parser::embedded_catalog(), *store_, runner);
  auto outcome = dispatcher.submit({*submissions, "hostile", "", false, {}});
  dispatch::send_all(sender, outcome);
  unsetenv("FROM_OUTSIDE");
  ASSERT_FALSE(outcome.refusal.has_value()) << outcome.refusal->message;
  const storage::JobRecord& job = outcome.jobs.front();
  const std::string log =
      job.run_folder + "/log-" + job.experiment + "_" + std::to_string(*job.job_id) + "_0.out";
  std::string text;
  EXPECT_TRUE(wait_until([&] {
    std::ifstream file(log);
    text.assign(std::istreambuf_iterator<char>(file), {});
    return text.find("FROM_OUTSIDE") != std::string::npos;
  })) << log;
  EXPECT_THAT(text, HasSubstr("ANYTHING=" + value + "\n"));
  EXPECT_THAT(text, HasSubstr("FROM_OUTSIDE=none\n"));
  EXPECT_FALSE(fs::exists(canary_));
}

TEST_F(HostileInput, IsRefusedByTheApiAndTheCommandLine) {
  const json before = cluster_->get_json("/api/v1/jobs");
  for (const std::string& payload : payloads()) {
    json input = base();
    input["model_size"] = payload;
    const std::string body = input.dump(-1, ' ', false, json::error_handler_t::ignore);
    const int status = cluster_->ask("POST", "/api/v1/jobs", body).status;
    // Of a megabyte the server reads the head only, and may close before all of it is sent.
    const bool is_long = payload.size() > 200'000;
    EXPECT_TRUE(status == 400 || (is_long && (status == 413 || status == 0)))
        << status << " for " << body.substr(0, 200);
    if (is_long || payload.find('\0') != std::string::npos) continue;  // no argument can be so
    const CommandAnswer answer =
        cluster_->report({"submit", "-w", "pretrain_nemotron4", "--dtype", "bf16", "--scale", "8",
                          "--model-size=" + payload});
    EXPECT_EQ(answer.exit_code, 2) << payload << answer.output;
    EXPECT_FALSE(answer.errors.empty()) << payload;
  }
  EXPECT_EQ(cluster_->get_json("/api/v1/jobs"), before);
  EXPECT_FALSE(fs::exists(canary_));
}

// The runner's own rules for layouts hold before a node is asked for.
TEST_F(HostileInput, ALayoutThatTheRunnerRefusesReachesNoQueue) {
  const auto newest = [&] { return cluster_->get_json("/api/v1/jobs?limit=1")["jobs"].dump(); };
  const std::string before = newest();
  const CommandAnswer refused =
      cluster_->report({"submit", "-w", "nemotron4", "-s", "15b", "--dtype", "bf16", "--scale",
                        "16", "--proxy", "--set", "tp=3"});
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_THAT(refused.errors, HasSubstr("llmb-step-runner refuses it: tp 3 "));
  EXPECT_EQ(newest(), before);
}

}  // namespace
}  // namespace llmb::slurm_test
