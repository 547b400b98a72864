#include "server/dispatch/plan_submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "parser/foundation/nearest_word.h"
#include "parser/foundation/text.h"
#include "server/dispatch/checkpoint_to_load.h"
#include "server/dispatch/container.h"
#include "server/dispatch/document_words.h"
#include "server/dispatch/job_environment.h"
#include "server/dispatch/launch_document.h"
#include "server/dispatch/launch_script.h"
#include "server/dispatch/launch_variables.h"
#include "server/dispatch/nearest_layout.h"
#include "server/dispatch/node_count.h"
#include "server/dispatch/plan_account.h"
#include "server/dispatch/profile_window.h"
#include "server/dispatch/run_steps.h"
#include "server/dispatch/runner_options.h"
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
// That of the recipes' own batch scripts.
constexpr std::string_view kTimeLimit = "00:35:00";

constexpr std::string_view kUsualDtype = "bf16";  // and llmb-step-runner's, where no document says

template <typename Names>
std::string listed(const Names& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// "; did you mean 'grok1'?", with the prefix of workloads or without.
template <typename Names>
std::string meant(const std::string& typed, const Names& names) {
  constexpr std::string_view kPrefix = "pretrain_";
  std::vector<std::string> known(names.begin(), names.end());
  for (const std::string& name : names) {
    if (name.starts_with(kPrefix)) known.push_back(name.substr(kPrefix.size()));
  }
  return parser::did_you_mean(typed, known);
}

std::string range_text(const Recipe& recipe) {
  return recipe.gpu_count_min == recipe.gpu_count_max
             ? fmt::to_string(recipe.gpu_count_min)
             : fmt::format("{}-{}", recipe.gpu_count_min, recipe.gpu_count_max);
}

class Planner {
 public:
  Planner(const Submission& submission, const ClusterSettings& settings, const Catalog& catalog,
          const RunnerFacts& runner)
      : settings_(settings), catalog_(catalog), runner_(runner) {
    plan_.submission = submission;
  }

  Result<Plan> plan() {
    for (const auto step :
         {&Planner::take_variables, &Planner::find_model, &Planner::find_gpu_type,
          &Planner::find_recipe, &Planner::check_modes, &Planner::check_checkpoints,
          &Planner::check_containers, &Planner::choose_backend, &Planner::check_options_of_runner,
          &Planner::lay_out_nodes, &Planner::fill_slurm, &Planner::check_environment,
          &Planner::choose_program}) {
      if (auto done = (this->*step)(); !done) return tl::unexpected(done.error());
    }
    plan_.cluster = settings_.name;
    plan_.row_is_proxy = recipe_ != nullptr && recipe_->is_proxy;
    plan_.cuda_graphs = cuda_graphs_of(wanted(), recipe_);
    plan_.experiment = experiment_name(wanted(), recipe_);
    plan_.tree = tree();
    plan_.environment = job_environment(wanted(), settings_, *defaults_);
    plan_.notes = notes_of(plan_, settings_);
    for (const std::string& note :
         {container_note_, backend_note_, proxy_note(plan_, recipe_, catalog_),
          gpus_per_node_note(wanted(), catalog_), checkpoint_place_note(wanted(), settings_),
          gpu_type_note(wanted(), *defaults_, origins_),
          why_never_complete(plan_, settings_, catalog_)}) {
      if (!note.empty()) plan_.notes.push_back(note);
    }
    plan_.notes.insert(plan_.notes.end(), set_aside_notes_.begin(), set_aside_notes_.end());
    plan_.values = values_of(plan_, settings_, origins_);
    return std::move(plan_);
  }

 private:
  Submission& wanted() { return plan_.submission; }

  RunTree tree() {
    if (!has_results_tree(wanted(), recipe_)) return {"experiments/" + plan_.experiment, false};
    // Its logs have no account in their names.
    plan_.account_prefix.clear();
    return {fmt::format("results/{}{}/{}/{}/{}", catalog_.document(recipe_->document)->release,
                        wanted().nccl_trace ? "-nccl-trace" : "", wanted().dtype,
                        wanted().model_size, wanted().scale),
            true};
  }

  // Options and fields of a request outrank variables; those of the request outrank the shell's.
  Result<void> take_variables() {
    spell_as_catalog(wanted());
    for (const auto secret : secret_variables()) {
      if (!wanted().environment.contains(secret)) continue;
      return fail(fmt::format(
          "{} is a secret, and a job's variables stand in its script and its row: export it in the "
          "shell that submits, from where it reaches the job by the environment only",
          secret));
    }
    Environment shell = settings_.launch_environment;
    for (const auto& [variables, where] :
         {std::pair(&wanted().environment, kOfJob), std::pair(&shell, kOfShell)}) {
      auto notes = take_launch_variables(wanted(), *variables, where, origins_);
      if (!notes) return tl::unexpected(notes.error());
      auto note = take_node_count(wanted(), *variables, where, settings_, catalog_, origins_);
      if (!note) return tl::unexpected(note.error());
      if (!note->empty()) notes->push_back(*std::move(note));
      set_aside_notes_.insert(set_aside_notes_.end(), notes->begin(), notes->end());
    }
    return {};
  }

  Result<void> find_model() {
    const auto known = known_workload(wanted().workload, catalog_);
    if (!known) return tl::unexpected(known.error());
    const parser::Workload* const workload = *known;
    wanted().workload = workload->workload;
    defaults_ = &catalog_.launch_defaults(workload->workload);
    default_to(wanted().model_size, "model_size", defaults_->model_size, kOfDocument);
    std::set<std::string> sizes;
    std::set<std::string> documents;
    for (const Recipe& recipe : catalog_.recipes) {
      if (recipe.workload != workload->workload) continue;
      documents.insert(recipe.document);
      if (!wanted().document.empty() && recipe.document != wanted().document) continue;
      sizes.insert(recipe.model_size);
      if (recipe.model_size == wanted().model_size) of_model_.push_back(&recipe);
    }
    if (!wanted().document.empty() && !documents.contains(wanted().document)) {
      return fail(fmt::format("unknown document {} of {}; known: {}", in_quotes(wanted().document),
                              workload->workload, listed(documents)));
    }
    if (of_model_.empty() && wanted().model_size.empty()) {
      return fail(fmt::format("the model's size is missing (--model-size, MODEL_SIZE); known: {}",
                              listed(sizes)));
    }
    if (of_model_.empty()) {
      return fail(fmt::format("unknown size {} of {}{}; known: {}", in_quotes(wanted().model_size),
                              workload->workload, meant(wanted().model_size, sizes),
                              listed(sizes)));
    }
    return {};
  }

  std::set<std::string> known_gpu_types() const {
    std::set<std::string> names;
    for (const Recipe& recipe : catalog_.recipes) names.insert(recipe.gpu_type);
    return names;
  }

  bool has_dtype(const Recipe& recipe) const {
    const std::string coarse = parser::coarse_dtype(plan_.submission.dtype);
    return coarse.empty() || std::count(recipe.dtypes.begin(), recipe.dtypes.end(), coarse) > 0;
  }

  Result<void> find_gpu_type() {
    std::set<std::string> gpu_types;
    std::set<std::string> at_this_scale;
    for (const Recipe* recipe : of_model_) {
      gpu_types.insert(recipe->gpu_type);
      if (recipe->has_scale(wanted().scale) && has_dtype(*recipe)) {
        at_this_scale.insert(recipe->gpu_type);
      }
    }
    default_to(wanted().gpu_type, "gpu_type", parser::lower(settings_.gpu_type), kOfCluster);
    if (gpu_types.size() == 1) {
      default_to(wanted().gpu_type, "gpu_type", *gpu_types.begin(), "the only one with a recipe");
    }
    // The document's gives way where it has no row of this scale and one other GPU has.
    if (at_this_scale.size() != 1 || at_this_scale.contains(defaults_->gpu_type)) {
      default_to(wanted().gpu_type, "gpu_type", defaults_->gpu_type, kOfDocument);
    } else {
      default_to(wanted().gpu_type, "gpu_type", *at_this_scale.begin(), kOnlyGpuAtScale);
    }
    if (gpu_types.contains(wanted().gpu_type)) return {};
    if (wanted().gpu_type.empty()) {
      return fail(
          fmt::format("the GPU type is missing (--gpu-type, GPU_TYPE); {}there are recipes "
                      "for: {}",
                      at_this_scale.empty() ? "" : "at this scale ",
                      listed(at_this_scale.empty() ? gpu_types : at_this_scale)));
    }
    const std::string recipes = "there are recipes for: " + listed(gpu_types);
    const bool is_known = catalog_.gpu(wanted().gpu_type) != nullptr;
    return fail(fmt::format(
        "{} {}{}; {}", is_known ? "GPU type" : "unknown GPU type", in_quotes(wanted().gpu_type),
        is_known ? " has no recipe of this model" : meant(wanted().gpu_type, known_gpu_types()),
        recipes));
  }

  // Where no document names a precision, or requires one: as llmb-step-runner, bf16 where the row
  // has it, else the row's first.
  Result<void> choose_dtype() {
    default_to(wanted().dtype, "dtype", defaults_->dtype, kOfDocument);
    if (!wanted().dtype.empty()) return {};
    const Recipe* row = nullptr;
    for (const Recipe* recipe : of_model_) {
      if (recipe->gpu_type != wanted().gpu_type) continue;
      if (row == nullptr || recipe->has_scale(wanted().scale)) row = recipe;
    }
    if (row == nullptr || row->dtypes.empty()) return {};
    const bool applies = row->has_scale(wanted().scale) || row->document == wanted().document;
    if (applies && words_of(row->document, row->workload).requires_dtype) {
      return fail(fmt::format("the precision is missing (--dtype, DTYPE), which {} requires: {}",
                              row->document, listed(row->dtypes)));
    }
    if (wanted().launcher == "recipe" && row->dtypes.size() > 1) {
      return fail(
          "the precision is missing (--dtype, DTYPE): the documents state no default, and that of "
          "launch.sh is not known here; there are: " +
          listed(row->dtypes));
    }
    const bool has_usual =
        std::find(row->dtypes.begin(), row->dtypes.end(), kUsualDtype) != row->dtypes.end();
    default_to(wanted().dtype, "dtype", has_usual ? kUsualDtype : row->dtypes.front(),
               "no document has a default: as llmb-step-runner");
    return {};
  }

  // Newer documents come later in the catalog; their row counts.
  Result<void> find_recipe() {
    if (auto chosen = choose_dtype(); !chosen) return chosen;
    const std::string coarse = parser::coarse_dtype(wanted().dtype);
    std::set<std::string> dtypes;
    std::vector<std::string> scales;
    for (const Recipe* recipe : of_model_) {
      if (recipe->gpu_type != wanted().gpu_type) continue;
      dtypes.insert(recipe->dtypes.begin(), recipe->dtypes.end());
      if (std::find(recipe->dtypes.begin(), recipe->dtypes.end(), coarse) == recipe->dtypes.end()) {
        continue;
      }
      scales.push_back(range_text(*recipe));
      if (recipe->has_scale(wanted().scale)) recipe_ = recipe;
    }
    if (!dtypes.contains(coarse) || !is_name(wanted().dtype) || wanted().dtype.size() > 16) {
      return fail(
          fmt::format("dtype {} (--dtype, DTYPE) has no recipe of this model{}; there are: {}",
                      in_quotes(wanted().dtype), meant(wanted().dtype, dtypes), listed(dtypes)));
    }
    if (wanted().scale < 1) {
      return fail(fmt::format(
          "'scale' is missing: the number of GPUs, 1 or more (--scale, JOB_TOTAL_GPUS{})",
          wanted().workload == "pretrain_grok1"
              ? fmt::format("; of {} {}", kBatchScriptDocument, kNodeCountVariable)
              : ""));
    }
    if (recipe_ != nullptr) plan_.document = recipe_->document;
    if (recipe_ == nullptr && !wanted().proxy) {
      const std::string layout = nearest_layout(wanted(), catalog_);
      return fail(fmt::format(
          "no recipe of {} {} {} on {} has {} GPUs; there are: {}. A proxy may have any scale: "
          "--proxy{}",
          wanted().workload, wanted().model_size, wanted().dtype, wanted().gpu_type, wanted().scale,
          listed(scales), layout.empty() ? "" : ", with a layout: " + layout));
    }
    return {};
  }

  Result<void> check_modes() {
    if (wanted().launcher != "runner" && wanted().launcher != "recipe") {
      return fail("launcher " + in_quotes(wanted().launcher) + " is neither 'runner' nor 'recipe'");
    }
    if (wanted().profile && wanted().nccl_trace) {
      return fail(
          "profile and nccl_trace exclude each other, as the recipes document: ask for two jobs");
    }
    if (wanted().profile) {
      default_to(wanted().profile_ranks, "profile_ranks", defaults_->profile_ranks, kOfDocument);
      return check_profile_ranks(wanted(), origins_, defaults_->profile_ranks);
    }
    return {};
  }

  Result<void> check_checkpoints() {
    if (wanted().checkpoint && !wanted().load_checkpoint_path.empty()) {
      return fail(
          "checkpoint and load_checkpoint_path contradict each other: a load runs one step");
    }
    if (!wanted().load_checkpoint_path.empty() && !is_plain_path(wanted().load_checkpoint_path)) {
      return fail(
          fmt::format("load_checkpoint_path {} has to be an absolute path of printable characters",
                      in_quotes(wanted().load_checkpoint_path)));
    }
    return check_checkpoint_to_load(wanted());
  }

  Result<void> check_containers() {
    container_note_ = leave_out_recipes_container(wanted(), origins_);
    return check_container(wanted(), settings_);
  }

  // What the runner says that it has counts, where it can be asked.
  Result<void> choose_backend() {
    default_to(wanted().backend, "backend", settings_.backend, kOfCluster);
    const bool is_recipe = wanted().launcher == "recipe";
    if (is_recipe && wanted().backend == "cpu" && !origins_.contains("backend")) {
      backend_note_ =
          "the backend 'cpu' has no effect on launch.sh, which takes what its recipe has; only "
          "Slurm is not asked for GPUs by the cluster's defaults";
    }
    if (wanted().backend.empty() && is_recipe) wanted().backend = "cuda";
    const auto& has = runner_.backends;
    if (wanted().backend.empty()) {
      if (has.empty()) {
        return fail(fmt::format(
            "which backends the runner {} has is not known: {}. Name one with --backend, or with "
            "'backend' in the configuration",
            in_quotes(settings_.runner),
            runner_.trouble.empty() ? "its --version does not say" : runner_.trouble));
      }
      const bool has_cuda = std::find(has.begin(), has.end(), "cuda") != has.end();
      default_to(wanted().backend, "backend", has_cuda ? "cuda" : has.front(),
                 "what the runner has");
    }
    if (wanted().backend != "cuda" && wanted().backend != "cpu") {
      return fail("backend " + in_quotes(wanted().backend) + " is neither 'cuda' nor 'cpu'");
    }
    if (is_recipe) return {};
    if (!has.empty() && std::find(has.begin(), has.end(), wanted().backend) == has.end()) {
      return fail(fmt::format(
          "the runner {} has no backend '{}', but: {}. Leave out --backend, name a runner that was "
          "built with it ('runner' in the configuration), or start the installed recipe: "
          "--launcher recipe",
          in_quotes(settings_.runner), wanted().backend, listed(has)));
    }
    if (wanted().backend == "cpu" && !wanted().proxy) {
      return fail(fmt::format(
          "the backend 'cpu' trains proxies, and a whole {} of {} is none: say --proxy, and make "
          "it smaller, for example with --set num-layers=2 --set hidden-size=64; or name a runner "
          "with the backend 'cuda' ('runner' in the configuration), or start the installed "
          "recipe: --launcher recipe",
          wanted().workload, wanted().model_size));
    }
    return {};
  }

  Result<void> check_options_of_runner() {
    if (auto checked = check_runner_options(wanted()); !checked) return checked;
    return check_profile_window(wanted(), settings_, origins_, words_of_plan(plan_));
  }

  Result<void> lay_out_nodes() {
    if (!wanted().gpus_per_node && settings_.gpus_per_node) {
      wanted().gpus_per_node = settings_.gpus_per_node;
      origins_["gpus_per_node"] = kOfCluster;
    }
    if (!wanted().gpus_per_node) {
      const parser::GpuType* const gpu = catalog_.gpu(wanted().gpu_type);
      wanted().gpus_per_node = gpu != nullptr ? gpu->gpus_per_node : 8;
      origins_["gpus_per_node"] = "the GPU type's";
    }
    const std::int64_t per_node = *wanted().gpus_per_node;
    if (per_node < 1 || per_node > kGpusPerNodeMax) {
      return fail(fmt::format("{} GPUs a node are not believed: from 1 to {} may be", per_node,
                              kGpusPerNodeMax));
    }
    plan_.ranks_per_node = std::min(per_node, wanted().scale);
    if (wanted().scale % plan_.ranks_per_node != 0) {
      return fail(
          fmt::format("a scale of {} GPUs does not fill nodes of {}", wanted().scale, per_node));
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
    } else if (settings_.whole_nodes) {
      // Whole nodes, as the recipes ask for them: neighbours would be measured too.
      defaults.emplace("exclusive", "");
      defaults.emplace("mem", "0");
    }
    // A launch.sh has a limit of its own.
    if (wanted().launcher == "runner") defaults.emplace("time", kTimeLimit);
    fill_missing(plan_.slurm, defaults);
    if (auto checked = refuse_contradictions(plan_.slurm); !checked) return checked;
    return check_gpus_and_account();
  }

  Result<void> check_gpus_and_account() {
    const auto per_node = plan_.slurm.find("gpus-per-node");
    if (per_node != plan_.slurm.end() &&
        (!std::all_of(per_node->second.begin(), per_node->second.end(),
                      [](char c) { return c >= '0' && c <= '9'; }) ||
         per_node->second.size() > 4 || std::stoll(per_node->second) < plan_.ranks_per_node)) {
      return fail(fmt::format(
          "gpus-per-node {} has to be a number, and not less than the {} GPUs used on a node",
          in_quotes(per_node->second), plan_.ranks_per_node));
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

  Result<void> check_environment() {
    for (const auto& [name, value] : wanted().environment) {
      if (!is_allowed_variable(name, settings_.environment_allowed)) {
        std::vector<std::string_view> allowed = allowed_variables();
        allowed.insert(allowed.end(), settings_.environment_allowed.begin(),
                       settings_.environment_allowed.end());
        return fail(fmt::format(
            "environment variable {} may not be set; these may: {}. 'environment_allowed' in the "
            "configuration adds others",
            in_quotes(name), listed(allowed)));
      }
      if (value.size() > kEnvironmentValueBytesMax || !is_printable(value)) {
        return fail(
            fmt::format("the value of {} has to be printable characters, at most {}; it begins {}",
                        name, kEnvironmentValueBytesMax, in_quotes(value)));
      }
    }
    return {};
  }

  Result<void> choose_program() {
    if (wanted().launcher == "recipe") {
      auto script = find_launch_script(wanted().workload, settings_, words_of_plan(plan_));
      if (!script) return tl::unexpected(script.error());
      plan_.program = *std::move(script);
      plan_.submits_itself = recipe_ == nullptr || recipe_->document != kBatchScriptDocument;
      return {};
    }
    plan_.program = settings_.runner;
    plan_.program_arguments = runner_arguments(wanted());
    return {};
  }

  void default_to(std::string& field, const char* name, std::string_view value,
                  std::string_view origin) {
    if (!field.empty() || value.empty()) return;
    field = value;
    origins_[name] = origin;
  }

  const ClusterSettings& settings_;
  const Catalog& catalog_;
  const RunnerFacts& runner_;
  const parser::LaunchDefaults* defaults_ = nullptr;
  std::vector<const Recipe*> of_model_;
  const Recipe* recipe_ = nullptr;
  Origins origins_;
  std::string container_note_;
  std::string backend_note_;
  std::vector<std::string> set_aside_notes_;
  Plan plan_;
};

}  // namespace

Result<const parser::Workload*> known_workload(const std::string& typed, const Catalog& catalog) {
  if (const parser::Workload* const workload = catalog.workload(typed)) return workload;
  std::vector<std::string> names;
  for (const auto& known : catalog.workloads) names.push_back(known.workload);
  if (typed.empty()) return fail("the workload is missing; known: " + listed(names));
  return fail(fmt::format("unknown workload {}{}; known: {}", in_quotes(typed), meant(typed, names),
                          listed(names)));
}

Result<Plan> plan_submission(const Submission& submission, const ClusterSettings& settings,
                             const Catalog& catalog, const RunnerFacts& runner) {
  return Planner(submission, settings, catalog, runner).plan();
}

}  // namespace llmb::dispatch
