#include "parser/layout/overridden_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"
#include "parser/layout/name_tokens.h"

namespace llmb::parser {
namespace {

using SpelledName = std::pair<std::string_view, std::string_view>;
// As launchers and programs spell them -> key of RunConfiguration.
constexpr std::array kOverrideNames = {
    SpelledName{"num_layers", "layer_count"},
    SpelledName{"seq_length", "sequence_length"},
    SpelledName{"seq_len", "sequence_length"},
    SpelledName{"sequence_length", "sequence_length"},
    SpelledName{"tp", "tensor_parallel"},
    SpelledName{"tensor_parallel_size", "tensor_parallel"},
    SpelledName{"tensor_model_parallel_size", "tensor_parallel"},
    SpelledName{"pp", "pipeline_parallel"},
    SpelledName{"pipeline_parallel_size", "pipeline_parallel"},
    SpelledName{"pipeline_model_parallel_size", "pipeline_parallel"},
    SpelledName{"vp", "virtual_pipeline"},
    SpelledName{"virtual_pipeline_model_parallel_size", "virtual_pipeline"},
    SpelledName{"cp", "context_parallel"},
    SpelledName{"context_parallel_size", "context_parallel"},
    SpelledName{"ep", "expert_parallel"},
    SpelledName{"expert_parallel_size", "expert_parallel"},
    SpelledName{"expert_model_parallel_size", "expert_parallel"},
    SpelledName{"etp", "expert_tensor_parallel"},
    SpelledName{"expert_tensor_parallel_size", "expert_tensor_parallel"},
    SpelledName{"mbs", "micro_batch_size"},
    SpelledName{"micro_batch_size", "micro_batch_size"},
    SpelledName{"num_gpus", "gpu_count"},
    SpelledName{"gpu_count", "gpu_count"},
    SpelledName{"gpus_per_node", "gpus_per_node"},
    SpelledName{"num_gpus_per_node", "gpus_per_node"},
    SpelledName{"dtype", "dtype"},
    SpelledName{"compute_dtype", "dtype"},
    SpelledName{"precision", "dtype"},
    SpelledName{"gbs", "global_batch_size"},
    SpelledName{"global_batch_size", "global_batch_size"},
};

constexpr std::array kDtypeSpellings = {
    SpelledName{"bfloat16", "bf16"},
    SpelledName{"float16", "fp16"},
    SpelledName{"half", "fp16"},
    SpelledName{"float32", "fp32"},
};

// "64", "64.0", "6.4e1", "+64" and YAML's "4_096" are integers; nothing for what is none.
std::optional<std::int64_t> integer_in_any_spelling(std::string text) {
  constexpr double kExactMax = 9007199254740992;  // 2^53: above it not every integer is a double
  std::erase(text, '_');
  if (text.starts_with('+')) text.erase(0, 1);
  const auto number = parse_number<double>(text);
  if (!number || std::abs(*number) > kExactMax || *number != std::trunc(*number)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

bool is_fine_dtype(std::string_view name) {
  const std::size_t coarse = name.find('_');
  if (coarse == std::string_view::npos) return is_dtype(name);
  return is_dtype(name.substr(0, coarse)) && is_dtype_variant(name.substr(coarse + 1));
}

// What the run's dtype is. Nothing for one that is not known; and for "bf16-mixed" where bf16 is
// not what the file says, for programs name runs in fp8 so, too.
std::optional<std::string> dtype_of(const std::string& value, const std::string& dtype_of_file) {
  constexpr std::string_view kMixed = "_mixed";
  std::string name = lower(value);
  std::replace(name.begin(), name.end(), '-', '_');
  if (name.starts_with("torch.")) name.erase(0, std::string_view("torch.").size());
  const bool is_mixed = name.ends_with(kMixed);
  if (is_mixed) name.resize(name.size() - kMixed.size());
  for (const auto& [spelled, dtype] : kDtypeSpellings) {
    if (name == spelled) name = dtype;
  }
  if (dtype_of_file == name || dtype_of_file.starts_with(name + "_")) return dtype_of_file;
  return is_fine_dtype(name) && !is_mixed ? std::optional(name) : std::nullopt;
}

}  // namespace

std::string name_of_override(std::string_view key) {
  std::string name = lower(key.substr(key.rfind('.') + 1));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::optional<OverriddenFigure> overridden_figure(std::string_view key, const std::string& value,
                                                  const std::string& dtype_of_file) {
  const std::string name = name_of_override(key);
  const auto known = std::find_if(kOverrideNames.begin(), kOverrideNames.end(),
                                  [&](const SpelledName& entry) { return entry.first == name; });
  if (known == kOverrideNames.end()) return std::nullopt;
  const std::string figure(known->second);
  if (figure == "dtype") {
    const auto dtype = dtype_of(value, dtype_of_file);
    return dtype ? std::optional(OverriddenFigure{figure, *dtype}) : std::nullopt;
  }
  const auto number = integer_in_any_spelling(value);
  if (number) return OverriddenFigure{figure, fmt::to_string(*number)};
  // The file's own count is not lost to what is no count.
  if (figure == "gpu_count" || figure == "gpus_per_node") return std::nullopt;
  return OverriddenFigure{figure, value};
}

}  // namespace llmb::parser
