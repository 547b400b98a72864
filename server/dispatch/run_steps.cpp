#include "server/dispatch/run_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "parser/dialect.h"
#include "parser/foundation/parse_number.h"
#include "parser/window.h"
#include "server/dispatch/launch_variables.h"

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

// A window in a dialect's numbering of iterations.
struct NumberedWindow {
  parser::Window window;
  parser::Dialect dialect = parser::Dialect::unknown;

  // The fewest steps that hold it. Behind a checkpoint nobody knows here at which iteration they
  // begin, so that only as many as it has are sure to be needed.
  std::int64_t steps_needed(bool goes_on) const {
    return goes_on ? window.size()
                   : window.last_iteration - parser::traits_of(dialect).first_iteration + 1;
  }
};

bool is_row_of(const parser::Recipe& row, const Submission& wanted) {
  return row.workload == wanted.workload && row.model_size == wanted.model_size &&
         row.gpu_type == wanted.gpu_type && row.has_scale(wanted.scale) &&
         std::count(row.dtypes.begin(), row.dtypes.end(), parser::coarse_dtype(wanted.dtype)) > 0;
}

// Those that a reader of the run's log may measure. None where it may make a result of the last
// step alone: of a row, each document that has it may be taken.
std::vector<NumberedWindow> windows_of(const Plan& plan, const parser::Catalog& catalog) {
  const Submission& wanted = plan.submission;
  // No row is of CPUs.
  const bool has_row = !plan.document.empty() && wanted.backend != "cpu";
  std::vector<NumberedWindow> windows;
  for (const parser::Document& document : catalog.documents) {
    if (document.workload != wanted.workload) continue;
    const bool has_the_row =
        has_row &&
        std::any_of(catalog.recipes.begin(), catalog.recipes.end(), [&](const auto& row) {
          return row.document == document.id && is_row_of(row, wanted);
        });
    if (has_row && !has_the_row) continue;
    if (has_row && !document.default_window) return {};
    for (const parser::Dialect dialect : document.dialects) {
      windows.push_back(
          {has_row ? *document.default_window : parser::default_window(dialect), dialect});
    }
  }
  return windows;
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
  return {documented_steps(wanted), std::string(kOfDocument), true};
}

std::string why_never_complete(const Plan& plan, const ClusterSettings& settings,
                               const parser::Catalog& catalog) {
  if (plan.submission.launcher != "runner") return {};
  const RunSteps steps = run_steps(plan.submission, settings);
  const bool goes_on = !plan.submission.load_checkpoint_path.empty();
  if (goes_on && steps.count == 1) return {};  // a function check: its one step is its window
  // The runner writes as one of the workload's documents does.
  const auto windows = windows_of(plan, catalog);
  const auto nearest = std::min_element(windows.begin(), windows.end(),
                                        [&](const NumberedWindow& a, const NumberedWindow& b) {
                                          return a.steps_needed(goes_on) < b.steps_needed(goes_on);
                                        });
  if (nearest == windows.end() || steps.count >= nearest->steps_needed(goes_on)) return {};
  return fmt::format(
      "a run of {} step{} ({}) is never complete: its window, {}, needs {} or more; --set steps=N "
      "makes it longer",
      steps.count, steps.count == 1 ? "" : "s", steps.origin, parser::to_string(nearest->window),
      nearest->steps_needed(goes_on));
}

}  // namespace llmb::dispatch
