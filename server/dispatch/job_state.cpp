#include "server/dispatch/job_state.h"

#include <algorithm>
#include <array>
#include <utility>

namespace llmb::dispatch {
namespace {

// Slurm's base states and state flags, of 20.02 to 25.05. A flag outranks the base state that it
// comes with where it says that the job is not over, or how it goes on.
struct SlurmWord {
  std::string_view word;
  JobState state;
  int rank;  // the highest of a job's words counts
};
constexpr auto kWords = std::to_array<SlurmWord>({
    {"PENDING", JobState::pending, 1},          {"RUNNING", JobState::running, 1},
    {"SUSPENDED", JobState::suspended, 1},      {"COMPLETED", JobState::completed, 1},
    {"CANCELLED", JobState::cancelled, 1},      {"FAILED", JobState::failed, 1},
    {"TIMEOUT", JobState::timed_out, 1},        {"NODE_FAIL", JobState::node_failed, 1},
    {"PREEMPTED", JobState::preempted, 1},      {"BOOT_FAIL", JobState::boot_failed, 1},
    {"DEADLINE", JobState::deadline_passed, 1}, {"OUT_OF_MEMORY", JobState::out_of_memory, 1},
    {"REVOKED", JobState::cancelled, 1},        {"LAUNCH_FAILED", JobState::failed, 2},
    {"RECONFIG_FAIL", JobState::failed, 2},     {"UPDATE_DB", JobState::unknown, 0},
    {"EXPEDITING", JobState::pending, 0},       {"CONFIGURING", JobState::running, 2},
    {"POWER_UP_NODE", JobState::running, 2},    {"RESIZING", JobState::running, 2},
    {"SIGNALING", JobState::running, 2},        {"STAGE_OUT", JobState::completing, 3},
    {"STOPPED", JobState::suspended, 2},        {"COMPLETING", JobState::completing, 3},
    {"SPECIAL_EXIT", JobState::pending, 4},     {"REQUEUED", JobState::pending, 4},
    {"REQUEUE_FED", JobState::pending, 4},      {"REQUEUE_HOLD", JobState::pending, 4},
    {"RESV_DEL_HOLD", JobState::pending, 4},
});

constexpr auto kNeverStarts = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"PartitionConfig",
     "it asks for more than its partition allows; ask for less, or name another "
     "partition"},
    {"PartitionNodeLimit", "it asks for more nodes than its partition gives to one job"},
    {"PartitionTimeLimit", "its time limit is longer than its partition allows"},
    {"BadConstraints", "no node of the cluster meets its constraints"},
    {"InvalidAccount", "its account is not valid; name another"},
    {"InvalidQOS", "its QOS is not valid; name another"},
    {"AccountNotAllowed", "its account may not use this partition"},
    {"QOSNotAllowed", "its QOS may not be used here"},
    {"DependencyNeverSatisfied", "the job that it depends on did not end as it has to"},
    {"ReservationDeleted", "its reservation is gone"},
    {"QOSMaxNodePerJobLimit", "its QOS does not allow so many nodes in one job"},
    {"QOSMaxWallDurationPerJobLimit", "its QOS does not allow so long a time limit"},
    {"QOSMaxGRESPerJob", "its QOS does not allow so many GPUs in one job"},
    {"QOSMaxCpuPerJobLimit", "its QOS does not allow so many CPUs in one job"},
    {"AssocMaxNodePerJobLimit", "its account does not allow so many nodes in one job"},
    {"AssocMaxWallDurationPerJobLimit", "its account does not allow so long a time limit"},
    {"AssocMaxGRESPerJob", "its account does not allow so many GPUs in one job"},
    {"AssocMaxCpuPerJobLimit", "its account does not allow so many CPUs in one job"},
    {"JobHeldUser", "it is held; `scontrol release` lets it start"},
    {"JobHeldAdmin", "an administrator holds it"},
    {"DeadLine", "it cannot end before its deadline"},
});

}  // namespace

JobState job_state_from_slurm(const std::vector<std::string>& words) {
  JobState state = JobState::unknown;
  int rank = -1;
  for (const std::string& text : words) {
    std::string_view word = std::string_view(text).substr(0, text.find(' '));
    while (!word.empty() && word.back() == '+') word.remove_suffix(1);
    const auto* const found = std::find_if(
        kWords.begin(), kWords.end(), [&](const SlurmWord& known) { return known.word == word; });
    // A flag that is not known may change what the others mean.
    if (found == kWords.end()) return JobState::unknown;
    if (found->rank > rank) {
      state = found->state;
      rank = found->rank;
    }
  }
  return state;
}

std::string why_never_starts(std::string_view reason) {
  for (const auto& [name, sentence] : kNeverStarts) {
    if (name == reason) {
      return "will not start by itself (" + std::string(name) + "): " + std::string(sentence);
    }
  }
  return {};
}

}  // namespace llmb::dispatch
