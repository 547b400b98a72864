#include "server/dispatch/submission.h"

#include <algorithm>
#include <array>
#include <set>

#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

using parser::Catalog;
using parser::fail;
using parser::Recipe;
using parser::Result;

constexpr std::size_t kEnvironmentValueBytesMax = 4096;
constexpr std::int64_t kGpusPerNodeMax = 72;
constexpr std::size_t kAccountBytesMax = 64;  // twice in a file's name, which has 255 bytes

// Those that the recipes document, and what is set in the field to make a cluster's network work.
// None of them loads a library or names a file to write.
constexpr auto kEnvironmentAllowed = std::to_array<std::string_view>({"CUDA_DEVICE_MAX_CONNECTIONS",
                                                                      "ENABLE_GPU_METRICS",
                                                                      "MAX_STEPS",
                                                                      "NCCL_ALGO",
                                                                      "NCCL_BUFFSIZE",
                                                                      "NCCL_CROSS_NIC",
                                                                      "NCCL_DEBUG",
                                                                      "NCCL_DEBUG_SUBSYS",
                                                                      "NCCL_IB_DISABLE",
                                                                      "NCCL_IB_GID_INDEX",
                                                                      "NCCL_IB_HCA",
                                                                      "NCCL_IB_QPS_PER_CONNECTION",
                                                                      "NCCL_IB_RETRY_CNT",
                                                                      "NCCL_IB_SL",
                                                                      "NCCL_IB_TC",
                                                                      "NCCL_IB_TIMEOUT",
                                                                      "NCCL_MAX_NCHANNELS",
                                                                      "NCCL_MIN_NCHANNELS",
                                                                      "NCCL_NET_GDR_LEVEL",
                                                                      "NCCL_NVLS_ENABLE",
                                                                      "NCCL_P2P_DISABLE",
                                                                      "NCCL_P2P_LEVEL",
                                                                      "NCCL_PROTO",
                                                                      "NCCL_SHM_DISABLE",
                                                                      "NCCL_SOCKET_IFNAME",
                                                                      "NVTE_FUSED_ATTN",
                                                                      "OMP_NUM_THREADS",
                                                                      "PROFILE_START_STEP",
                                                                      "PROFILE_STOP_STEP",
                                                                      "RUN_CONF_PROFILE_START_STEP",
                                                                      "RUN_CONF_PROFILE_STOP_STEP",
                                                                      "UCX_NET_DEVICES",
                                                                      "UCX_TLS"});

// Whole-number options of llmb-step-runner; those of the model's shape make a proxy.
struct RunnerOption {
  std::string_view name;
  bool makes_proxy = false;
};
constexpr auto kRunnerOptions = std::to_array<RunnerOption>({
    {"num-layers", true},
    {"num-experts", true},
    {"experts-per-token", true},
    {"seq-length", true},
    {"vocab-size", true},
    {"hidden-size", true},
    {"num-attention-heads", true},
    {"num-query-groups", true},
    {"head-size", true},
    {"ffn-hidden-size", true},
    {"expert-ffn-hidden-size", true},
    {"shared-expert-ffn-hidden-size", true},
    {"tp"},
    {"pp"},
    {"vp"},
    {"cp"},
    {"ep"},
    {"etp"},
    {"dp"},
    {"micro-batch-size"},
    {"global-batch-size"},
    {"steps"},
    {"seed"},
});

