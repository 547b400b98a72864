#include "runner/step_log.h"

#include <fmt/format.h>

#include <cmath>

#include "parser/catalog/recipe_match.h"
#include "parser/dialects/step_line_grammar.h"
#include "runner/plan/text_format.h"

namespace llmb::runner {
namespace {

namespace nemo = parser::step_line_grammar::nemo;
namespace megatron = parser::step_line_grammar::megatron;

constexpr int kMillisecondsPerSecond = 1000;

// As Megatron prints them with --log-energy; llmb-report derives joules a token from the first,
// whatever the dialect of the line.
constexpr std::string_view kEnergyPerGpu = "energy per GPU (J/iter/GPU)";
constexpr std::string_view kPowerPerGpu = "power per GPU (W/GPU)";

long long whole(std::int64_t value) {
  return static_cast<long long>(value);
}

std::string nemo_field(std::string_view name, double value) {
  return std::string(nemo::kFieldSeparator) + std::string(name) +
         std::string(nemo::kValueSeparator) + nemo_number(value);
}

std::string nemo_field(std::string_view name, std::int64_t value) {
  return nemo_field(name, static_cast<double>(value));
}

// NeMo numbers steps from 0, and prints the last one's number.
std::string nemo_line(const StepLogHead& head, const StepRecord& step) {
  std::string line =
      fmt::format("{} 0{}{}/{}", nemo::kMarker, nemo::kIteration, step.step, head.end_step() - 1);
  line += nemo_field(nemo::kLearningRate, step.learning_rate);
  line += nemo_field(nemo::kGlobalBatchSize, head.global_batch_size);
  line += nemo_field(nemo::kGlobalStep, step.step);
  line += nemo_field(nemo::kPeakMemoryUsage, step.memory_bytes_max);
  line += nemo_field(nemo::kMemoryAllocated, step.memory_bytes_allocated);
  line += nemo_field(nemo::kLoss, step.loss);
  line += nemo_field(nemo::kStepTime, step.step_time_s);
  line += nemo_field(nemo::kTflopsPerGpu, step.tflops_per_gpu);
  line += nemo_field(nemo::kConsumedSamples, (step.step + 1) * head.global_batch_size);
  line += nemo_field(nemo::kGradNorm, step.grad_norm);
  if (step.energy_j_per_gpu) {
    line += nemo_field(kEnergyPerGpu, *step.energy_j_per_gpu);
    line += nemo_field(kPowerPerGpu, *step.energy_j_per_gpu / step.step_time_s);
  }
  if (!head.label.empty()) line += std::string(nemo::kFieldSeparator) + head.label;
  return line + "\n";
}

std::string name_of(std::string_view name) {
  return std::string(name);
}

// One decimal, as Megatron has it; but a CPU's fraction of a TFLOP/s keeps its digits, because 0.0
// says that nothing is known.
std::string megatron_tflops(double tflops) {
  return tflops < 1 ? text_of("%.6f", tflops) : text_of("%.1f", tflops);
}

// Megatron numbers steps from 1, and prints how many there are.
std::string megatron_lines(const StepLogHead& head, const StepRecord& step,
                           const std::string& date_time) {
  std::string text =
      text_of("%s : %.2fs %s %sMODEL_TFLOP/s/GPU%s\n", name_of(megatron::kStepTimeMarker).c_str(),
              step.step_time_s, name_of(megatron::kGpuUtilization).c_str(),
              megatron_tflops(step.tflops_per_gpu).c_str(),
              head.label.empty() ? "" : (" " + head.label).c_str());
  text += text_of(" [%s] %s %8lld/%8lld |", date_time.c_str(), name_of(megatron::kMarker).c_str(),
                  whole(step.step + 1), whole(head.end_step()));
  text += text_of(" %s: %12lld |", name_of(megatron::kConsumedSamples).c_str(),
                  whole((step.step + 1) * head.global_batch_size));
  text += text_of(" %s: %.1f |", name_of(megatron::kStepTimeMs).c_str(),
                  step.step_time_s * kMillisecondsPerSecond);
  if (step.energy_j_per_gpu) {
    text += text_of(" %s: %.1f |", name_of(kEnergyPerGpu).c_str(), *step.energy_j_per_gpu);
    text += text_of(" %s: %.1f |", name_of(kPowerPerGpu).c_str(),
                    *step.energy_j_per_gpu / step.step_time_s);
  }
  text += text_of(" %s: %.6E |", name_of(megatron::kLearningRate).c_str(), step.learning_rate);
  text += text_of(" %s: %5lld |", name_of(megatron::kGlobalBatchSize).c_str(),
                  whole(head.global_batch_size));
  if (step.auxiliary_loss) text += text_of(" load_balancing_loss: %.6E |", *step.auxiliary_loss);
  text += text_of(" %s: %.6E |", name_of(megatron::kLoss).c_str(), step.loss);
  text += text_of(" %s: %.1f |", name_of(megatron::kLossScale).c_str(), 1.0);
  text += text_of(" %s: %.3f |", name_of(megatron::kGradNorm).c_str(), step.grad_norm);
  text += text_of(" %s: %3d |", name_of(megatron::kSkippedIterations).c_str(), 0);
  const bool is_nan = std::isnan(step.loss) || std::isnan(step.grad_norm);
  text += text_of(" %s: %3d |", name_of(megatron::kNanIterations).c_str(), is_nan ? 1 : 0);
  if (!head.label.empty()) text += " " + head.label + " |";
  return text + "\n";
}

// Without trailing zeros, but with one decimal at least.
std::string shortened(std::string decimal) {
  while (decimal.back() == '0') decimal.pop_back();
  return decimal.back() == '.' ? decimal + "0" : decimal;
}

std::string nemo_prefix(const std::string& date_time) {
  return "[NeMo I " + date_time + " nemo_logging:393] ";
}

}  // namespace

std::string nemo_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  constexpr double kWholeMax = 1e15;
  if (value == std::floor(value) && std::abs(value) < kWholeMax) return text_of("%.0f", value);
  constexpr int kDecimals = nemo::kSignificantDigits - 1;
  const std::string scientific = text_of("%.*e", kDecimals, value);
  const std::size_t at = scientific.find('e');
  const int exponent = std::stoi(scientific.substr(at + 1));
  constexpr int kExponentMin = -4;
  if (exponent >= kExponentMin && exponent < kDecimals) {
    return shortened(text_of("%.*f", kDecimals - exponent, value));
  }
  std::string mantissa = shortened(scientific.substr(0, at));
  if (mantissa.ends_with(".0")) mantissa.resize(mantissa.size() - 2);
  return mantissa + scientific.substr(at);
}

