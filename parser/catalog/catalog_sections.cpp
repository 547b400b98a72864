#include "parser/catalog/catalog_sections.h"

#include <nlohmann/json.hpp>

#include "parser/catalog/catalog_ranges.h"

namespace llmb::parser {
namespace {

// Nothing for "last".
std::optional<Window> read_window(const JsonRecord& record, std::string_view key) {
  const std::string text = record.text(key);
  const auto asked = parse_asked_window(text);
  if (!asked) {
    record.fail_at(key, "is '" + text + "', and should be last, or a window such as 11-44");
  }
  return asked->range;
}

Dialect read_dialect(const JsonRecord& record, std::string_view key, const std::string& name) {
  const auto dialect = dialect_from_name(name);
  if (!dialect || !is_read(*dialect)) {
    record.fail_at(key, "holds '" + name + "', and may hold one of " + dialect_names());
  }
  return *dialect;
}

LaunchDefaults read_launch(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(value, path,
                          {"model_size", "dtype", "gpu_type", "only_gpu_type_line", "profile_ranks",
                           "profile_variables", "source"});
  LaunchDefaults launch;
  launch.model_size = record.optional_text("model_size");
  launch.dtype = record.optional_text("dtype");
  launch.gpu_type = record.optional_text("gpu_type");
  launch.only_gpu_type_line = record.optional_integer("only_gpu_type_line", 1, kLineMax);
  launch.profile_ranks = record.text("profile_ranks");
  launch.profile_variables = record.text("profile_variables");
  launch.source = record.text("source");
  return launch;
}

std::vector<RestatedMfu> read_restated_mfu(const nlohmann::json& list, const JsonPath& path) {
  if (!list.is_array()) throw CatalogFault{path, "'restated_mfu' should be a list"};
  std::vector<RestatedMfu> restated;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonRecord record(list[i], path / std::to_string(i),
                            {"mfu_percent", "release", "source"});
    record.at("mfu_percent");
    restated.push_back(
        {*record.printed("mfu_percent", kPercent), record.text("release"), record.text("source")});
  }
  return restated;
}

}  // namespace

FlopsFormula read_flops_formula(const JsonRecord& record) {
  return *flops_formula_from_name(record.one_of(
      "flops_formula", {"megatron", "recipe", "recipe-2025.04", "recipe-full-attention"}));
}

Document read_document(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(
      value, path,
      {"id", "title", "release", "workload", "default_window", "dialects",
       "data_parallel_is_beside_experts", "flops_formula", "launch", "further_releases", "source"});
  Document document;
  document.id = record.text("id");
  document.title = record.text("title");
  document.release = record.text("release");
  document.workload = record.text("workload");
  document.default_window = read_window(record, "default_window");
  for (const std::string& name : record.texts("dialects")) {
    document.dialects.push_back(read_dialect(record, "dialects", name));
  }
  document.data_parallel_is_beside_experts =
      record.optional_flag("data_parallel_is_beside_experts").value_or(false);
  if (record.has("further_releases")) document.further_releases = record.texts("further_releases");
  document.source = record.optional_text("source");
  if (record.has("flops_formula")) document.flops_formula = read_flops_formula(record);
  if (record.has("launch")) document.launch = read_launch(record.at("launch"), path / "launch");
  return document;
}

ReleaseWindow read_release_window(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(value, path, {"dialect", "release", "window", "source"});
  return {read_dialect(record, "dialect", record.text("dialect")), record.text("release"),
          read_window(record, "window"), record.text("source")};
}

GpuType read_gpu(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(value, path, {"gpu_type", "memory_gb", "gpus_per_node", "peaks"});
  GpuType gpu;
  gpu.gpu_type = record.text("gpu_type");
  gpu.memory_gb = record.number("memory_gb", kMemory);
  gpu.gpus_per_node = record.integer("gpus_per_node", 1, 1024);
  const nlohmann::json& peaks = record.at("peaks");
  if (!peaks.is_array()) record.fail_at("peaks", "should be a list");
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const JsonRecord peak(peaks[i], path / "peaks" / std::to_string(i),
                          {"dtype", "tflops", "document"});
    gpu.peaks.push_back(
        {peak.text("dtype"), peak.number("tflops", kTflops), peak.text("document")});
  }
  return gpu;
}

