#include "parser/catalog/scale_formula.h"

#include <fmt/format.h>

#include "parser/foundation/parse_number.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kVariable = "GPUs";
constexpr std::int64_t kFactorMax = 1'000'000;

std::optional<std::int64_t> read_factor(std::string_view text) {
  return parse_integer(text, 1, kFactorMax);
}

}  // namespace

std::optional<std::int64_t> ScaleFormula::value(std::int64_t gpu_count) const {
  if (!depends_on_gpu_count) return factor;
  const std::int64_t product = gpu_count * factor;
  if (product % divisor != 0) return std::nullopt;
  return product / divisor;
}

Result<ScaleFormula> parse_scale_formula(std::string_view text) {
  if (const auto constant = read_factor(text)) return ScaleFormula::constant(*constant);
  ScaleFormula formula;
  formula.depends_on_gpu_count = true;
  if (text == kVariable) return formula;
  if (text.starts_with(kVariable) && text.size() > kVariable.size() + 1) {
    const char operation = text[kVariable.size()];
    const auto factor = read_factor(text.substr(kVariable.size() + 1));
    if (factor && operation == '*') {
      formula.factor = *factor;
      return formula;
    }
    if (factor && operation == '/') {
      formula.divisor = *factor;
      return formula;
    }
  }
  return fail("'" + std::string(text) +
              "' is no whole number from 1, and neither GPUs, GPUs*N nor GPUs/N");
}

std::string to_string(const ScaleFormula& formula) {
  if (!formula.depends_on_gpu_count) return std::to_string(formula.factor);
  std::string text(kVariable);
  if (formula.factor != 1) text += fmt::format("*{}", formula.factor);
  if (formula.divisor != 1) text += fmt::format("/{}", formula.divisor);
  return text;
}

}  // namespace llmb::parser
