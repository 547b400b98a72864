#include "parser/statistics/derived_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "parser/foundation/parse_number.h"

namespace llmb::parser {
namespace {

constexpr double kSecondsPerDay = 86'400;
constexpr double kFlopPerTflop = 1e12;

// An input that may be missing, with the reason why.
struct Known {
  std::optional<double> value;
  std::string source;
  std::string reason;
};

Known known(double value, std::string source) {
  return {value, std::move(source), {}};
}
Known missing(std::string reason) {
  return {std::nullopt, {}, std::move(reason)};
}

double to_double(std::int64_t value) {
  return static_cast<double>(value);
}

std::string place(const Recipe& recipe) {
  return fmt::format("{} line {}", recipe.document, recipe.line);
}

// Everything a metric may need, each looked up once.
class Inputs {
 public:
  Inputs(const Catalog& catalog, const RunEvidence& run, const RecipeMatch& match,
         const RunMeasurement& measurement)
      : catalog_(catalog), run_(run), match_(match), measurement_(measurement) {}

  Known step_time_s() const { return measured(measurement_.step_time_s_mean, "step time"); }
  Known tflops_per_gpu() const {
    return measured(measurement_.tflops_per_gpu_mean, "TFLOPS per GPU");
  }

  Known energy_j_per_gpu() const {
    return measured(measurement_.energy_j_per_gpu_mean, "energy per GPU");
  }

  Known gpu_count() const {
    if (!match_.gpu_count) return missing("The run does not say on how many GPUs it ran.");
    const auto stated = run_.configuration.get("gpu_count");
    if (stated) {
      return known(to_double(*match_.gpu_count), std::string(config_source_name(stated->source)));
    }
    return known(to_double(*match_.gpu_count),
                 match_.recipe != nullptr ? place(*match_.recipe) : "node_count * gpus_per_node");
  }

  Known global_batch_size() const {
    if (match_.global_batch_size) {
      const auto stated = run_.configuration.get("global_batch_size");
      const bool is_logged = run_.logged_global_batch_size.has_value() || !stated;
      return known(to_double(*match_.global_batch_size),
                   is_logged ? "log_content" : std::string(config_source_name(stated->source)));
    }
    return of_recipe("global batch size", [&](const Recipe& recipe) {
      return match_.gpu_count ? recipe.global_batch_size.value(*match_.gpu_count) : std::nullopt;
    });
  }

  Known sequence_length() const {
    const auto stated = run_.configuration.get("sequence_length");
    const auto length = stated ? parse_integer(stated->value, 1) : std::nullopt;
    if (length) return known(to_double(*length), std::string(config_source_name(stated->source)));
    return of_recipe("sequence length", [](const Recipe& recipe) {
      return std::optional<std::int64_t>(recipe.sequence_length);
    });
  }

  Known peak_flop_per_s() const {
    if (match_.dtype.empty()) return missing("The run does not say its dtype.");
    const std::string document = match_.recipe != nullptr ? match_.recipe->document : "";
    if (!match_.gpu_type.empty()) return peak_of(match_.gpu_type, document, "");
    if (match_.recipe != nullptr) {
      return peak_of(match_.recipe->gpu_type, document, ", the GPU of the only recipe that agrees");
    }
    return peak_of_candidates();
  }

  // FLOP of one sequence. A proxy has its own number of layers, and each row its own sequence.
  Known model_flops(FlopsFormula formula) const {
    if (match_.model == nullptr) return missing(match_.reason);
    const Known sequence = sequence_length();
    if (!sequence.value) return missing(sequence.reason);
    const Known layers = of_recipe("layer count", [](const Recipe& recipe) {
      return std::optional<std::int64_t>(recipe.layer_count);
    });
    if (!layers.value) return missing(layers.reason);
    ModelShape shape = match_.model->shape;
    shape.layer_count = static_cast<std::int64_t>(*layers.value);
    shape.sequence_length = static_cast<std::int64_t>(*sequence.value);
    return known(model_flops_per_sequence(shape, formula).total(),
                 "shape of " + shape.family + " " + shape.size + " (" + match_.model->source +
                     "), formula " + std::string(flops_formula_name(formula)));
  }

 private:
  Known measured(const std::optional<double>& mean, const std::string& what) const {
    const std::string window = "window " + measurement_.window;
    if (!mean) return missing("The run has no " + what + " in its " + window + ".");
    if (!std::isfinite(*mean) || *mean <= 0) {
      return missing("The mean " + what + " in the " + window +
                     " is not over 0, so the log does not know it.");
    }
    return known(*mean, window);
  }

