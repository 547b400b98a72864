#include "runner/plan/run_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/data/synthetic_tokens.h"
#include "runner/plan/layout_check.h"
#include "runner/plan/recipe_choice.h"

namespace llmb::runner {
namespace {

constexpr int kStepCount = 50;
constexpr int kProfiledStepCount = 5;
constexpr int kNemotronProfileStepCount = 25;

Precision precision_of(const std::string& dtype) {
  if (dtype == "fp32") return Precision::fp32;
  if (dtype == "bf16") return Precision::bf16;
  if (dtype == "fp8_mx") return Precision::mxfp8;
  return dtype == "fp8_ds" ? Precision::fp8_delayed : Precision::fp8_current;
}

// A plan is of GPUs unless the CPU is asked for: it needs none of them.
Backend backend_of(const Options& options) {
  return options.backend.value_or(options.dry_run ? Backend::cuda : built_backends().back());
}

// A launcher started one process a rank.
Result<int> launched_scale(const Options& options) {
  if (options.virtual_ranks) {
    return parser::fail(fmt::format(
        "the launcher started {} processes, and --virtual-ranks wants the ranks as threads of "
        "one: start one process, or leave it out",
        options.launched_ranks));
  }
  if (options.scale && *options.scale != options.launched_ranks && !options.dry_run) {
    return parser::fail(
        fmt::format("the launcher started {} processes, and the scale is {}: one process is one "
                    "rank",
                    options.launched_ranks, *options.scale));
  }
  return options.scale.value_or(options.launched_ranks);
}

// How many ranks there are: asked for, or what the sizes make.
Result<int> scale_of(const Options& options) {
  if (options.scale && options.virtual_ranks && *options.scale != *options.virtual_ranks) {
    return parser::fail(
        fmt::format("--scale {} and --virtual-ranks {} disagree: with virtual ranks, all ranks "
                    "are in this process; give one",
                    *options.scale, *options.virtual_ranks));
  }
  if (options.launched_ranks > 1) return launched_scale(options);
  if (options.scale) return *options.scale;
  if (options.virtual_ranks) return *options.virtual_ranks;
  const bool any = options.tp || options.cp || options.dp || options.pp;
  if (any || backend_of(options) == Backend::cpu) {
    return options.tp.value_or(1) * options.cp.value_or(1) * options.dp.value_or(1) *
           options.pp.value_or(1);
  }
  return parser::fail("on how many GPUs? Give --scale N, or JOB_TOTAL_GPUS");
}

void apply_recipe(const parser::Catalog& catalog, int scale, const Options& options,
                  RunSettings& settings, ShapeOverrides& shape) {
  const parser::Recipe& recipe = *settings.recipe;
  settings.sizes =
      recipe_sizes(recipe, catalog.document(recipe.document), scale, options, settings.notes);
  settings.batch.micro_batch_size = recipe.micro_batch_size;
  settings.batch.global_batch_size =
      recipe.global_batch_size.value(scale).value_or(recipe.micro_batch_size * settings.sizes.dp);
  settings.fully_sharded = recipe.fully_sharded.value_or(false);
  settings.recompute_layers = recipe.recompute_layers.value_or(0);
  settings.offload_layers = recipe.offload_layers.value_or(0);
  shape.layer_count = shape.layer_count.value_or(recipe.layer_count);
  shape.sequence_length = shape.sequence_length.value_or(recipe.sequence_length);
}

void apply_size_overrides(const Options& options, int scale, RunSettings& settings) {
  ParallelSizes& sizes = settings.sizes;
  sizes.tp = options.tp.value_or(sizes.tp);
  sizes.cp = options.cp.value_or(sizes.cp);
  sizes.pp = options.pp.value_or(sizes.pp);
  // An override that takes the pipeline away takes its interleaving with it.
  sizes.vp = options.vp.value_or(sizes.pp == 1 ? 1 : sizes.vp);
  sizes.ep = options.ep.value_or(sizes.ep);
  const bool has_row_etp = settings.recipe != nullptr && settings.recipe->expert_tensor_parallel;
  const int default_etp = settings.spec.is_moe() && !has_row_etp ? sizes.tp : sizes.etp;
  sizes.etp = options.etp.value_or(default_etp);
  const int replica = sizes.tp * sizes.cp * sizes.pp;
  sizes.dp = options.dp.value_or(std::max(1, scale / replica));
  settings.batch.micro_batch_size =
      options.micro_batch_size.value_or(settings.batch.micro_batch_size);
  const std::int64_t smallest_batch =
      settings.batch.micro_batch_size * sizes.dp * (sizes.pp > 1 ? sizes.pp : 1);
  if (options.global_batch_size) {
    settings.batch.global_batch_size = *options.global_batch_size;
  } else if (settings.recipe == nullptr) {
    settings.batch.global_batch_size = smallest_batch;
    settings.notes.push_back(
        fmt::format("no published row has {} {} GPUs: sizes that were not given are 1, and the "
                    "global batch is {}",
                    scale, settings.gpu_type, smallest_batch));
  }
}

// A slice's weights and losses are not those of the whole run: there is nothing to keep or go on
// from.
Result<void> apply_rank_slice(const Options& options, RunSettings& settings) {
  if (!options.rank_slice) return {};
  const int slice = *options.rank_slice;
  if (slice >= settings.world_size()) {
    return parser::fail(fmt::format("--rank-slice {}: the layout has ranks 0 to {}", slice,
                                    settings.world_size() - 1));
  }
  if (options.virtual_ranks || options.launched_ranks > 1) {
    return parser::fail(
        fmt::format("--rank-slice {} runs one rank alone, in one process: leave out "
                    "--virtual-ranks, and start no other process",
                    slice));
  }
  if (options.enable_checkpoint || !options.load_checkpoint_path.empty()) {
    return parser::fail(fmt::format(
        "--rank-slice {} has no model of its own to save or load: leave checkpoints out", slice));
  }
  settings.rank_slice = options.rank_slice;
  return {};
}

// From so many rows of a micro-batch on, the product of one expert fills a GPU, and the library's
// kernels use instructions of its tensor cores (wgmma) that give more than the own kernel's mma.
// From the rates on paper, for runs that time neither way before their first step.
constexpr std::int64_t kExpertRowsForTheLibrary = 512;

ExpertCounts expert_counts_for(const RunSettings& settings) {
  const ModelShape& shape = settings.spec.shape;
  if (!settings.spec.is_moe()) return ExpertCounts::on_device;
  const std::int64_t tokens =
      settings.batch.micro_batch_size * shape.sequence_length / settings.sizes.cp;
  const std::int64_t rows = tokens * shape.experts_per_token / shape.expert_count;
  return rows < kExpertRowsForTheLibrary ? ExpertCounts::on_device : ExpertCounts::on_host;
}

// Of their own recipe's program; here they are measured to gain nothing at the recipes' shapes.
void note_graphs_of_row(RunSettings& settings) {
  if (settings.wants_graphs || settings.recipe == nullptr) return;
  const std::string dtype(precision_name(settings.precision));
  if (!settings.recipe->has_cuda_graphs(dtype).value_or(false)) return;
  const bool may_have_them = why_no_graphs(settings).empty();
  settings.notes.push_back(std::string("the row has CUDA graphs, and this run has none") +
                           (may_have_them ? ": --cuda-graphs true asks for them" : ""));
}

// What makes a model fit: sharding, recomputation, offloading, chunks of logits.
void apply_saving(const Options& options, RunSettings& settings) {
  settings.fully_sharded = options.fully_sharded.value_or(settings.fully_sharded);
  if (options.recompute_layers) {
    settings.recompute_layers = *options.recompute_layers;
    settings.may_recompute_more = false;
  }
  settings.offload_layers = options.offload_layers.value_or(settings.offload_layers);
  settings.head_chunk_rows = options.head_chunk_rows.value_or(settings.head_chunk_rows);
  settings.expert_counts = options.expert_counts.value_or(expert_counts_for(settings));
  settings.wants_graphs = options.wants_graphs;
  note_graphs_of_row(settings);
  settings.expert_imbalance = options.expert_imbalance;
  if (settings.offload_layers > 0 && settings.backend == Backend::cpu) {
    settings.notes.push_back(
        fmt::format("offloading {} layers does nothing on the CPU: their activations are in the "
                    "host's memory anyway",
                    settings.offload_layers));
  }
}

Result<void> apply_steps(const Options& options, RunSettings& settings) {
  const bool is_nemotron = settings.spec.shape.family == "nemotron4";
  int count = kStepCount;
  if (options.enable_profile && is_nemotron) count = kNemotronProfileStepCount;
  if (!options.load_checkpoint_path.empty()) count = 1;
  settings.step_count = options.step_count.value_or(count);
  if (!options.enable_profile) return {};
  if (options.enable_nccl_trace) {
    return parser::fail(
        "profiling and the NCCL trace exclude each other: each slows what the other measures; "
        "give one");
  }
  settings.profile_stop_step = options.profile_stop_step.value_or(settings.step_count);
  settings.profile_start_step = options.profile_start_step.value_or(
      std::max(0, settings.profile_stop_step - kProfiledStepCount));
  if (settings.profile_start_step < 0 ||
      settings.profile_start_step >= settings.profile_stop_step ||
      settings.profile_stop_step > settings.step_count) {
    return parser::fail(
        fmt::format("cannot profile steps {} to {} of a run of {} steps: the start step must come "
                    "before the stop step, and the stop step may be at most {}",
                    settings.profile_start_step, settings.profile_stop_step, settings.step_count,
                    settings.step_count));
  }
  return {};
}

LogFormat default_log_format(const parser::Catalog& catalog, const std::string& workload) {
  // The newest document of the workload says which producer writes its logs.
  for (auto document = catalog.documents.rbegin(); document != catalog.documents.rend();
       ++document) {
    if (document->workload != workload || document->dialects.empty()) continue;
    return document->dialects.front() == parser::Dialect::megatron_bridge
               ? LogFormat::megatron_bridge
               : LogFormat::nemo;
  }
  return LogFormat::nemo;
}

// Nothing where the row's document states no model FLOPs.
std::optional<parser::FlopsFormula> documented_formula(const parser::Catalog& catalog,
                                                       const parser::Workload& workload,
                                                       const parser::Recipe* recipe) {
  if (recipe == nullptr) return workload.flops_formula;
  const parser::Document* const document = catalog.document(recipe->document);
  return document == nullptr ? std::nullopt : document->flops_formula;
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += (text.empty() ? "" : "\n  ") + sentence;
  return text;
}

Result<void> check(const RunSettings& settings, int scale) {
  const auto layout = Layout::make(settings.sizes, scale);
  if (!layout) return tl::unexpected(layout.error());
  const auto wrong = check_layout(settings.spec, settings.sizes, settings.batch);
  if (!wrong.empty()) return parser::fail(joined(wrong));
  const std::int64_t vocabulary_size = settings.spec.shape.vocabulary_size;
  if (vocabulary_size < SyntheticTokens::kVocabularySizeMin) {
    return parser::fail(
        fmt::format("a vocabulary of {} tokens is too small for the synthetic data, which needs {}",
                    vocabulary_size, SyntheticTokens::kVocabularySizeMin));
  }
  return {};
}

}  // namespace

std::string why_no_graphs(const RunSettings& settings) {
  if (settings.backend != Backend::cuda) return "only CUDA has them";
  if (!settings.spec.is_moe()) return "";
  if (settings.sizes.ep > 1) {
    return "experts on several ranks let the host wait in every pass, for the rows that travel";
  }
  if (settings.counts_experts_on_device()) return "";
  return "the library's products of experts let the host wait in every pass, for the rows of "
         "each";
}

Result<RunSettings> make_run_settings(const Options& options, const parser::Catalog& catalog) {
  const auto model_size = choose_model_size(options, catalog);
  if (!model_size) return tl::unexpected(model_size.error());
  const auto model = find_model(catalog, options.workload, *model_size);
  if (!model) return tl::unexpected(model.error());
  const parser::Workload& workload = *catalog.workload(options.workload);
  const auto scale = scale_of(options);
  if (!scale) return tl::unexpected(scale.error());
  const auto choice = choose_recipe(options, catalog, *model_size, *scale);
  if (!choice) return tl::unexpected(choice.error());

  RunSettings settings;
  settings.workload = workload.workload;
  settings.gpu_type = choice->gpu_type;
  settings.precision = precision_of(choice->dtype);
  settings.notes = choice->notes;
  for (const std::string& name : options.variables_without_effect) {
    settings.notes.push_back(fmt::format("{} is set and has no effect on this program", name));
  }
  settings.published_shape = (*model)->shape;
  settings.backend = backend_of(options);
  settings.launched_ranks = options.launched_ranks;
  settings.flops_formula = options.flops_formula;
  settings.log_format = options.log_format.value_or(default_log_format(catalog, settings.workload));
  settings.recipe = choice->recipe;
  settings.documented_formula = documented_formula(catalog, workload, choice->recipe);
  ShapeOverrides shape = options.shape;
  if (settings.recipe != nullptr) apply_recipe(catalog, *scale, options, settings, shape);
  auto spec = make_model_spec((*model)->shape, shape);
  if (!spec) return tl::unexpected(spec.error());
  settings.spec = std::move(*spec);
  apply_size_overrides(options, *scale, settings);
  apply_saving(options, settings);
  if (const auto steps = apply_steps(options, settings); !steps) {
    return tl::unexpected(steps.error());
  }
  if (const auto slice = apply_rank_slice(options, settings); !slice) {
    return tl::unexpected(slice.error());
  }
  if (const auto checked = check(settings, *scale); !checked) {
    return tl::unexpected(checked.error());
  }
  return settings;
}

std::vector<std::string> model_flags(const RunSettings& settings) {
  const ModelShape& shape = settings.spec.shape;
  const ModelShape& published = settings.published_shape;
  std::vector<std::string> flags = {
      fmt::format("--workload={}", settings.workload),
      fmt::format("--model-size={}", published.size),
      fmt::format("--dtype={}", precision_name(settings.precision)),
      fmt::format("--micro-batch-size={}", settings.batch.micro_batch_size),
      fmt::format("--global-batch-size={}", settings.batch.global_batch_size)};
  const auto add = [&](std::string_view name, std::int64_t ModelShape::*field) {
    if (shape.*field != published.*field)
      flags.push_back(fmt::format("--{}={}", name, shape.*field));
  };
  add("num-layers", &ModelShape::layer_count);
  add("num-experts", &ModelShape::expert_count);
  add("experts-per-token", &ModelShape::experts_per_token);
  add("seq-length", &ModelShape::sequence_length);
  add("vocab-size", &ModelShape::vocabulary_size);
  add("hidden-size", &ModelShape::hidden_size);
  add("num-attention-heads", &ModelShape::attention_head_count);
  add("num-query-groups", &ModelShape::query_group_count);
  add("head-size", &ModelShape::head_size);
  add("ffn-hidden-size", &ModelShape::ffn_hidden_size);
  add("expert-ffn-hidden-size", &ModelShape::expert_ffn_hidden_size);
  add("shared-expert-ffn-hidden-size", &ModelShape::shared_expert_ffn_hidden_size);
  return flags;
}

}  // namespace llmb::runner
