#include "runner/plan/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace llmb::runner {
namespace {

constexpr const char* kDescription =
    "Trains a recipe's model for a few steps on synthetic tokens and prints the recipe's log\n"
    "lines; with --dry-run it prints what such a run would be, and needs no GPU.";

constexpr const char* kExamples =
    "Examples:\n"
    "  The plan of a published configuration (layout, memory, FLOPs, floor):\n"
    "    llmb-step-runner -w pretrain_grok1 -s 314b --dtype bf16 --scale 512 --gpu-type h100"
    " --dry-run\n"
    "  The same, as the recipes' launch scripts are called:\n"
    "    JOB_TOTAL_GPUS=512 DTYPE=bf16 MODEL_SIZE=314b GPU_TYPE=h100 \\\n"
    "      llmb-step-runner -w pretrain_grok1 --dry-run\n"
    "  A tiny proxy on this machine's CPU, as 8 ranks:\n"
    "    llmb-step-runner -w pretrain_llama3.1 -s 8b --backend cpu --virtual-ranks 8 --tp 2 --pp 2"
    " \\\n"
    "      --num-layers 4 --hidden-size 64 --num-attention-heads 4 --num-query-groups 2 \\\n"
    "      --head-size 16 --ffn-hidden-size 128 --vocab-size 256 --seq-length 64 \\\n"
    "      --micro-batch-size 1 --global-batch-size 8\n"
    "  What this machine sustains of the products, attention and copies of such a model:\n"
    "    llmb-step-runner ceilings -w pretrain_llama3.1 -s 8b\n"
    "\n"
    "What is not given comes from the recipe's table for that GPU, precision and scale.\n"
    "--version prints the version, and the backends that this build has.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong options, or a device is not there, 3 does not fit,\n"
    "4 communication, 5 not a number.";

// One of a few words. CLI11's own transformers would show the words' numbers in help and errors.
template <typename Target, typename Choice>
CLI::Option* add_choice(CLI::App& group, const std::string& name, Target& target,
                        const std::vector<std::pair<std::string, Choice>>& choices,
                        const std::string& what) {
  std::vector<std::string> words;
  words.reserve(choices.size());
  for (const auto& [word, choice] : choices) words.push_back(word);
  const auto choose = [&target, choices](const std::string& wanted) {
    for (const auto& [word, choice] : choices) {
      if (word == wanted) target = choice;
    }
  };
  return group.add_option_function<std::string>(name, choose, what)->check(CLI::IsMember(words));
}

void add_recipe_options(CLI::App& app, Options& options) {
  auto* group = app.add_option_group("Recipe", "which published configuration is meant");
  group->add_option("-w,--workload", options.workload, "pretrain_grok1, pretrain_llama3.1, …");
  group->add_option("-s,--model-size", options.model_size,
                    "314b, 8b, …; without it the document's, where it names one [MODEL_SIZE]");
  group
      ->add_option("--dtype", options.dtype,
                   "bf16, fp32, fp8 (as fp8_cs), fp8_cs: scaled by the current, fp8_ds: by earlier "
                   "amax, fp8_mx: in blocks of 32, on CUDA from sm_100 on; without it the table's "
                   "only one, else bf16 [DTYPE]")
      ->check(CLI::IsMember({"bf16", "fp8", "fp8_cs", "fp8_ds", "fp8_mx", "fp32"}));
  group->add_option("--scale", options.scale, "number of GPUs (ranks) [JOB_TOTAL_GPUS]")
      ->check(CLI::PositiveNumber);
  group->add_option("--gpu-type", options.gpu_type,
                    "h100, b200, gb200, gb300; without it one that the tables have at this scale"
                    " [GPU_TYPE]");
  group->add_option("--document", options.document,
                    "rows of this document only, such as grok1-24.11; without it the newest count");
}

void add_shape_options(CLI::App& app, ShapeOverrides& shape) {
  auto* group = app.add_option_group("Model", "overrides of the published shape: a proxy");
  group->add_option("--num-layers", shape.layer_count, "layers");
  group->add_option("--num-experts", shape.expert_count, "experts of an MoE layer");
  group->add_option("--experts-per-token", shape.experts_per_token, "the router's top-k");
  group->add_option("--seq-length", shape.sequence_length, "tokens of one sequence");
  group->add_option("--vocab-size", shape.vocabulary_size, "entries of the vocabulary");
  group->add_option("--hidden-size", shape.hidden_size, "hidden size");
  group->add_option("--num-attention-heads", shape.attention_head_count, "query heads");
  group->add_option("--num-query-groups", shape.query_group_count, "key/value heads");
  group->add_option("--head-size", shape.head_size, "size of one head");
  group->add_option("--ffn-hidden-size", shape.ffn_hidden_size, "width of a dense layer's MLP");
  group->add_option("--expert-ffn-hidden-size", shape.expert_ffn_hidden_size, "of one expert");
  group->add_option("--shared-expert-ffn-hidden-size", shape.shared_expert_ffn_hidden_size,
                    "of the shared expert; 0: none");
}

void add_layout_options(CLI::App& app, Options& options) {
  auto* group = app.add_option_group("Layout", "overrides of the recipe's parallel sizes");
  const auto add = [group](const char* name, std::optional<int>& target, const char* what) {
    group->add_option(name, target, what)->check(CLI::PositiveNumber);
  };
  add("--tp", options.tp, "tensor parallel, with sequence parallel");
  add("--pp", options.pp, "pipeline parallel");
  add("--vp", options.vp, "virtual pipeline: model chunks a rank");
  add("--cp", options.cp, "context parallel");
  add("--ep", options.ep, "expert parallel");
  add("--etp", options.etp, "expert tensor parallel");
  add("--dp", options.dp, "data parallel; without it what the scale leaves");
  group->add_option("--micro-batch-size", options.micro_batch_size, "sequences of one pass")
      ->check(CLI::PositiveNumber);
  group->add_option("--global-batch-size", options.global_batch_size, "sequences of one step")
      ->check(CLI::PositiveNumber);
  group->add_option("--fsdp", options.fully_sharded,
                    "true or false: shard weights and gradients over the replicas as well");
  group
      ->add_option(
          "--recompute-layers", options.recompute_layers,
          "layers of a stage that go forward again instead of keeping activations; without it "
          "those of the row, and on GPUs as many more as make it fit")
      ->check(CLI::NonNegativeNumber);
  group
      ->add_option("--offload-layers", options.offload_layers,
                   "layers of a stage whose activations wait in the host's memory")
      ->check(CLI::NonNegativeNumber);
  group
      ->add_option("--expert-imbalance", options.expert_imbalance,
                   "where experts are on several ranks: the rows that memory is planned for, as a "
                   "multiple of the even share of a rank. A run tells which ranks get more")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  group
      ->add_option("--head-chunk-rows", options.head_chunk_rows,
                   "tokens whose logits exist at once; without it as many as 512 MiB hold, and "
                   "1024 at least. Fewer need less memory and make smaller products")
      ->check(CLI::PositiveNumber);
}

void add_run_options(CLI::App& app, Options& options) {
  auto* group = app.add_option_group("Run", "where and how long it trains");
  add_choice<std::optional<Backend>, Backend>(*group, "--backend", options.backend,
                                              {{"cuda", Backend::cuda}, {"cpu", Backend::cpu}},
                                              "where it computes; without it cuda where the "
                                              "program has it (see --version), else cpu");
  group->add_option("--virtual-ranks", options.virtual_ranks, "ranks as threads of this process")
      ->check(CLI::PositiveNumber);
  group
      ->add_option("--rank-slice", options.rank_slice,
                   "measure this rank of the whole layout alone: others are replaced by copies of "
                   "its own data, so its losses mean nothing")
      ->check(CLI::NonNegativeNumber);
  group->add_option("--steps", options.step_count, "training steps; 50 without it")
      ->check(CLI::PositiveNumber);
  group->add_option("--seed", options.seed, "of weights and tokens")->capture_default_str();
  group->add_option("--learning-rate", options.learning_rate, "of AdamW")->capture_default_str();
  group
      ->add_option("--tune-seconds", options.tune_seconds,
                   "CUDA: time the algorithms of matrix products before the first step, for so "
                   "long at most; 0 takes those that cuBLASLt names first")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  group
      ->add_option("--product-plans", options.product_plans_path,
                   "file that keeps the algorithms that were chosen: a later run on such a GPU, "
                   "driver and cuBLASLt takes them from there, and its products repeat their bits; "
                   "'' keeps none")
      ->capture_default_str();
  add_choice<std::optional<ExpertCounts>, ExpertCounts>(
      *group, "--expert-products", options.expert_counts,
      {{"device", ExpertCounts::on_device}, {"library", ExpertCounts::on_host}},
      "CUDA: products of experts that are all on a rank: by an own kernel that reads on the device "
      "how many rows each has, so that the host waits for nothing in a pass; or an expert at a "
      "time by cuBLASLt, after a wait a layer. Without it both are timed before the first step, "
      "and the quicker one is taken and kept with the plans; where nothing is timed or kept, the "
      "library where an expert gets 512 rows of a micro-batch on average. fp8_mx and experts "
      "on several ranks always take the library");
  group
      ->add_option("--cuda-graphs", options.wants_graphs,
                   "true or false. CUDA: from the second step on each pass of a micro-batch is "
                   "launched in one call, with the same operations: for models whose operations "
                   "take less time than the host needs to put them on the device. Not where the "
                   "host waits for experts' rows; the log says so")
      ->capture_default_str();
  group->add_flag("--dry-run", options.dry_run, "print the plan and end");
  group
      ->add_option("--ceiling-seconds", options.ceiling_seconds,
                   "of `ceilings`: how long each measurement goes on")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void add_output_options(CLI::App& app, Options& options) {
  auto* group = app.add_option_group("Output", "what it prints and keeps");
  add_choice<std::optional<LogFormat>, LogFormat>(
      *group, "--log-format", options.log_format,
      {{"nemo", LogFormat::nemo}, {"megatron-bridge", LogFormat::megatron_bridge}},
      "whose lines it prints; without it those of the recipe");
  add_choice<parser::FlopsFormula, parser::FlopsFormula>(
      *group, "--flops-formula", options.flops_formula,
      {{"megatron", parser::FlopsFormula::megatron},
       {"recipe", parser::FlopsFormula::recipe},
       {"recipe-2025.04", parser::FlopsFormula::recipe_2025_04},
       {"recipe-full-attention", parser::FlopsFormula::recipe_full_attention}},
      "how FLOPs are counted; megatron without it");
  group->add_option("--phases", options.phases_path,
                    "file for one JSON line a step: communication; on CPUs the phases; on CUDA the "
                    "GPU's clocks, power and energy");
  group->add_flag("-p,--profile", options.enable_profile, "profile some steps [ENABLE_PROFILE]");
  group->add_option("--profile-start-step", options.profile_start_step,
                    "first profiled step [PROFILE_START_STEP, RUN_CONF_PROFILE_START_STEP]");
  group->add_option("--profile-stop-step", options.profile_stop_step,
                    "profiling ends before this step [PROFILE_STOP_STEP, "
                    "RUN_CONF_PROFILE_STOP_STEP]");
  group->add_flag(
      "--nccl-trace", options.enable_nccl_trace,
      "trace the first 5 steps' communication; the run goes on, unless --steps 5 ends it "
      "there [ENABLE_NCCLTRACE]");
  group->add_flag("--checkpoint", options.enable_checkpoint,
                  "save after the last step [ENABLE_CHECKPOINT]");
  group->add_option("--checkpoint-path", options.checkpoint_path, "where to save")
      ->capture_default_str();
  group->add_option("--load-checkpoint", options.load_checkpoint_path,
                    "continue for one step from there [LOAD_CHECKPOINT_PATH]");
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// "Did you mean --scale?", or empty where no flag is near.
std::string nearest_flag(const CLI::App& app, const std::string& unknown) {
  const std::string wanted = unknown.substr(0, unknown.find('='));
  std::string best;
  std::size_t best_distance = wanted.size() / 2;
  std::vector<const CLI::App*> groups = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* group : groups) {
    for (const CLI::Option* option : group->get_options()) {
      const std::string name = "--" + option->get_lnames().front();
      const std::size_t distance = edit_distance(wanted, name);
      if (distance >= best_distance) continue;
      best_distance = distance;
      best = name;
    }
  }
  return best.empty() ? "" : fmt::format("Did you mean {}?\n", best);
}

std::string explain(const CLI::App& app, const CLI::ParseError& error,
                    const std::vector<std::string>& environment_flags) {
  std::string text = fmt::format("{}{}\n", kRefused, error.what());
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const std::string& extra : app.remaining(true)) text += nearest_flag(app, extra);
  }
  for (const std::string& flag : environment_flags) {
    const std::string name = flag.substr(0, flag.find('='));
    if (text.find(name) == std::string::npos) continue;
    text += fmt::format("({} comes from the environment.)\n", flag);
  }
  return text + "Run with --help for every option and examples.\n";
}

