// ScaleFormula: a column of a recipe table that may depend on the number of GPUs: 1024, "GPUs",
// "GPUs/2" or "GPUs*16", as the documents write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parser/result.h"

namespace llmb::parser {

struct ScaleFormula {
  // The value is constant, or gpu_count * factor / divisor.
  bool depends_on_gpu_count = false;
  std::int64_t factor = 1;
  std::int64_t divisor = 1;

  static ScaleFormula constant(std::int64_t value) { return {false, value, 1}; }

  // Nothing where the division leaves a rest: the recipe does not exist at that scale.
  std::optional<std::int64_t> value(std::int64_t gpu_count) const;
  bool operator==(const ScaleFormula&) const = default;
};

Result<ScaleFormula> parse_scale_formula(std::string_view text);
std::string to_string(const ScaleFormula& formula);  // "1024", "GPUs/2"

}  // namespace llmb::parser