  Known peak_of(const std::string& gpu_type, const std::string& document,
                const std::string& note) const {
    const std::string dtype = coarse_dtype(match_.dtype);
    const GpuPeak* const peak = catalog_.peak(gpu_type, dtype, document);
    if (peak == nullptr) {
      return missing("No document states the peak of " + gpu_type + " for " + dtype +
                     ": add it to the peaks of gpus in a --catalog FILE.");
    }
    return known(peak->tflops * kFlopPerTflop,
                 peak->document + ", " + gpu_type + " " + dtype + note);
  }

  // Several GPU types may have one peak.
  Known peak_of_candidates() const {
    Known first;
    for (const Recipe* const recipe : match_.candidates) {
      const Known peak = peak_of(recipe->gpu_type, recipe->document,
                                 ", as of every GPU whose recipes agree with the run");
      if (!first.value) first = peak;
      if (!peak.value || peak.value != first.value) {
        first = {};
        break;
      }
    }
    if (first.value) return first;
    return missing("The run does not say its GPU type; llmb-config's gpu_type would.");
  }

  // What all rows agree on that may be the run's is as good as one row's word.
  template <typename Column>
  Known of_recipe(const std::string& what, Column column) const {
    if (match_.candidates.empty()) {
      return missing("The " + what + " stands in no recipe of the catalog that is this run's. " +
                     match_.reason);
    }
    const std::optional<std::int64_t> first = column(*match_.candidates.front());
    const bool all_agree =
        std::all_of(match_.candidates.begin(), match_.candidates.end(),
                    [&](const Recipe* recipe) { return column(*recipe) == first; });
    if (!first || !all_agree) {
      return missing("The " + what + " cannot be told. " + match_.reason);
    }
    return known(to_double(*first), place(*match_.candidates.front()));
  }

  const Catalog& catalog_;
  const RunEvidence& run_;
  const RecipeMatch& match_;
  const RunMeasurement& measurement_;
};

// Builds one metric: inputs are asked for in the order of the formula, and the first missing one
// is the reason.
class MetricBuilder {
 public:
  MetricBuilder(std::string name, std::string unit, std::string formula) {
    metric_.name = std::move(name);
    metric_.unit = std::move(unit);
    metric_.formula = std::move(formula);
  }

  double need(const std::string& name, const Known& input) {
    if (!input.value) {
      if (metric_.reason.empty()) metric_.reason = input.reason;
      return std::nan("");
    }
    metric_.inputs.push_back({name, *input.value, input.source});
    return *input.value;
  }

  void refuse(const std::string& reason) { metric_.reason = reason; }

  Metric finish(double value) {
    if (metric_.reason.empty()) metric_.value = value;
    return std::move(metric_);
  }