void read_position_embedding(const JsonRecord& record, ModelShape& shape) {
  const NumberRange factor{1, 1e6, "as a factor"};
  const auto number_or = [&](std::string_view key, double otherwise) {
    return record.has(key) ? record.number(key, factor) : otherwise;
  };
  const auto integer_or = [&](std::string_view key, std::int64_t otherwise) {
    return record.optional_integer(key, 0, kDimensionMax).value_or(otherwise);
  };
  shape.rotary_fraction = record.number("rotary_fraction", {0, 1, "as a share"});
  shape.rotary_base = record.number("rotary_base", {1, 1e9, "without a unit"});
  shape.rotary_scaling_factor = number_or("rotary_scaling_factor", shape.rotary_scaling_factor);
  shape.rotary_low_frequency_factor =
      number_or("rotary_low_frequency_factor", shape.rotary_low_frequency_factor);
  shape.rotary_high_frequency_factor =
      number_or("rotary_high_frequency_factor", shape.rotary_high_frequency_factor);
  if (shape.rotary_high_frequency_factor <= shape.rotary_low_frequency_factor) {
    record.fail_at("rotary_high_frequency_factor", "should be over rotary_low_frequency_factor");
  }
  shape.rotary_original_length = integer_or("rotary_original_length", shape.rotary_original_length);
  shape.rotary_skip_interval = integer_or("rotary_skip_interval", 0);
  shape.attention_chunk_size = integer_or("attention_chunk_size", 0);
}

