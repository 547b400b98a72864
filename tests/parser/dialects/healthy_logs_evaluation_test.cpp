// The evaluation of healthy logs that look ill: which of them, cut at every tenth of their length,
// are called failed while they may still grow, and which when they have ended.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include "evaluated_log.h"
#include "labelled_logs.h"

namespace llmb::parser {
namespace {

// Runs that start, go on or have ended well, and print lines that look ill. README.md beside the
// sets says of each how it was judged at first sight.
struct HealthySet {
  const char* name;
  std::size_t misjudged_max;  // cuts and whole logs
};

constexpr auto kHealthySets = std::to_array<HealthySet>({
    {"ill_looking", 0},
    {"healthy_clusters", 0},
    {"healthy_recipes", 0},
    {"healthy_whole_runs", 0},
    // The two are of the half by which no rule was mended.
    {"healthy_survivors", 2},
    {"healthy_daily_runs", 4},
    {"healthy_everyday_runs", 0},
    // One that is cut between "preempted or failed" and "Recovered" counts as ended, and one before
    // its script's last word, where Slurm ended what went on beside the program.
    {"healthy_varied_runs", 3},
    // A step of Slurm's beside the program's that is cancelled when all is done, and a notice to go
    // before all was trained.
    {"healthy_mixed_stacks", 10},
    {"healthy_chatter", 0},
    {"healthy_attempts", 1},
    {"healthy_sites", 2},
    {"healthy_reported", 3},
    {"healthy_certification_runs", 0},
    // From here on most are cut where an attempt has ended that another one follows.
    {"healthy_recipes_at_sites", 5},
    {"healthy_many_stacks", 11},
    {"healthy_orchestrated_runs", 19},
    {"healthy_large_clusters", 1},
    {"healthy_recipe_teams", 0},
    {"healthy_research_groups", 2},
    {"healthy_framework_developers", 1},
    // Some by a fatal line that a model's sample quotes.
    {"healthy_night_operators", 5},
    {"healthy_bring_up_teams", 3},
    {"healthy_product_teams", 1},
    {"healthy_computing_centres", 0},
    {"healthy_reference_teams", 0},
    {"healthy_fleet_reliability", 3},
    {"healthy_ai_factories", 7},
    {"healthy_upgrade_weekends", 0},
    {"healthy_tenant_platforms", 2},
    {"healthy_inhouse_frameworks", 2},
    {"healthy_managed_services", 2},
    {"healthy_support_desks", 4},
    {"healthy_open_stack_teams", 7},
    {"healthy_recipe_runners", 1},
    {"healthy_fabric_and_storage", 0},
    // Ten of one whose only step that is read was skipped, with a gradient norm that is NaN.
    {"healthy_rl_post_training", 16},
    {"healthy_fine_tuners", 4},
    {"healthy_cluster_certifiers", 2},
    {"healthy_other_accelerators", 4},
    {"healthy_own_launchers", 2},
    {"healthy_mixed_sites", 5},
    {"healthy_moe_and_long_context", 3},
    {"healthy_spot_kubernetes", 7},
    {"healthy_long_pretraining", 8},
    {"healthy_university_centre", 2},
    {"healthy_startup_boxes", 3},
    {"healthy_multimodal_labs", 1},
    {"healthy_inhouse_tools", 1},
    {"healthy_issue_trackers", 6},
    {"healthy_rack_scale_recipes", 6},
    {"healthy_public_hubs", 3},
    {"healthy_platform_teams", 1},
    {"healthy_benchmark_operators", 1},
    {"healthy_operated_and_other", 0},
    // Their lines no dialect knows.
    {"healthy_home_made_trainers", 19},
    // Cuts behind the end of a step beside the program's, before it counts on for long.
    {"healthy_continued_runs", 6},
});

class HealthyLogs : public testing::TestWithParam<HealthySet> {};

// Whole, and cut at each tenth of their length. None may be called failed; one whose gradient norm
// was NaN is "invalid". A whole one that is labelled "completed", beside "restarted" or alone, has
// ended.
TEST_P(HealthyLogs, HaveNotFailedWhereverTheyAreCut) {
  const HealthySet& set = GetParam();
  int cuts = 0;
  std::string cause;
  std::vector<std::string> misjudged;
  const auto note = [&](const std::string& text, bool may_still_grow, const std::string& which) {
    const RunSummary summary = judge_text(text, may_still_grow);
    ++cuts;
    const bool is_invalid = summary.status == RunStatus::invalid && cause != "invalid";
    if (summary.status != RunStatus::failed && !is_invalid) return;
    misjudged.push_back(
        fmt::format("{} of one that is {}: {}", which, cause, summary.status_reason));
  };
  for (const LabelledLog& log : labelled_logs(set.name)) {
    cause = log.cause;
    // Cut between its attempts, one has failed.
    const std::size_t first = log.cause == "restarted" ? 10 : 1;
    for (std::size_t tenth = first; tenth <= 10; ++tenth) {
      note(log.text.substr(0, log.text.size() * tenth / 10), true, fmt::format("{} tenths", tenth));
    }
    const bool has_ended = log.cause == "completed" || log.acceptable == "completed";
    if (has_ended) note(log.text, false, "a whole one");
  }
  std::cout << fmt::format("{}: {} cuts, {} called failed\n", set.name, cuts, misjudged.size());
  for (const std::string& mistake : misjudged) std::cout << "  " << mistake << '\n';
  EXPECT_LE(misjudged.size(), set.misjudged_max);
}

INSTANTIATE_TEST_SUITE_P(Labelled, HealthyLogs, testing::ValuesIn(kHealthySets),
                         [](const auto& info) { return std::string(info.param.name); });

// A healthy log, as it grows and when it has ended.
TEST(CauseEvaluation, OfHealthyLogsCutAtEveryTenth) {
  constexpr auto kHarmless = std::to_array<const char*>(
      {"",
       "[rank3]:[W1222 15:12:01.1 Utils.hpp:106] Warning: Environment variable NCCL_X is "
       "deprecated",
       "WARNING: retrying after Connection reset by peer",
       "[NeMo W 2025-12-22 15:12:02 rerun:1] Unexpected result nan is tolerated, will retry",
       "urllib3.connectionpool - WARNING - Retrying (Retry(total=4)) after connection broken by "
       "'NameResolutionError': /api huggingface.co",
       "Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__ at 0x7f>",
       "node-1:811:902 [0] NCCL INFO NET/IB : No device found.",
       "2025-12-22 15:12:03 - INFO - on error: Disk quota exceeded is reported to the team",
       "+ echo 'slurmstepd: error: *** STEP 1.0 CANCELLED AT'",
       "node-1:811:902 [0] misc/ibvwrap.cc:63 NCCL WARN Failed to open libibverbs.so[.1]",
       "2025-12-22 15:12:01.631918: E external/xla/xla/stream_executor/cuda/cuda_driver.cc:397] "
       "failed call to cuInit: CUDA_ERROR_NO_DEVICE",
       "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0",
       "slurmstepd: error: TMPDIR [/scratch/user] is not writeable",
       "slurmstepd: error: Setting TMPDIR to /tmp",
       "DEBUG:DotProductAttention:Disabling FlashAttention 2 as it does not support MLA.",
       "libfabric:85:1747438790::core:core:fi_getinfo_():1392<warn> fi_getinfo: provider efa "
       "output "
       "empty list",
       "nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 12028, Non-fatal, Link 42 egress error",
       "Detected CUDA files, patching ldflags; Building extension module fused_adam...",
       "/etc/profile.d/modules.sh: line 3: module: command not found",
       "/home/u/.bashrc: line 9: /opt/site/setup.sh: No such file or directory",
       "slurmstepd: error: Failed to send MESSAGE_TASK_EXIT: Connection refused",
       "node-1:811:902 [0] NCCL WARN Missing \"iommu=pt\" from kernel command line",
       "Traceback (most recent call last):\n"
       "  File \"/opt/tracker/config.py\", line 7, in check_config\n"
       "KeyError: 'entity'\n\n"
       "During handling of the above exception, another exception occurred:\n\n"
       "Traceback (most recent call last):\n"
       "  File \"/opt/tracker/run.py\", line 9, in log\n"
       "RuntimeError: \n\n  logging goes on without it",
       "# FileNotFoundError: see the manual"});
  int cuts = 0;
  std::vector<std::string> misjudged;
  for (const char* const harmless : kHarmless) {
    const std::string text = kStartOfALog + harmless + "\n" + nemo_step_lines("", 25) + harmless +
                             "\n" + nemo_step_lines("", 50).substr(nemo_step_lines("", 25).size()) +
                             "[after training is done] datetime: 2025-12-22 15:32:24\n";
    for (int tenth = 1; tenth <= 10; ++tenth) {
      const RunSummary summary =
          judge_text(text.substr(0, text.size() * static_cast<std::size_t>(tenth) / 10), true);
      ++cuts;
      if (summary.status == RunStatus::failed || summary.status == RunStatus::invalid) {
        misjudged.push_back(
            fmt::format("{} tenths of '{}': {}", tenth, harmless, summary.status_reason));
      }
    }
    EXPECT_EQ(judge_text(text, false).status, RunStatus::complete) << harmless;
  }
  std::cout << fmt::format("healthy logs: {} cuts, {} called failed\n", cuts, misjudged.size());
  for (const std::string& mistake : misjudged) std::cout << "  " << mistake << '\n';
  EXPECT_TRUE(misjudged.empty());
}

}  // namespace
}  // namespace llmb::parser
