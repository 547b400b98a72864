#include "server/dispatch/run_steps.h"

#include <fmt/format.h>

#include <optional>

#include "parser/dialect.h"
#include "parser/foundation/parse_number.h"
#include "parser/window.h"

namespace llmb::dispatch {
namespace {

// MAX_STEPS, which an installed recipe takes; llmb-step-runner does not.
std::optional<std::int64_t> steps_of_recipe(const Submission& wanted,
                                            const ClusterSettings& settings) {
  if (wanted.launcher != "recipe") return std::nullopt;
  for (const Environment* const variables : {&wanted.environment, &settings.environment}) {
    const auto found = variables->find("MAX_STEPS");
    if (found != variables->end()) return parser::parse_integer(found->second, 1);
  }
  return std::nullopt;
}

// The fewest steps that hold the default window of a dialect. Behind a checkpoint nobody knows
// here at which iteration they begin, so that only as many as the window has are sure to be needed.
std::int64_t steps_needed(parser::Dialect dialect, bool goes_on) {
  const parser::Window window = parser::default_window(dialect);
  return goes_on ? window.size()
                 : window.last_iteration - parser::traits_of(dialect).first_iteration + 1;
}

}  // namespace

std::int64_t documented_steps(const Submission& wanted) {
  return wanted.workload == "pretrain_nemotron4" && wanted.profile ? 25 : 50;
}

RunSteps run_steps(const Submission& wanted, const ClusterSettings& settings) {
  const auto asked = wanted.runner_options.find("steps");
  if (asked != wanted.runner_options.end()) return {asked->second, "asked for", false};
  if (const auto steps = steps_of_recipe(wanted, settings)) return {*steps, "MAX_STEPS", false};
  if (!wanted.load_checkpoint_path.empty())
    return {1, "one step after a checkpoint is loaded", false};
  return {documented_steps(wanted), "the document's default", true};
}

std::string why_never_complete(const Plan& plan, const ClusterSettings& settings,
                               const parser::Catalog& catalog) {
  const Submission& wanted = plan.submission;
  // No row is of CPUs.
  const bool matches_no_row = plan.document.empty() || wanted.backend == "cpu";
  if (wanted.launcher != "runner" || !matches_no_row) return {};
  const RunSteps steps = run_steps(wanted, settings);
  const bool goes_on = !wanted.load_checkpoint_path.empty();
  // The runner writes as one of the workload's documents does.
  std::optional<parser::Dialect> nearest;
  for (const parser::Document& document : catalog.documents) {
    if (document.workload != wanted.workload) continue;
    for (const parser::Dialect dialect : document.dialects) {
      if (!nearest || steps_needed(dialect, goes_on) < steps_needed(*nearest, goes_on)) {
        nearest = dialect;
      }
    }
  }
  if (!nearest) return {};
  const std::int64_t needed = steps_needed(*nearest, goes_on);
  if (steps.count >= needed) return {};
  return fmt::format(
      "a run of {} step{} ({}) is never complete: its window, {}, needs {} or more; --set steps=N "
      "makes it longer",
      steps.count, steps.count == 1 ? "" : "s", steps.origin,
      parser::to_string(parser::default_window(*nearest)), needed);
}

}  // namespace llmb::dispatch
