#include "server/dispatch/launch_document.h"

#include <fmt/format.h>

#include <string_view>

namespace llmb::dispatch {
namespace {

std::string number_or(const std::optional<std::int64_t>& value, std::string_view otherwise) {
  return value ? fmt::to_string(*value) : std::string(otherwise);
}

// "tp4_pp1_cp1_vpNone_ep8_etp4_mbs1_gbs256"; what the table leaves out is left out.
std::string layout_text(const parser::Recipe& recipe, std::int64_t scale) {
  std::string text =
      fmt::format("tp{}_pp{}_cp{}_vp{}", recipe.tensor_parallel, recipe.pipeline_parallel,
                  recipe.context_parallel, number_or(recipe.virtual_pipeline, "None"));
  // Llama 3.1 names ep1 where its table has NA: "…_vpNone_ep1_mbs1_gbs64".
  const bool is_llama31 = recipe.workload == "pretrain_llama3.1";
  if (recipe.expert_parallel || is_llama31) {
    text += "_ep" + number_or(recipe.expert_parallel, "1");
  }
  if (recipe.expert_tensor_parallel) text += "_etp" + number_or(recipe.expert_tensor_parallel, "");
  return text + fmt::format("_mbs{}_gbs{}", recipe.micro_batch_size,
                            recipe.global_batch_size.value(scale).value_or(0));
}

// "pretrain_llama3.1" -> "pretrain_llama31".
std::string without_dots(std::string name) {
  std::erase(name, '.');
  return name;
}

}  // namespace

std::string experiment_name(const Submission& submission, const parser::Recipe* recipe) {
  const std::string model = submission.workload.substr(submission.workload.find('_') + 1);
  std::string name;
  if (recipe == nullptr || submission.proxy) {
    name = fmt::format("{}_{}_{}_{}_proxy", submission.workload, submission.model_size,
                       submission.dtype, submission.scale);
  } else if (has_results_tree(submission, recipe)) {
    // Its folders say the rest, the trace included.
    return fmt::format("nemo_{}_{}_{}", model, submission.model_size, submission.scale);
  } else if (submission.workload == "pretrain_nemotron4") {
    name = fmt::format("{}_{}_{}_{}", submission.workload, submission.model_size, submission.dtype,
                       submission.scale);
  } else if (submission.workload == "pretrain_llama3.1") {
    const std::string dtype = submission.dtype == "fp8" ? "fp8_cs" : submission.dtype;
    name = fmt::format("{}_{}_{}_gpus{}_{}", submission.workload, submission.model_size, dtype,
                       submission.scale, layout_text(*recipe, submission.scale));
  } else {
    name = fmt::format("pretraining_{}_{}_{}_{}_{}", model, submission.model_size, submission.dtype,
                       submission.scale, layout_text(*recipe, submission.scale));
  }
  name = without_dots(name);
  if (submission.profile) name += "_nsys";
  if (submission.nccl_trace) name += "_nccltrace";
  return name;
}

bool has_results_tree(const Submission& submission, const parser::Recipe* recipe) {
  return recipe != nullptr && !submission.proxy && recipe->document == kBatchScriptDocument;
}

std::string profile_file_name(const Submission& submission) {
  const std::string model = submission.workload.substr(submission.workload.find('_') + 1);
  const std::string place = "_%q{SLURM_JOB_ID}_%q{SLURM_NODEID}_%q{SLURM_LOCALID}";
  if (model == "grok1") {
    return fmt::format("{}-{}-{}_{}g{}", model, submission.model_size, submission.dtype,
                       submission.scale, place);
  }
  if (model == "llama4_maverick")
    return "profile_%q{SLURM_JOB_ID}_%q{SLURM_NODEID}_%q{SLURM_PROCID}";
  if (model == "nemotron4") return "profile_%p";  // the process's id
  return "profile" + place;
}

}  // namespace llmb::dispatch
