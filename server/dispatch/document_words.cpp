#include "server/dispatch/document_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "parser/catalog/recipe.h"
#include "server/dispatch/batch_script.h"
#include "server/dispatch/launch_document.h"

namespace llmb::dispatch {
namespace {

// By age; as the documents print them.
constexpr auto kWords = std::to_array<DocumentWords>({
    {.document = kBatchScriptDocument,
     .workload = "pretrain_grok1",
     .requires_dtype = true,
     .of_profiling = false,
     .of_gpu_metrics = false,
     .of_nccl_trace = false,
     .of_checkpoints = false},
    {.document = "grok1-25.05",
     .workload = "pretrain_grok1",
     .folder = "grok1",
     .of_gpu_metrics = false,
     .of_checkpoints = false,
     .of_slurm_params = false,
     .asks_for_token = true},
    {.document = "llama3.1-25.10",
     .workload = "pretrain_llama3.1",
     .folder = "llama3.1",
     .of_nccl_trace = false,
     .of_checkpoints = false,
     .asks_for_token = true},
    {.document = "llama4-25.05",
     .workload = "pretrain_llama4_maverick",
     .folder = "llama4",
     .of_gpu_metrics = false,
     .of_checkpoints = false,
     .of_slurm_params = false,
     .asks_for_token = true},
    {.document = "nemotron4-25.04",
     .workload = "pretrain_nemotron4",
     .requires_dtype = true,
     .of_gpu_metrics = false,
     .of_nccl_trace = false,
     .of_slurm_params = false,
     .names_node_sizes = true},
});

constexpr DocumentWords kUnknown{};

// What a launch.sh that submits by itself gets of Slurm's options in ADDITIONAL_SLURM_PARAMS only.
// Its own defaults are nobody's loss. Empty: nothing.
std::string options_by_params(const Plan& plan, const ClusterSettings& settings) {
  if (!plan.submits_itself) return {};
  std::string names;
  for (const auto& [name, unused] : plan.slurm) {
    const bool is_asked_for = plan.submission.slurm.contains(name) || settings.slurm.contains(name);
    if (!is_asked_for || !goes_by_additional_params(name)) continue;
    names.append(names.empty() ? "" : ", ").append(name);
  }
  return names;
}

class Notes {
 public:
  explicit Notes(const Submission& wanted) : wanted_(wanted) {}

  void add(bool is_unspoken, std::string_view subject, std::string_view variable) {
    if (!is_unspoken) return;
    const std::string of_document =
        fmt::format("the document of {} says nothing of {}: ", wanted_.workload, subject);
    notes_.push_back(of_document + (wanted_.launcher == "recipe"
                                        ? fmt::format("its launch.sh may not hear {}", variable)
                                        : fmt::format("{} is llmb-step-runner's own", variable)));
  }
  void add(std::string note) { notes_.push_back(std::move(note)); }
  std::vector<std::string> take() { return std::move(notes_); }

 private:
  const Submission& wanted_;
  std::vector<std::string> notes_;
};

}  // namespace

const DocumentWords& words_of(std::string_view document, std::string_view workload) {
  const auto found = std::find_if(kWords.rbegin(), kWords.rend(), [&](const DocumentWords& words) {
    return document.empty() ? words.workload == workload : words.document == document;
  });
  return found == kWords.rend() ? kUnknown : *found;
}

const DocumentWords& words_of_plan(const Plan& plan) {
  return words_of(plan.document.empty() ? plan.submission.document : plan.document,
                  plan.submission.workload);
}

std::vector<std::string> unspoken_notes(const Plan& plan, const ClusterSettings& settings) {
  const Submission& wanted = plan.submission;
  const DocumentWords& words = words_of_plan(plan);
  const bool is_recipe = wanted.launcher == "recipe";
  Notes notes(wanted);
  notes.add(wanted.profile && !words.of_profiling, "profiling", "ENABLE_PROFILE");
  notes.add(wanted.profile && wanted.gpu_metrics && !words.of_gpu_metrics, "GPU metrics",
            "ENABLE_GPU_METRICS");
  if (is_recipe && wanted.nccl_trace && words.document == "llama3.1-25.10") {
    notes.add("ENABLE_NCCLTRACE has no effect: the recipe of Llama 3.1 has no NCCL trace any more");
  } else {
    notes.add(wanted.nccl_trace && !words.of_nccl_trace, "an NCCL trace", "ENABLE_NCCLTRACE");
  }
  if (!is_recipe) return notes.take();
  notes.add((wanted.checkpoint || !wanted.load_checkpoint_path.empty()) && !words.of_checkpoints,
            "checkpoints", wanted.checkpoint ? "ENABLE_CHECKPOINT" : "LOAD_CHECKPOINT_PATH");
  const std::string options = words.of_slurm_params ? "" : options_by_params(plan, settings);
  notes.add(!options.empty(), "ADDITIONAL_SLURM_PARAMS", "Slurm's " + options);
  const std::string coarse = parser::coarse_dtype(wanted.dtype);
  notes.add(!words.document.empty() && wanted.dtype != coarse,
            fmt::format("the precision {}, only of {}", wanted.dtype, coarse),
            "DTYPE=" + wanted.dtype);
  const bool has_token = settings.launch_environment.contains("HF_TOKEN") ||
                         plan.environment.contains("HF_TOKEN") || !settings.knows_shell;
  if (words.asks_for_token && !has_token) {
    notes.add(
        fmt::format("HF_TOKEN is not set, and the document of {} asks for it: its launch.sh "
                    "may fail without",
                    wanted.workload));
  }
  return notes.take();
}

}  // namespace llmb::dispatch