 private:
  Metric metric_;
};

Metric tokens_per_s(const Inputs& inputs, bool is_per_gpu) {
  MetricBuilder builder(is_per_gpu ? "tokens_per_s_per_gpu" : "tokens_per_s",
                        is_per_gpu ? "tokens/s/GPU" : "tokens/s",
                        std::string("sequence_length * global_batch_size / step_time_s_mean") +
                            (is_per_gpu ? " / gpu_count" : ""));
  const double sequence = builder.need("sequence_length", inputs.sequence_length());
  const double batch = builder.need("global_batch_size", inputs.global_batch_size());
  const double step_time = builder.need("step_time_s_mean", inputs.step_time_s());
  const double gpus = is_per_gpu ? builder.need("gpu_count", inputs.gpu_count()) : 1;
  return builder.finish(sequence * batch / step_time / gpus);
}

Metric printed_rate(const RunMeasurement& measurement) {
  MetricBuilder builder("tokens_per_s_per_gpu", "tokens/s/GPU", std::string(kPrintedRateFormula));
  const double rate = builder.need(
      "printed_tokens_per_s_per_gpu",
      known(*measurement.printed_tokens_per_s_per_gpu, "window " + measurement.window));
  return builder.finish(rate);
}

Metric days_to_train(const Metric& throughput, const RecipeMatch& match, double tokens) {
  MetricBuilder builder("days_to_train", "days", "tokens / tokens_per_s / 86400");
  builder.need("tokens", known(tokens, "asked for"));
  const Known rate = throughput.value ? known(*throughput.value,
                                              "sequence_length * global_batch_size / "
                                              "step_time_s_mean")
                                      : missing(throughput.reason);
  const double per_s = builder.need("tokens_per_s", rate);
  const auto is_proxy = [](const Recipe* recipe) { return recipe->is_proxy; };
  if (match.is_stated_proxy ||
      std::any_of(match.candidates.begin(), match.candidates.end(), is_proxy)) {
    builder.refuse(
        "A proxy configuration has fewer layers than the model: its speed gives no "
        "time to train the model.");
  }
  return builder.finish(tokens / per_s / kSecondsPerDay);
}

Metric mfu_from_model_flops(const std::string& name, const Inputs& inputs, FlopsFormula formula) {
  MetricBuilder builder(name, "1",
                        "global_batch_size * model_flops / step_time_s_mean / gpu_count / "
                        "peak_flop_per_s");
  const double batch = builder.need("global_batch_size", inputs.global_batch_size());
  const double flops = builder.need("model_flops", inputs.model_flops(formula));
  const double step_time = builder.need("step_time_s_mean", inputs.step_time_s());
  const double gpus = builder.need("gpu_count", inputs.gpu_count());
  const double peak = builder.need("peak_flop_per_s", inputs.peak_flop_per_s());
  return builder.finish(batch * flops / step_time / gpus / peak);
}

Metric mfu_from_tflops(const Inputs& inputs) {
  MetricBuilder builder("mfu_tflops_per_gpu", "1", "tflops_per_gpu_mean * 1e12 / peak_flop_per_s");
  const double tflops = builder.need("tflops_per_gpu_mean", inputs.tflops_per_gpu());
  const double peak = builder.need("peak_flop_per_s", inputs.peak_flop_per_s());
  return builder.finish(tflops * kFlopPerTflop / peak);
}

// The mean TFLOPS over the peak where the run's document states no model FLOPs (Llama 3.1: "MFU =
// avg(TFLOPS_GPU) / (peak GPU FLOPS)"), else by its model FLOPs.
Metric documented_mfu(const RecipeMatch& match, const DerivedMetrics& metrics) {
  // A document with a source is in the catalog with its tables only.
  const Document* const document = match.document;
  const bool states_no_flops =
      document != nullptr && document->source.empty() && !document->flops_formula;
  Metric mfu = states_no_flops ? metrics.mfu_tflops_per_gpu : metrics.mfu_model_flops_reference;
  mfu.name = "mfu";
  return mfu;
}

Metric energy_per_token(const Inputs& inputs) {
  MetricBuilder builder(
      "energy_j_per_token", "J/token",
      "energy_j_per_gpu_mean * gpu_count / (sequence_length * global_batch_size)");
  const double energy = builder.need("energy_j_per_gpu_mean", inputs.energy_j_per_gpu());
  const double gpus = builder.need("gpu_count", inputs.gpu_count());
  const double sequence = builder.need("sequence_length", inputs.sequence_length());
  const double batch = builder.need("global_batch_size", inputs.global_batch_size());
  return builder.finish(energy * gpus / (sequence * batch));
}

}  // namespace

std::vector<const Metric*> DerivedMetrics::all() const {
  return {&tokens_per_s, &tokens_per_s_per_gpu,      &days_to_train,
          &mfu,          &mfu_model_flops_reference, &mfu_tflops_per_gpu,
          &mfu_causal,   &energy_j_per_token};
}

DerivedMetrics derive_metrics(const Catalog& catalog, const RunEvidence& run,
                              const RecipeMatch& match, const RunMeasurement& measurement) {
  const Inputs inputs(catalog, run, match, measurement);
  const FlopsFormula documented =
      match.workload != nullptr ? match.workload->flops_formula : FlopsFormula::recipe;
  DerivedMetrics metrics;
  metrics.tokens_per_s = tokens_per_s(inputs, false);
  metrics.tokens_per_s_per_gpu = tokens_per_s(inputs, true);
  if (!metrics.tokens_per_s_per_gpu.value && measurement.printed_tokens_per_s_per_gpu) {
    metrics.tokens_per_s_per_gpu = printed_rate(measurement);
  }
  metrics.days_to_train = days_to_train(metrics.tokens_per_s, match, measurement.tokens_to_train);
  metrics.mfu_model_flops_reference =
      mfu_from_model_flops("mfu_model_flops_reference", inputs, documented);
  metrics.mfu_tflops_per_gpu = mfu_from_tflops(inputs);
  metrics.mfu_causal = mfu_from_model_flops("mfu_causal", inputs, FlopsFormula::megatron);
  metrics.mfu = documented_mfu(match, metrics);
  metrics.energy_j_per_token = energy_per_token(inputs);
  return metrics;
}

}  // namespace llmb::parser
