// The sections of what a document prints beside its tables.
#include <fmt/format.h>

#include <initializer_list>
#include <nlohmann/json.hpp>

#include "parser/catalog/catalog_ranges.h"
#include "parser/catalog/catalog_sections.h"

namespace llmb::parser {
namespace {

constexpr NumberRange kCount{1, 1e12, "as a number of samples"};
// An experiment may be on other hardware than a peak is known of.
constexpr NumberRange kLoggedTflops{0.001, 100'000, "in TFLOPS (1e12 FLOP/s)"};

// "<name>_s", or "<name>_ms" where the document prints milliseconds.
std::optional<PrintedNumber> read_seconds(const JsonRecord& record, const std::string& name,
                                          const std::string& statistic, const NumberRange& range) {
  const std::string milliseconds = name + "_ms" + statistic;
  if (!record.has(milliseconds)) return record.printed(name + "_s" + statistic, range);
  auto printed =
      record.printed(milliseconds, {range.min * 1e3, range.max * 1e3, "in milliseconds"});
  printed->value /= 1e3;
  printed->last_digit /= 1e3;
  return printed;
}

// A deviation says nothing without the mean that it is of.
void need_mean(const JsonRecord& record, bool has_mean, std::string_view name,
               std::initializer_list<std::string_view> deviations) {
  if (has_mean) return;
  for (const std::string_view deviation : deviations) {
    if (!record.has(deviation)) continue;
    record.fail_at(deviation, fmt::format("is there without its mean: add {}", name));
  }
}

LoggedFlops read_logged_flops(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(value, path, {"flops_formula", "vocabulary_size", "source"});
  return {read_flops_formula(record), record.integer("vocabulary_size", 1, kDimensionMax),
          record.text("source")};
}

void read_named_layout(const JsonRecord& record, SampleOutput& sample) {
  const auto count = [&](std::string_view key) {
    return record.optional_integer(key, 1, kGpuCountMax);
  };
  sample.tensor_parallel = count("tensor_parallel");
  sample.pipeline_parallel = count("pipeline_parallel");
  sample.context_parallel = count("context_parallel");
  sample.expert_parallel = count("expert_parallel");
  sample.expert_tensor_parallel = count("expert_tensor_parallel");
  sample.virtual_pipeline = count("virtual_pipeline");
  sample.micro_batch_size = count("micro_batch_size");
  sample.global_batch_size = record.optional_integer("global_batch_size", 1, kDimensionMax);
}

}  // namespace

ReleaseFlops read_release_flops(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(value, path,
                          {"workload", "model_size", "release", "last_release", "flops_formula",
                           "query_group_count", "source"});
  return {
      record.text("workload"),    record.optional_text("model_size"),
      record.text("release"),     record.text("last_release"),
      read_flops_formula(record), record.optional_integer("query_group_count", 1, kDimensionMax),
      record.text("source")};
}

SampleOutput read_sample_output(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(value, path,
                          {"document",
                           "line",
                           "text",
                           "model_size",
                           "dtype",
                           "gpu_type",
                           "gpu_count",
                           "configuration_source",
                           "step_time_s",
                           "step_time_s_std",
                           "step_time_ms",
                           "step_time_ms_std",
                           "tflops_per_gpu",
                           "tflops_per_gpu_std",
                           "logged_flops",
                           "consumed_samples",
                           "step_count",
                           "tensor_parallel",
                           "pipeline_parallel",
                           "context_parallel",
                           "expert_parallel",
                           "expert_tensor_parallel",
                           "virtual_pipeline",
                           "micro_batch_size",
                           "global_batch_size"});
  SampleOutput sample;
  sample.document = record.text("document");
  sample.line = record.integer("line", 1, kLineMax);
  sample.text = record.text("text");
  sample.gpu_count = record.optional_integer("gpu_count", 1, kGpuCountMax);
  if (sample.gpu_count) {
    sample.model_size = record.text("model_size");
    sample.dtype = record.text("dtype");
    sample.gpu_type = record.text("gpu_type");
    sample.configuration_source = record.text("configuration_source");
  }
  sample.step_time_s = read_seconds(record, "step_time", "", kStepTime);
  sample.step_time_s_std = read_seconds(record, "step_time", "_std", {0, 3'600, "in seconds"});
  sample.tflops_per_gpu = record.printed("tflops_per_gpu", kLoggedTflops);
  sample.tflops_per_gpu_std =
      record.printed("tflops_per_gpu_std", {0, 100'000, "in TFLOPS (1e12 FLOP/s)"});
  need_mean(record, sample.step_time_s.has_value(), "step_time_s or step_time_ms",
            {"step_time_s_std", "step_time_ms_std"});
  need_mean(record, sample.tflops_per_gpu.has_value(), "tflops_per_gpu", {"tflops_per_gpu_std"});
  if (record.has("logged_flops")) {
    sample.logged_flops = read_logged_flops(record.at("logged_flops"), path / "logged_flops");
  }
  sample.consumed_samples = record.printed("consumed_samples", kCount);
  sample.step_count = record.optional_integer("step_count", 1, kGpuCountMax);
  read_named_layout(record, sample);
  return sample;
}

WorkedExample read_worked_example(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(
      value, path,
      {"document", "line", "quantity", "text", "printed", "expression", "model_size", "gpu_type",
       "dtype", "gpu_count", "peak_tflops", "explanation"});
  WorkedExample example;
  example.document = record.text("document");
  example.line = record.integer("line", 1, kLineMax);
  example.quantity =
      record.one_of("quantity", {"tokens_per_s", "days_to_train_1t", "mfu_percent", "step_time_s",
                                 "global_batch_size", "peak_tflops", "attention_flops", "mlp_flops",
                                 "embedding_flops", "model_flops", "window"});
  example.text = record.text("text");
  example.printed = record.text("printed");
  example.expression = record.optional_text("expression");
  example.model_size = record.optional_text("model_size");
  example.gpu_type = record.optional_text("gpu_type");
  example.dtype = record.optional_text("dtype");
  example.gpu_count = record.optional_integer("gpu_count", 1, kGpuCountMax);
  example.explanation = record.optional_text("explanation");
  if (record.has("peak_tflops"))
    example.peak_tflops = record.number("peak_tflops", {1e-3, 1e9, "in TFLOPS"});
  const bool is_taken = example.quantity == "window" || example.quantity == "peak_tflops" ||
                        example.quantity == "step_time_s" ||
                        example.quantity == "global_batch_size";
  if (!is_taken) record.at("expression");
  if (example.gpu_count) {
    for (const char* const key : {"model_size", "gpu_type", "dtype"}) record.at(key);
  }
  if (example.quantity == "peak_tflops" || example.peak_tflops) {
    record.at("gpu_type");
    record.at("dtype");
  }
  if (example.quantity == "window") {
    const auto window = parse_window(example.printed);
    if (!window) record.fail_at("printed", "is no window: " + window.error().message);
  } else {
    record.printed("printed", {0, 1e30, "of the quantity's unit"});
  }
  return example;
}

PublishedCommand read_command(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(
      value, path,
      {"document", "line", "text", "workload", "model_size", "dtype", "gpu_type", "gpu_count"});
  PublishedCommand command;
  command.document = record.text("document");
  command.line = record.integer("line", 1, kLineMax);
  command.text = record.text("text");
  command.workload = record.text("workload");
  command.model_size = record.optional_text("model_size");
  command.dtype = record.optional_text("dtype");
  command.gpu_type = record.optional_text("gpu_type");
  command.gpu_count = record.optional_integer("gpu_count", 1, kGpuCountMax);
  return command;
}

}  // namespace llmb::parser