std::string step_lines(const StepLogHead& head, const StepRecord& step,
                       const std::string& date_time) {
  return head.format == LogFormat::nemo ? nemo_line(head, step)
                                        : megatron_lines(head, step, date_time);
}

std::string finish_line(const StepLogHead& head, const std::string& date_time) {
  if (head.format == LogFormat::nemo) {
    return fmt::format("`Trainer.fit` stopped: `max_steps={}` reached.\n", head.end_step());
  }
  return "[after training is done] datetime: " + date_time + " \n";
}

std::string configuration_line(const RunSettings& settings) {
  return std::string(parser::step_line_grammar::step_runner::kConfigurationMarker) +
         configuration_text(settings) + "\n";
}

std::string configuration_text(const RunSettings& settings) {
  const ParallelSizes& sizes = settings.sizes;
  const bool on_gpu = settings.backend == Backend::cuda;
  std::string text;
  const auto add = [&text](const char* key, const std::string& value) {
    if (!text.empty()) text += " ";
    text += std::string(key) + "=" + value;
  };
  add("framework", std::string(parser::kStepRunnerFramework));
  add("backend", on_gpu ? "cuda" : "cpu");
  add("workload", settings.workload);
  add("model_size", settings.spec.shape.size);
  add("dtype", std::string(precision_name(settings.precision)));
  add("gpu_type", on_gpu ? settings.gpu_type : "cpu");
  // A rank on the CPU is no GPU: nothing is to be divided by its number.
  add(on_gpu ? "gpu_count" : "rank_count", std::to_string(settings.world_size()));
  if (settings.rank_slice) add("rank_slice", std::to_string(*settings.rank_slice));
  add("tensor_parallel", std::to_string(sizes.tp));
  add("pipeline_parallel", std::to_string(sizes.pp));
  add("context_parallel", std::to_string(sizes.cp));
  add("virtual_pipeline", std::to_string(sizes.vp));
  if (settings.spec.is_moe()) {
    add("expert_parallel", std::to_string(sizes.ep));
    add("expert_tensor_parallel", std::to_string(sizes.etp));
  }
  add("micro_batch_size", std::to_string(settings.batch.micro_batch_size));
  add("global_batch_size", std::to_string(settings.batch.global_batch_size));
  add("sequence_length", std::to_string(settings.spec.shape.sequence_length));
  add("layer_count", std::to_string(settings.spec.shape.layer_count));
  // Rows of two documents may be told apart by nothing else in a log.
  if (settings.recipe != nullptr) add("document", settings.recipe->document);
  // More is done again than in the published run: it is slower for that.
  const std::int64_t of_row =
      settings.recipe == nullptr ? 0 : settings.recipe->recompute_layers.value_or(0);
  if (settings.recompute_layers != of_row) {
    add("recompute_layers", std::to_string(settings.recompute_layers));
  }
  add("proxy", settings.spec.overrides.empty() ? "false" : "true");
  if (settings.profile_stop_step > 0) add("profile_enabled", "true");
  add("flops_formula", std::string(flops_formula_name(settings.flops_formula)));
  return text;
}

std::string checkpoint_save_line(int rank, std::int64_t iteration, double started_at_s,
                                 double duration_s, const std::string& date_time) {
  return nemo_prefix(date_time) +
         text_of(
             "Global Checkpoint Save : Rank: %d : Iteration: %lld : Start time: %.3fs : "
             "Save duration: %.3fs\n",
             rank, whole(iteration), started_at_s, duration_s);
}

std::string checkpoint_load_line(int rank, double started_at_s, double duration_s,
                                 const std::string& date_time) {
  return nemo_prefix(date_time) +
         text_of(
             "Global Checkpoint Load : Rank : %d : Start time : %.3fs : Time spent in "
             "load_checkpoint: %.3fs\n",
             rank, started_at_s, duration_s);
}

}  // namespace llmb::runner