std::vector<Backend>& backends() {
  static std::vector<Backend> of_this_program{Backend::cpu};
  return of_this_program;
}

std::string version_text() {
  std::vector<std::string_view> names;
  for (const Backend backend : built_backends()) names.push_back(backend_name(backend));
  return fmt::format("llmb-step-runner {}\nbackends: {}", LLMB_VERSION, fmt::join(names, " "));
}

}  // namespace

const std::vector<Backend>& built_backends() {
  return backends();
}

void add_built_backend(Backend backend) {
  backends().push_back(backend);
}

std::string_view backend_name(Backend backend) {
  return backend == Backend::cuda ? "cuda" : "cpu";
}

ParsedOptions parse_options(const std::vector<std::string>& arguments,
                            const Environment& environment,
                            const std::vector<std::string>& saved_flags) {
  ParsedOptions parsed;
  CLI::App app(kDescription, "llmb-step-runner");
  app.footer(kExamples);
  app.set_version_flag("--version", version_text());
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_recipe_options(app, parsed.options);
  add_shape_options(app, parsed.options.shape);
  add_layout_options(app, parsed.options);
  add_run_options(app, parsed.options);
  add_output_options(app, parsed.options);

  parsed.options.measures_ceilings = !arguments.empty() && arguments.front() == "ceilings";
  const std::vector<std::string> from_environment = flags_from_environment(environment);
  // CLI11 takes its vector from the back.
  std::vector<std::string> all(arguments.rbegin(),
                               arguments.rend() - (parsed.options.measures_ceilings ? 1 : 0));
  all.insert(all.end(), from_environment.rbegin(), from_environment.rend());
  all.insert(all.end(), saved_flags.rbegin(), saved_flags.rend());
  try {
    app.parse(all);
    parsed.options.variables_without_effect = variables_without_effect(environment);
  } catch (const CLI::CallForHelp&) {
    parsed.exit_code = kExitOk;
    parsed.text = app.help();
  } catch (const CLI::CallForVersion& version) {
    parsed.exit_code = kExitOk;
    parsed.text = std::string(version.what()) + "\n";
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = kExitUsage;
    parsed.text = explain(app, error, from_environment);
  }
  return parsed;
}

}  // namespace llmb::runner