template <typename Names>
std::string listed(const Names& names) {
  std::string text;
  for (const auto& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string range_text(const Recipe& recipe) {
  const std::string min = std::to_string(recipe.gpu_count_min);
  return recipe.gpu_count_min == recipe.gpu_count_max
             ? min
             : min + "-" + std::to_string(recipe.gpu_count_max);
}

class Planner {
 public:
  Planner(const Submission& submission, const ClusterSettings& settings, const Catalog& catalog)
      : settings_(settings), catalog_(catalog) {
    plan_.submission = submission;
  }

  Result<Plan> plan() {
    for (const auto step :
         {&Planner::find_model, &Planner::find_recipe, &Planner::check_modes,
          &Planner::check_runner_options, &Planner::lay_out_nodes, &Planner::fill_slurm,
          &Planner::fill_environment, &Planner::choose_program}) {
      if (auto done = (this->*step)(); !done) return tl::unexpected(done.error());
    }
    plan_.cluster = settings_.name;
    name_experiment();
    return std::move(plan_);
  }

 private:
  Submission& wanted() { return plan_.submission; }

  Result<void> find_model() {
    const parser::Workload* const workload = catalog_.workload(wanted().workload);
    if (workload == nullptr) {
      std::vector<std::string> names;
      for (const auto& known : catalog_.workloads) names.push_back(known.workload);
      return fail("unknown workload " + in_quotes(wanted().workload) + "; known: " + listed(names));
    }
    wanted().workload = workload->workload;
    std::set<std::string> sizes;
    for (const Recipe& recipe : catalog_.recipes) {
      if (recipe.workload != workload->workload) continue;
      sizes.insert(recipe.model_size);
      if (recipe.model_size == wanted().model_size) of_model_.push_back(&recipe);
    }
    if (of_model_.empty()) {
      return fail("unknown size " + in_quotes(wanted().model_size) + " of " + workload->workload +
                  "; known: " + listed(sizes));
    }
    return {};
  }

  // Newer documents come later in the catalog; their row counts.
  Result<void> find_recipe() {
    std::set<std::string> gpu_types;
    for (const Recipe* recipe : of_model_) gpu_types.insert(recipe->gpu_type);
    if (wanted().gpu_type.empty()) wanted().gpu_type = settings_.gpu_type;
    if (wanted().gpu_type.empty() && gpu_types.size() == 1) wanted().gpu_type = *gpu_types.begin();
    if (!gpu_types.contains(wanted().gpu_type)) {
      return fail("GPU type " +
                  (wanted().gpu_type.empty()
                       ? "is missing"
                       : in_quotes(wanted().gpu_type) + " has no recipe of this model") +
                  "; there are recipes for: " + listed(gpu_types));
    }
    std::set<std::string> dtypes;
    std::string scales;
    for (const Recipe* recipe : of_model_) {
      if (recipe->gpu_type != wanted().gpu_type) continue;
      dtypes.insert(recipe->dtypes.begin(), recipe->dtypes.end());
      if (std::find(recipe->dtypes.begin(), recipe->dtypes.end(),
                    parser::coarse_dtype(wanted().dtype)) == recipe->dtypes.end()) {
        continue;
      }
      scales.append(scales.empty() ? "" : ", ").append(range_text(*recipe));
      if (recipe->has_scale(wanted().scale)) recipe_ = recipe;
    }
    if (!dtypes.contains(parser::coarse_dtype(wanted().dtype)) || !is_name(wanted().dtype) ||
        wanted().dtype.size() > 16) {
      return fail("dtype " + in_quotes(wanted().dtype) +
                  " has no recipe of this model; there are: " + listed(dtypes));
    }
    if (wanted().scale < 1) return fail("'scale', the number of GPUs, has to be 1 or more");
    if (recipe_ == nullptr && !wanted().proxy) {
      return fail("no recipe of " + wanted().workload + " " + wanted().model_size + " " +
                  wanted().dtype + " on " + wanted().gpu_type + " has " +
                  std::to_string(wanted().scale) + " GPUs; there are: " + scales +
                  ". A proxy may have any scale: --proxy");
    }
    return {};
  }

  Result<void> check_modes() {
    if (wanted().launcher != "runner" && wanted().launcher != "recipe") {
      return fail("launcher " + in_quotes(wanted().launcher) + " is neither 'runner' nor 'recipe'");
    }
    if (wanted().backend.empty()) wanted().backend = settings_.backend;
    if (wanted().backend != "cuda" && wanted().backend != "cpu") {
      return fail("backend " + in_quotes(wanted().backend) + " is neither 'cuda' nor 'cpu'");
    }
    if (wanted().profile && wanted().nccl_trace) {
      return fail(
          "profile and nccl_trace exclude each other, as the recipes document: ask for two "
          "jobs");
    }
    if (wanted().checkpoint && !wanted().load_checkpoint_path.empty()) {
      return fail(
          "checkpoint and load_checkpoint_path contradict each other: a load runs one step");
    }
    if (!wanted().load_checkpoint_path.empty() && !is_plain_path(wanted().load_checkpoint_path)) {
      return fail("load_checkpoint_path " + in_quotes(wanted().load_checkpoint_path) +
                  " has to be an absolute path of printable characters");
    }
    return {};
  }

  Result<void> check_runner_options() {
    if (!wanted().runner_options.empty() && wanted().launcher != "runner") {
      return fail("runner options go with the launcher 'runner' only");
    }
    for (const auto& option : wanted().runner_options) {
      const std::string& name = option.first;
      const std::int64_t value = option.second;
      const auto* const found =
          std::find_if(kRunnerOptions.begin(), kRunnerOptions.end(),
                       [&](const RunnerOption& known) { return known.name == name; });
      if (found == kRunnerOptions.end()) {
        std::vector<std::string> names;
        names.reserve(kRunnerOptions.size());
        for (const RunnerOption& known : kRunnerOptions) names.emplace_back(known.name);
        return fail("unknown runner option " + in_quotes(name) + "; known: " + listed(names));
      }
      if (value < 1) return fail("runner option " + name + " has to be 1 or more");
      if (found->makes_proxy && !wanted().proxy) {
        return fail("runner option " + name + " makes another model: say that it is a proxy");
      }
    }
    return {};
  }

  Result<void> lay_out_nodes() {
    std::int64_t per_node = wanted().gpus_per_node.value_or(settings_.gpus_per_node.value_or(0));
    const parser::GpuType* const gpu = catalog_.gpu(wanted().gpu_type);
    if (per_node == 0 && gpu != nullptr) per_node = gpu->gpus_per_node;
    if (per_node == 0) per_node = 8;
    if (per_node > kGpusPerNodeMax) {
      return fail("no node has " + std::to_string(per_node) + " GPUs; at most " +
                  std::to_string(kGpusPerNodeMax) + " are believed");
    }
    wanted().gpus_per_node = per_node;
    plan_.ranks_per_node = std::min(per_node, wanted().scale);
    if (wanted().scale % plan_.ranks_per_node != 0) {
      return fail("a scale of " + std::to_string(wanted().scale) + " GPUs does not fill nodes of " +
                  std::to_string(per_node));
    }
    plan_.nodes = wanted().scale / plan_.ranks_per_node;
    return {};
  }

  Result<void> fill_slurm() {
    plan_.slurm = wanted().slurm;
    if (auto checked = refuse_contradictions(plan_.slurm); !checked) return checked;
    SlurmParameters defaults = settings_.slurm;
    // GPUs are asked for where the cluster is configured with gres, and used.
    if (wanted().backend == "cpu") {
      defaults.erase("gres");
      defaults.erase("gpus-per-node");
    } else {
      // Whole nodes, as the recipes ask for them: neighbours would be measured too.
      defaults.emplace("exclusive", "");
      defaults.emplace("mem", "0");
    }
    fill_missing(plan_.slurm, defaults);
    if (auto checked = refuse_contradictions(plan_.slurm); !checked) return checked;
    const auto per_node = plan_.slurm.find("gpus-per-node");
    if (per_node != plan_.slurm.end() &&
        (!std::all_of(per_node->second.begin(), per_node->second.end(),
                      [](char c) { return c >= '0' && c <= '9'; }) ||
         per_node->second.size() > 4 || std::stoll(per_node->second) < plan_.ranks_per_node)) {
      return fail("gpus-per-node " + in_quotes(per_node->second) +
                  " has to be a number, and not less "
                  "than the " +
                  std::to_string(plan_.ranks_per_node) + " GPUs used on a node");
    }
    const auto account = plan_.slurm.find("account");
    if (account != plan_.slurm.end()) {
      if (!is_name(account->second) || account->second.size() > kAccountBytesMax)
        return fail("no account is called " + in_quotes(account->second));
      // As nemo-run prefixes it: the account, and its last part once more.
      plan_.account_prefix =
          account->second + "-" + account->second.substr(account->second.rfind('_') + 1);
    }
    return {};
  }

  Result<void> fill_environment() {
    for (const auto& [name, value] : wanted().environment) {
      if (std::find(kEnvironmentAllowed.begin(), kEnvironmentAllowed.end(), name) ==
              kEnvironmentAllowed.end() &&
          !settings_.environment_allowed.contains(name)) {
        return fail("environment variable " + in_quotes(name) +
                    " may not be set; these may: " + listed(kEnvironmentAllowed) +
                    (settings_.environment_allowed.empty() ? "" : ", ") +
                    listed(settings_.environment_allowed) +
                    ". 'environment_allowed' in the configuration adds others");
      }
      if (value.size() > kEnvironmentValueBytesMax || !is_printable(value)) {
        return fail("the value of " + name + " has to be printable characters, at most " +
                    std::to_string(kEnvironmentValueBytesMax) + "; it begins " + in_quotes(value));
      }
    }
    plan_.environment = settings_.environment;
    for (const auto& [name, value] : wanted().environment) plan_.environment[name] = value;
    plan_.environment["JOB_TOTAL_GPUS"] = std::to_string(wanted().scale);
    plan_.environment["GPUS_PER_NODE"] = std::to_string(*wanted().gpus_per_node);
    plan_.environment["DTYPE"] = wanted().dtype;
    plan_.environment["MODEL_SIZE"] = wanted().model_size;
    plan_.environment["GPU_TYPE"] = wanted().gpu_type;
    plan_.environment["LLMB_WORKLOAD"] = settings_.workload_folder;
    if (!settings_.llmb_install.empty()) plan_.environment["LLMB_INSTALL"] = settings_.llmb_install;
    if (!settings_.llmb_repo.empty()) plan_.environment["LLMB_REPO"] = settings_.llmb_repo;
    if (wanted().profile) plan_.environment["ENABLE_PROFILE"] = "true";
    if (wanted().nccl_trace) plan_.environment["ENABLE_NCCLTRACE"] = "true";
    if (wanted().checkpoint) plan_.environment["ENABLE_CHECKPOINT"] = "true";
    if (!wanted().load_checkpoint_path.empty()) {
      plan_.environment["LOAD_CHECKPOINT_PATH"] = wanted().load_checkpoint_path;
    }
    return {};
  }

  Result<void> choose_program() {
    if (wanted().launcher == "recipe") {
      const auto script = settings_.launch_scripts.find(wanted().workload);
      if (script == settings_.launch_scripts.end()) {
        return fail("the configuration names no launch.sh of " + wanted().workload +
                    ": 'launch_scripts' says where an installed recipe has it");
      }
      plan_.program = script->second;
      return {};
    }
    plan_.program = settings_.runner;
    plan_.program_arguments = {
        "--workload=" + wanted().workload, "--model-size=" + wanted().model_size,
        "--dtype=" + wanted().dtype,       "--scale=" + std::to_string(wanted().scale),
        "--gpu-type=" + wanted().gpu_type, "--backend=" + wanted().backend};
    for (const auto& [name, value] : wanted().runner_options) {
      plan_.program_arguments.push_back("--" + name + "=" + std::to_string(value));
    }
    return {};
  }

  // As the recipes name it, with its layout where a document has one; see log-formats of the
  // releases in parser/layout/experiment_name.h.
  void name_experiment() {
    std::string name = wanted().workload + "_" + wanted().model_size + "_" + wanted().dtype;
    name.erase(std::remove(name.begin(), name.end(), '.'), name.end());
    const std::string scale = std::to_string(wanted().scale);
    if (recipe_ == nullptr || wanted().proxy) {
      name += "_" + scale;
    } else {
      const auto size = [](std::int64_t value) { return std::to_string(value); };
      name += "_gpus" + scale + "_tp" + size(recipe_->tensor_parallel) + "_pp" +
              size(recipe_->pipeline_parallel) + "_cp" + size(recipe_->context_parallel) + "_vp" +
              (recipe_->virtual_pipeline ? size(*recipe_->virtual_pipeline) : "None");
      if (recipe_->expert_parallel) name += "_ep" + size(*recipe_->expert_parallel);
      if (recipe_->expert_tensor_parallel) name += "_etp" + size(*recipe_->expert_tensor_parallel);
      name += "_mbs" + size(recipe_->micro_batch_size);
      const auto batch = recipe_->global_batch_size.value(wanted().scale);
      name += "_gbs" + size(batch.value_or(0));
    }
    if (wanted().profile) name += "_nsys";
    if (wanted().nccl_trace) name += "_nccltrace";
    plan_.experiment = name;
  }

  const ClusterSettings& settings_;
  const Catalog& catalog_;
  std::vector<const Recipe*> of_model_;
  const Recipe* recipe_ = nullptr;
  Plan plan_;
};

}  // namespace

Result<Plan> plan_submission(const Submission& submission, const ClusterSettings& settings,
                             const Catalog& catalog) {
  return Planner(submission, settings, catalog).plan();
}

}  // namespace llmb::dispatch
