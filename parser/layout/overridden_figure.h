// What an entry of llmb-config's model_overrides changes of what a recipe's table states: layers,
// parallel sizes, batches, dtype, GPUs. It is told by the entry's name alone, however it is
// spelled.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llmb::parser {

// Keys of what the user changed of the model begin with it. What a recipe's table states has the
// key of RunConfiguration instead.
inline constexpr std::string_view kModelOverrides = "job_config.model_overrides.";
// Of such a key: "…model.Hidden-Size" -> "hidden_size".
std::string name_of_override(std::string_view key);

struct OverriddenFigure {
  std::string key;    // of RunConfiguration
  std::string value;  // as names and tables spell it: "64" for 64.0, "bf16" for bfloat16
};

// Nothing where no table states it, or where the value cannot be set against a table's.
// `dtype_of_file`: what the rest of the file says; empty: nothing.
std::optional<OverriddenFigure> overridden_figure(std::string_view key, const std::string& value,
                                                  const std::string& dtype_of_file);

}  // namespace llmb::parser
