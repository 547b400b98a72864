#include "runner/plan/plan_text.h"

#include <algorithm>

#include "runner/operation/fp8_format.h"
#include "runner/plan/communicator_count.h"
#include "runner/plan/fp8_weights.h"
#include "runner/plan/pass_bytes.h"
#include "runner/plan/pass_graphs.h"
#include "runner/plan/text_format.h"

namespace llmb::runner {
namespace {

std::string number(std::int64_t value) {
  return std::to_string(value);
}

// "316.49 B", "21.3 M": parameters.
std::string count_text(std::int64_t count) {
  const auto value = static_cast<double>(count);
  if (value >= 1e9) return text_of("%.2f B", value / 1e9);
  if (value >= 1e6) return text_of("%.2f M", value / 1e6);
  return number(count);
}

std::string model_text(const RunSettings& settings) {
  const ModelShape& shape = settings.spec.shape;
  std::string text = "model      " + shape.family + " " + shape.size + ", " +
                     count_text(parser::parameter_count(shape)) + " parameters, " +
                     count_text(parser::active_parameter_count(shape)) + " active a token, " +
                     std::string(precision_name(settings.precision)) + "\n";
  text += "           " + number(shape.layer_count) + " layers, hidden " +
          number(shape.hidden_size) + ", heads " + number(shape.attention_head_count) + " with " +
          number(shape.query_group_count) + " key/value heads of " + number(shape.head_size) +
          ", " + std::string(activation_name(shape.activation)) + ", " +
          std::string(normalization_name(shape.normalization)) + "\n";
  text += "           ";
  if (settings.spec.is_moe()) {
    text += number(shape.expert_count) + " experts of " + number(shape.expert_ffn_hidden_size) +
            ", top-" + number(shape.experts_per_token);
    if (shape.moe_layer_interval > 1) {
      text += ", every " + number(shape.moe_layer_interval) + " layers (dense ffn " +
              number(shape.ffn_hidden_size) + ")";
    }
    if (shape.shared_expert_ffn_hidden_size > 0) {
      text += ", shared expert of " + number(shape.shared_expert_ffn_hidden_size);
    }
  } else {
    text += "ffn " + number(shape.ffn_hidden_size);
  }
  text += ", vocabulary " + number(shape.vocabulary_size) + ", sequence " +
          number(shape.sequence_length) + "\n";
  for (const std::string& change : settings.spec.overrides) {
    text += "           differs from the published model: " + change + "\n";
  }
  return text;
}

std::string recipe_text(const RunSettings& settings) {
  std::string text = "recipe     ";
  if (settings.recipe == nullptr) {
    text += "none: " + settings.workload + " has no published row like this\n";
  } else {
    text += settings.workload + ", document " + settings.recipe->document + " line " +
            number(settings.recipe->line) + "\n";
  }
  for (const std::string& note : settings.notes) text += "           note: " + note + "\n";
  return text;
}

std::string group_line(const Layout& layout, GroupKind kind, const char* purpose) {
  const auto groups = layout.groups(kind);
  if (groups.front().size() == 1) return "";
  constexpr std::size_t kShownMax = 8;
  std::string ranks;
  for (std::size_t i = 0; i < std::min(kShownMax, groups.front().size()); ++i) {
    ranks += (i == 0 ? "" : " ") + number(groups.front()[i]);
  }
  if (groups.front().size() > kShownMax) ranks += " … " + number(groups.front().back());
  return text_of("           %-15s %6zu groups of %4zu  %-34s [%s]\n",
                 std::string(group_kind_name(kind)).c_str(), groups.size(), groups.front().size(),
                 purpose, ranks.c_str());
}

std::string layout_text(const RunSettings& settings) {
  const ParallelSizes& sizes = settings.sizes;
  std::string text = "layout     " + number(sizes.world()) + " ranks = TP " + number(sizes.tp) +
                     " x CP " + number(sizes.cp) + " x DP " + number(sizes.dp) + " x PP " +
                     number(sizes.pp) + ", VP " + number(sizes.vp);
  if (settings.spec.is_moe()) {
    text += "; experts ETP " + number(sizes.etp) + " x EP " + number(sizes.ep) + " x EDP " +
            number(sizes.edp()) + " x PP " + number(sizes.pp);
  }
  if (settings.fully_sharded) text += "; fully sharded";
  if (settings.recompute_layers > 0) {
    text += "; recomputes " + number(settings.recompute_layers) + " layers";
  }
  if (settings.offload_layers > 0) {
    text += "; offloads " + number(settings.offload_layers) + " layers";
  }
  if (has_graphs(settings)) text += "; CUDA graphs";
  text += "\n";
  const auto layout = Layout::make(sizes, sizes.world());
  if (!layout) return text;
  text += group_line(*layout, GroupKind::tensor, "all-gather, reduce-scatter");
  text += group_line(*layout, GroupKind::context, "keys and values");
  text += group_line(*layout, GroupKind::data_context, "gradients, optimizer states");
  text += group_line(*layout, GroupKind::pipeline, "activations, their gradients");
  if (settings.spec.is_moe()) {
    text += group_line(*layout, GroupKind::expert, "tokens, all-to-all");
    text += group_line(*layout, GroupKind::expert_tensor, "experts' all-gather, reduce-scatter");
    text += group_line(*layout, GroupKind::expert_data, "experts' gradients");
  }
  return text;
}

std::string schedule_text(const RunSettings& settings, const StepFloor& floor) {
  const ParallelSizes& sizes = settings.sizes;
  const std::int64_t tokens =
      settings.batch.global_batch_size * settings.spec.shape.sequence_length;
  std::string text = "batch      global " + number(settings.batch.global_batch_size) +
                     " sequences (" + number(tokens) + " tokens), micro " +
                     number(settings.batch.micro_batch_size) + ", " +
                     number(settings.micro_batches()) + " micro-batches a replica\n";
  if (sizes.pp == 1) return text + "schedule   no pipeline: forward and backward in turn\n";
  text += "schedule   ";
  text += sizes.vp > 1 ? "interleaved 1F1B, " + number(sizes.vp) + " chunks a stage" : "1F1B";
  const long long slots = settings.micro_batches() * sizes.vp;
  text += text_of(", bubble %.2f %% (pp-1 = %d by vp x micro-batches = %lld)\n",
                  100 * floor.bubble_fraction, sizes.pp - 1, slots);
  return text;
}

std::string head_text(const RunSettings& settings) {
  const HeadCost head = head_cost(settings);
  const std::int64_t bytes = head.chunk_rows *
                             (settings.spec.shape.vocabulary_size / settings.sizes.tp) *
                             number_bytes(settings.precision, settings.backend).activation;
  const std::string rows = head.chunk_rows == head.rows
                               ? "all " + number(head.rows) + " tokens"
                               : number(head.chunk_rows) + " of " + number(head.rows) + " tokens";
  return "head       logits of " + rows + " of a micro-batch at once, " + gib(bytes) +
         " GiB\n           in the memory that a pass of the layers needs too: 'logits' is what "
         "that "
         "lacks\n";
}

std::string steps_text(const RunSettings& settings) {
  std::string text = "steps      " + number(settings.step_count);
  if (settings.profile_stop_step > 0) {
    text += text_of(", profiled from step %d on, before step %d", settings.profile_start_step,
                    settings.profile_stop_step);
  }
  return text + "\n";
}

// "0-3", or for interleaved stages "0, 8, 16, … 56".
std::string layers_text(const StageBytes& stage) {
  std::string text;
  for (std::size_t i = 0; i < stage.chunks.size(); ++i) {
    const bool is_shown = i < 2 || i + 1 == stage.chunks.size();
    if (!is_shown) {
      if (i == 2) text += ",…";
      continue;
    }
    const LayerRange& chunk = stage.chunks[i];
    text += (i == 0 ? "" : ",") + number(chunk.first);
    if (chunk.size() > 1) text += "-" + number(chunk.last - 1);
  }
  return text;
}

std::string formula_text(const RunSettings& settings, parser::FlopsFormula formula) {
  const parser::ModelFlops flops = parser::model_flops_per_sequence(settings.spec.shape, formula);
  return text_of("%.4g a sequence by the formula '%s': attention %.4g, mlp %.4g, head %.4g\n",
                 flops.total(), std::string(flops_formula_name(formula)).c_str(), flops.attention,
                 flops.mlp, flops.embedding);
}

std::string flops_text(const RunSettings& settings) {
  const double step = model_flops_per_step(settings);
  std::string text =
      "FLOPs      " + formula_text(settings, settings.flops_formula) +
      text_of("           %.4g a step, %.4g a GPU\n", step, step / settings.world_size());
  const auto& documented = settings.documented_formula;
  if (documented && *documented != settings.flops_formula) {
    text += "           as the document counts: " + formula_text(settings, *documented);
  }
  return text;
}

std::string floor_text(const RunSettings& settings, const StepFloor& floor, const GpuRates& rates) {
  const bool fp8 = is_fp8(settings.precision);
  const double peak = fp8 ? rates.fp8_peak_flops : rates.bf16_peak_flops;
  return text_of("floor      %.3f s a step on %s, %.0f TFLOPS per GPU, MFU %.1f %% of %.0f\n",
                 floor.step_time_s, rates.gpu_type.c_str(), floor.tflops_per_gpu, 100 * floor.mfu,
                 peak / 1e12) +
         text_of(
             "           GEMMs %.3f s, attention %.3f s, memory-bound %.3f s, bubble %.3f s, "
             "optimizer %.3f s\n",
             floor.gemm_s, floor.attention_s, floor.memory_s, floor.bubble_s, floor.optimizer_s) +
         text_of(
             "           at %.0f %% of the GEMM peak and %.0f %% of the bandwidth; "
             "communication counted as hidden\n",
             100 * (fp8 ? rates.fp8_gemm_share : rates.gemm_share), 100 * rates.bandwidth_share) +
         (fp8 ? text_of("           of the memory-bound time, casts to FP8 %.3f s\n", floor.cast_s)
              : "");
}

// The layer that asks for most.
std::string attention_text(const RunSettings& settings) {
  std::int64_t most = 0;
  for (std::int64_t layer = 0; layer < settings.spec.shape.layer_count; ++layer) {
    most = std::max(most, attention_workspace_bytes(settings, layer));
  }
  return "           attention's workspace in a pass: " + gib(most) +
         " GiB, counted; a run asks its device's libraries\n";
}

// "1.31 times the even share": of a rank's rows of experts.
std::string share_text(const RunSettings& settings, std::int64_t rows) {
  return text_of("%.2f times the even share",
                 static_cast<double>(rows) / static_cast<double>(even_expert_rows(settings)));
}

// Of experts that ranks share out: what is planned, and the largest share that fits, in steps of a
// twentieth.
std::string imbalance_text(RunSettings settings, const GpuRates& rates) {
  if (!settings.spec.is_moe() || settings.sizes.ep == 1) return "";
  const std::string planned = share_text(settings, planned_expert_rows(settings));
  std::string text = "           experts' rows are planned as " + planned +
                     " of a rank (--expert-imbalance); a run tells where one gets more\n";
  if (settings.backend == Backend::cpu) return text;
  constexpr double kStep = 0.05;
  const double most = settings.sizes.ep;
  double fitting = 0;
  const double planned_share = settings.expert_imbalance;
  for (int step = 0; planned_share + step * kStep < most + kStep; ++step) {
    const double share = planned_share + step * kStep;
    settings.expert_imbalance = share;
    if (!make_memory_plan(settings).fits(rates.memory_bytes)) break;
    fitting = std::min(share, most);
  }
  if (fitting == 0) return text;
  return text + text_of("           %s has room for %.2f times\n", rates.gpu_type.c_str(), fitting);
}

}  // namespace

std::string lack_of_blocks(const RunSettings& settings, const GpuRates& rates) {
  const bool runs = settings.backend != Backend::cuda || settings.precision != Precision::mxfp8 ||
                    rates.compute_capability >= kFirstWithMxfp8;
  if (runs) return "";
  return text_of("FP8 in blocks (fp8_mx) needs sm_%d, and %s is sm_%d", kFirstWithMxfp8,
                 rates.gpu_type.c_str(), rates.compute_capability);
}

std::string memory_table(const RunSettings& settings, const MemoryPlan& plan) {
  const NumberBytes bytes = number_bytes(settings.precision, settings.backend);
  std::string text = text_of(
      "memory     GiB a rank; bytes a parameter: weight %lld, gradient %lld, optimizer %lld / "
      "replicas\n",
      static_cast<long long>(bytes.parameter), static_cast<long long>(bytes.gradient),
      static_cast<long long>(bytes.optimizer));
  text += text_of("  %5s  %-14s %10s %8s %8s %9s %11s %5s %7s %7s %7s %7s %8s\n", "stage", "layers",
                  "parameters", "weights", "grads", "optimizer", "activations", "live", "pass",
                  "logits", "comm", "reserve", "total");
  std::int64_t host = 0;
  for (const StageBytes& stage : plan.stages) {
    text += text_of("  %5d  %-14s %10s %8s %8s %9s %11s %5lld %7s %7s %7s %7s %8s\n", stage.stage,
                    layers_text(stage).c_str(),
                    count_text(stage.parameter_count + stage.expert_parameter_count).c_str(),
                    gib(stage.parameters + stage.fp8_weights).c_str(), gib(stage.gradients).c_str(),
                    gib(stage.optimizer).c_str(), gib(stage.activations).c_str(),
                    static_cast<long long>(stage.live_passes), gib(stage.pass).c_str(),
                    gib(stage.logits).c_str(), gib(stage.communication).c_str(),
                    gib(stage.graphs + stage.communicators + stage.reserve).c_str(),
                    gib(stage.total()).c_str());
    host = std::max(host, stage.host);
  }
  if (host > 0) text += "  offloaded to the host: " + gib(host) + " GiB a rank\n";
  return text;
}

std::string plan_text(const RunSettings& settings, const MemoryPlan& plan, const GpuRates& rates) {
  const StepFloor floor = step_floor(settings, rates);
  std::string text = model_text(settings) + recipe_text(settings) + layout_text(settings) +
                     schedule_text(settings, floor) + head_text(settings) + steps_text(settings) +
                     memory_table(settings, plan);
  if (settings.backend == Backend::cuda) {
    text += text_of("           %s of %s GiB on the fullest stage\n",
                    gib(plan.largest().total()).c_str(), gib(rates.memory_bytes).c_str());
  }
  text += imbalance_text(settings, rates);
  if (settings.backend == Backend::cuda) text += attention_text(settings);
  if (const std::string weights = fp8_weights_text(settings); !weights.empty()) {
    text += "           " + weights;
  }
  if (const std::string lack = lack_of_blocks(settings, rates); !lack.empty()) {
    text += "           a run is refused: " + lack + "\n";
  }
  if (const std::string graphs = graphs_text(settings); !graphs.empty()) {
    text += "           " + graphs;
  }
  if (plan.largest().graphs > 0) {
    text += "           of the reserve, " + gib(plan.largest().graphs) +
            " GiB are for the driver's share of the graphs, " + number(kGraphOperationBytes >> 10) +
            " KiB an operation; a run tells what they take\n";
  }
  if (plan.largest().communicators > 0) {
    text += "           of the reserve, " + gib(plan.largest().communicators) + " GiB are for " +
            number(plan.largest().communicators / kCommunicatorBytes) + " communicators of NCCL, " +
            number(kCommunicatorBytes >> 20) + " MiB each; a run tells what they take\n";
  }
  return text + flops_text(settings) + floor_text(settings, floor, rates);
}

std::string memory_use_text(const RunSettings& settings, const MemoryUse& use, int stage) {
  const StageBytes plan = make_memory_plan(settings).stages.at(static_cast<std::size_t>(stage));
  std::string text = "llmb-step-runner: memory of this rank (stage " + number(stage) +
                     ") in MiB, counted and planned: ";
  const auto add = [&](const char* what, std::int64_t counted, std::int64_t planned) {
    text += text_of("%s %.3f and %.3f, ", what, mebibytes(counted), mebibytes(planned));
  };
  add("parameters", use.parameters, plan.parameters);
  add("gradients", use.gradients, plan.gradients);
  add("optimizer", use.optimizer, plan.optimizer);
  add("activations at most", use.activations_max, plan.activations);
  text += text_of("with what a pass needs while it runs %.3f", mebibytes(use.tensors_max));
  if (settings.backend == Backend::cuda) {
    const std::int64_t planned = plan.activations + plan.pass + plan.logits;
    text += text_of(" and %.3f", mebibytes(planned));
  }
  if (settings.spec.is_moe() && settings.sizes.ep > 1) {
    text += "; rows of its experts at most " + number(use.expert_rows_max) + ", " +
            share_text(settings, use.expert_rows_max) + ", planned " +
            number(planned_expert_rows(settings));
  }
  return text + "\n";
}

std::string graph_memory_text(const RunSettings& settings, std::int64_t device_bytes, int stage) {
  const StageBytes plan = make_memory_plan(settings).stages.at(static_cast<std::size_t>(stage));
  return text_of("; the driver took %.1f MiB of the device for them, of %.1f planned",
                 mebibytes(device_bytes), mebibytes(plan.graphs));
}

std::string joined_text(const RunSettings& settings, int communicators, const std::string& library,
                        std::int64_t free_before, std::int64_t free_now) {
  const StageBytes plan = make_memory_plan(settings).stages.at(0);
  return text_of(
      "llmb-step-runner: rank 0's communicators: %d, by %s; to join took %.1f MiB of the device, "
      "of %.1f planned; %.1f MiB are free\n",
      communicators, library.c_str(), mebibytes(free_before - free_now),
      mebibytes(plan.communicators), mebibytes(free_now));
}

std::string taken_at_the_end_text(std::int64_t free_before, std::int64_t free_now) {
  return text_of(
      "llmb-step-runner: after the last step communicators have taken %.1f MiB of the device, "
      "with what first calls and graphs made; %.1f MiB are free\n",
      mebibytes(free_before - free_now), mebibytes(free_now));
}

std::string expert_rows_text(const RunSettings& settings, std::int64_t rows, int rank,
                             std::int64_t step) {
  return text_of(
      "llmb-step-runner: rank %d's experts got %lld rows of a micro-batch in step %lld, %s, and "
      "memory is planned for %lld (--expert-imbalance): what is lacking is taken from the device\n",
      rank, static_cast<long long>(rows), static_cast<long long>(step),
      share_text(settings, rows).c_str(), static_cast<long long>(planned_expert_rows(settings)));
}

std::string ran_out_text(const RunSettings& settings, const MemoryUse& use, int stage, int rank,
                         const std::string& why) {
  const StageBytes plan = make_memory_plan(settings).stages.at(static_cast<std::size_t>(stage));
  std::string text = "does not fit: CUDA out of memory in the run of rank " + number(rank) + ": " +
                     why + "\nfor stage " + number(stage) + " " + gib(plan.total()) +
                     " GiB were planned, " + gib(plan.activations + plan.pass + plan.logits) +
                     " of them for activations and what a pass needs; at most " +
                     gib(use.tensors_max) + " were in use for these\n";
  if (use.expert_rows_max <= planned_expert_rows(settings)) {
    return text + "other programs, or libraries, have taken more of the device than the reserve\n";
  }
  return text + "its experts got " + number(use.expert_rows_max) + " rows of a micro-batch, " +
         share_text(settings, use.expert_rows_max) + ", and " +
         number(planned_expert_rows(settings)) +
         " were planned: a larger --expert-imbalance plans for that, before the first step\n";
}

std::string does_not_fit_text(const RunSettings& settings, const MemoryPlan& plan,
                              std::int64_t capacity_bytes, const std::string& capacity_name) {
  const bool is_cpu = settings.backend == Backend::cpu;
  const bool in_one_process = is_cpu && settings.launched_ranks == 1;
  const auto needed = [&](const MemoryPlan& some_plan) {
    return in_one_process ? some_plan.total_of_all_ranks(settings.sizes)
                          : some_plan.largest().total();
  };
  // In the words of a run that finds out too late, so that a log's reader knows the cause.
  const std::string when = is_cpu ? "" : "CUDA out of memory, by the plan: ";
  std::string text =
      "does not fit: " + when + gib(needed(plan)) + " GiB are needed " +
      (in_one_process ? "for all ranks" : "on stage " + number(plan.largest().stage)) + ", and " +
      capacity_name + " has " + gib(capacity_bytes) + "\n";
  const std::string otherwise =
      is_cpu ? "a proxy needs less: --hidden-size, --ffn-hidden-size, --vocab-size, --seq-length\n"
             : "otherwise spread it over more ranks: --tp, --pp, --ep, --scale\n";
  const std::int64_t chunks = std::int64_t{settings.sizes.pp} * settings.sizes.vp;
  RunSettings recomputing = settings;
  while (!is_cpu &&
         ++recomputing.recompute_layers <= settings.spec.shape.layer_count / settings.sizes.pp) {
    if (needed(make_memory_plan(recomputing)) > capacity_bytes) continue;
    text += "--recompute-layers " + number(recomputing.recompute_layers) +
            " would fit with this layout, and takes longer\n";
    break;
  }
  RunSettings smaller = settings;
  for (std::int64_t layers = settings.spec.shape.layer_count - 1; layers >= chunks; --layers) {
    if (layers % chunks != 0) continue;
    smaller.spec.shape.layer_count = layers;
    if (needed(make_memory_plan(smaller)) > capacity_bytes) continue;
    text += "--num-layers ";
    text += number(layers);
    return text.append(" would fit with this layout; ").append(otherwise);
  }
  return text + "no number of layers fits with this layout; " + otherwise;
}

}  // namespace llmb::runner