Model read_model(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(value, path,
                          {"family",
                           "size",
                           "layer_count",
                           "hidden_size",
                           "attention_head_count",
                           "query_group_count",
                           "head_size",
                           "ffn_hidden_size",
                           "vocabulary_size",
                           "sequence_length",
                           "activation",
                           "normalization",
                           "tied_embeddings",
                           "rotary_fraction",
                           "rotary_base",
                           "rotary_scaling_factor",
                           "rotary_low_frequency_factor",
                           "rotary_high_frequency_factor",
                           "rotary_original_length",
                           "rotary_skip_interval",
                           "attention_chunk_size",
                           "expert_count",
                           "experts_per_token",
                           "expert_ffn_hidden_size",
                           "shared_expert_ffn_hidden_size",
                           "moe_layer_interval",
                           "source"});
  const auto dimension = [&](std::string_view key) {
    return record.integer(key, 1, kDimensionMax);
  };
  const auto optional_dimension = [&](std::string_view key) {
    return record.optional_integer(key, 0, kDimensionMax).value_or(0);
  };
  Model model;
  model.source = record.text("source");
  ModelShape& shape = model.shape;
  shape.family = record.text("family");
  shape.size = record.text("size");
  shape.layer_count = record.integer("layer_count", 1, 10'000);
  shape.hidden_size = dimension("hidden_size");
  shape.attention_head_count = dimension("attention_head_count");
  shape.query_group_count = dimension("query_group_count");
  shape.head_size = dimension("head_size");
  shape.ffn_hidden_size = optional_dimension("ffn_hidden_size");  // 0: every layer is MoE
  shape.vocabulary_size = dimension("vocabulary_size");
  shape.sequence_length = dimension("sequence_length");
  const std::string activation = record.one_of("activation", {"swiglu", "geglu", "squared_relu"});
  shape.activation = activation == "swiglu"  ? Activation::swiglu
                     : activation == "geglu" ? Activation::geglu
                                             : Activation::squared_relu;
  shape.normalization = record.one_of("normalization", {"rms_norm", "layer_norm_1p"}) == "rms_norm"
                            ? Normalization::rms_norm
                            : Normalization::layer_norm_1p;
  shape.tied_embeddings = record.flag("tied_embeddings");
  read_position_embedding(record, shape);
  shape.expert_count = optional_dimension("expert_count");
  shape.experts_per_token = optional_dimension("experts_per_token");
  shape.expert_ffn_hidden_size = optional_dimension("expert_ffn_hidden_size");
  shape.shared_expert_ffn_hidden_size = optional_dimension("shared_expert_ffn_hidden_size");
  shape.moe_layer_interval = record.optional_integer("moe_layer_interval", 1, 10'000).value_or(1);
  if (shape.expert_count == 0 && shape.ffn_hidden_size == 0) {
    record.fail_at("ffn_hidden_size", "should be over 0 in a model without experts");
  }
  return model;
}

Workload read_workload(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(value, path, {"workload", "family", "aliases", "flops_formula"});
  Workload workload;
  workload.workload = record.text("workload");
  workload.family = record.text("family");
  if (record.has("aliases")) workload.aliases = record.texts("aliases");
  workload.flops_formula = read_flops_formula(record);
  return workload;
}

Recipe read_recipe(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(value, path,
                          {"workload",
                           "model_size",
                           "dtypes",
                           "gpu_type",
                           "gpu_count_min",
                           "gpu_count_max",
                           "sequence_length",
                           "layer_count",
                           "tensor_parallel",
                           "pipeline_parallel",
                           "context_parallel",
                           "expert_parallel",
                           "expert_tensor_parallel",
                           "virtual_pipeline",
                           "virtual_pipeline_run",
                           "virtual_pipeline_source",
                           "data_parallel",
                           "micro_batch_size",
                           "global_batch_size",
                           "gradient_accumulation",
                           "fully_sharded",
                           "cuda_graphs",
                           "cuda_graphs_dtypes",
                           "recompute_layers",
                           "offload_layers",
                           "document",
                           "line"});
  const auto count = [&](std::string_view key) { return record.integer(key, 1, kGpuCountMax); };
  const auto optional_count = [&](std::string_view key) {
    return record.optional_integer(key, 1, kGpuCountMax);
  };
  Recipe recipe;
  recipe.workload = record.text("workload");
  recipe.model_size = record.text("model_size");
  recipe.dtypes = record.texts("dtypes");
  recipe.gpu_type = record.text("gpu_type");
  recipe.gpu_count_min = count("gpu_count_min");
  recipe.gpu_count_max = record.integer("gpu_count_max", recipe.gpu_count_min, kGpuCountMax);
  recipe.sequence_length = record.integer("sequence_length", 1, kDimensionMax);
  recipe.layer_count = record.integer("layer_count", 1, 10'000);
  recipe.tensor_parallel = count("tensor_parallel");
  recipe.pipeline_parallel = count("pipeline_parallel");
  recipe.context_parallel = count("context_parallel");
  recipe.expert_parallel = optional_count("expert_parallel");
  recipe.expert_tensor_parallel = optional_count("expert_tensor_parallel");
  recipe.virtual_pipeline = optional_count("virtual_pipeline");
  recipe.virtual_pipeline_run = optional_count("virtual_pipeline_run");
  if (recipe.virtual_pipeline_run) {
    recipe.virtual_pipeline_source = record.text("virtual_pipeline_source");
  }
  recipe.data_parallel = record.formula("data_parallel");
  recipe.micro_batch_size = count("micro_batch_size");
  recipe.global_batch_size = record.formula("global_batch_size");
  recipe.gradient_accumulation = count("gradient_accumulation");
  recipe.fully_sharded = record.optional_flag("fully_sharded");
  recipe.cuda_graphs = record.optional_flag("cuda_graphs");
  if (record.has("cuda_graphs_dtypes")) {
    recipe.cuda_graphs_dtypes = record.texts("cuda_graphs_dtypes");
  }
  recipe.recompute_layers = record.optional_integer("recompute_layers", 0, 10'000);
  recipe.offload_layers = record.optional_integer("offload_layers", 0, 10'000);
  recipe.document = record.text("document");
  recipe.line = record.integer("line", 1, kLineMax);
  return recipe;
}

Reference read_reference(const nlohmann::json& value, const JsonPath& path) {
  const JsonRecord record(
      value, path,
      {"workload", "model_size", "dtype", "gpu_type", "gpu_count", "step_time_s", "tokens_per_s",
       "mfu_percent", "days_to_train_1t", "restated_mfu", "document", "line", "column", "release",
       "source", "sequence_length", "global_batch_size", "layer_count"});
  Reference reference;
  reference.workload = record.text("workload");
  reference.model_size = record.text("model_size");
  reference.dtype = record.text("dtype");
  reference.gpu_type = record.text("gpu_type");
  reference.gpu_count = record.integer("gpu_count", 1, kGpuCountMax);
  reference.step_time_s = record.printed("step_time_s", kStepTime);
  reference.tokens_per_s = record.printed("tokens_per_s", kTokensPerS);
  reference.mfu_percent = record.printed("mfu_percent", kPercent);
  reference.days_to_train_1t = record.printed("days_to_train_1t", kDays);
  if (record.has("restated_mfu")) {
    reference.restated_mfu = read_restated_mfu(record.at("restated_mfu"), path / "restated_mfu");
  }
  reference.document = record.optional_text("document");
  reference.source = record.optional_text("source");
  reference.release = record.optional_text("release");
  if (reference.document.empty() == reference.source.empty()) {
    throw CatalogFault{path,
                       "a reference has either a 'document' with 'line' and 'column', or a "
                       "'source' with a 'release'"};
  }
  if (!reference.document.empty()) {
    reference.line = record.integer("line", 1, kLineMax);
    reference.column = record.integer("column", 1, 1'000);
  } else {
    reference.release = record.text("release");
  }
  reference.sequence_length = record.optional_integer("sequence_length", 1, kDimensionMax);
  reference.global_batch_size = record.optional_integer("global_batch_size", 1, kDimensionMax);
  reference.layer_count = record.optional_integer("layer_count", 1, 10'000);
  return reference;
}

}  // namespace llmb::parser
