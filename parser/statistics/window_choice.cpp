#include "parser/statistics/window_choice.h"

#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

constexpr std::int64_t kEvidenceSteps = 45;

// The only step of a function check, whatever its recipe's results are made of. The last step after
// a restart is none.
std::optional<Window> window_of_function_check(const LogFacts& facts) {
  if (facts.segments.size() != 1 || !is_function_check(facts, facts.segments.front())) {
    return std::nullopt;
  }
  const std::int64_t only = facts.segments.back().last_iteration;
  return Window{only, only};
}

ChosenWindow window_of_results(const Catalog& catalog, const RecipeMatch& match,
                               const LogFacts& facts) {
  const auto last_step = last_step_window(facts);
  const auto choose = [&](const std::optional<Window>& range) { return range ? range : last_step; };
  if (match.document != nullptr && match.is_of(*match.document)) {
    if (const auto window = choose(documented_window(*match.document, facts.dialect))) {
      return {*window, match.document->id};
    }
  }
  if (const ReleaseWindow* const rule = catalog.release_window(facts.dialect, match.release)) {
    if (const auto window = choose(rule->window)) return {*window, "release " + match.release};
  }
  return {default_window(facts.dialect), "default of " + std::string(dialect_name(facts.dialect))};
}

}  // namespace

std::optional<Window> documented_window(const Document& document, Dialect dialect) {
  if (!document.default_window || document.has_dialect(dialect)) return document.default_window;
  const std::int64_t shift =
      traits_of(dialect).first_iteration - traits_of(document.dialects.front()).first_iteration;
  return Window{document.default_window->first_iteration + shift,
                document.default_window->last_iteration + shift};
}

ChosenWindow choose_window(const Catalog& catalog, const std::optional<AskedWindow>& asked,
                           const RecipeMatch& match, const LogFacts& facts) {
  if (asked) return {resolve_window(*asked, facts), "asked for"};
  ChosenWindow chosen = window_of_results(catalog, match, facts);
  const auto only_step = window_of_function_check(facts);
  if (only_step && *only_step != chosen.window) chosen = {*only_step, "function check"};
  return chosen;
}

Window batch_evidence_window(const LogFacts& facts) {
  const std::int64_t first = facts.segments.empty() ? 0 : facts.segments.front().first_iteration;
  return {first, first + kEvidenceSteps - 1};
}

std::optional<std::int64_t> logged_global_batch_size(std::span<const StepSample> samples,
                                                     const Window& window) {
  std::optional<std::int64_t> batch;
  for (const StepSample& sample : samples) {
    if (!sample.global_batch_size || !window.contains(sample.iteration)) continue;
    if (batch && *batch != *sample.global_batch_size) return std::nullopt;
    batch = sample.global_batch_size;
  }
  return batch;
}

}  // namespace llmb::parser
