#include "parser/statistics/window_choice.h"

namespace llmb::parser {
namespace {

constexpr std::int64_t kEvidenceSteps = 45;

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
