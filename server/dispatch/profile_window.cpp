#include "server/dispatch/profile_window.h"

#include <fmt/format.h>

#include <optional>

#include "parser/foundation/parse_number.h"

namespace llmb::dispatch {
namespace {

constexpr std::int64_t kProfiledSteps = 5;
constexpr const char* kDefaultOfDocument = "the document's default";

// 50 steps, of which 45 to 50 are profiled; of Nemotron 4 a profiled job runs for 25, and 20 to 25
// are.
std::int64_t documented_steps(const Submission& wanted) {
  return wanted.workload == "pretrain_nemotron4" ? 25 : 50;
}

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

void count_steps(ProfileWindow& window, const Submission& wanted, const ClusterSettings& settings) {
  window.step_count = documented_steps(wanted);
  window.step_count_origin = kDefaultOfDocument;
  if (!wanted.load_checkpoint_path.empty()) {
    window.step_count = 1;
    window.step_count_origin = "one step after a checkpoint is loaded";
  }
  if (const auto steps = steps_of_recipe(wanted, settings)) {
    window.step_count = *steps;
    window.step_count_origin = "MAX_STEPS";
  }
  const auto asked = wanted.runner_options.find("steps");
  if (asked == wanted.runner_options.end()) return;
  window.step_count = asked->second;
  window.step_count_origin = "asked for";
}

std::string origin_of(const char* field, const Origins& origins) {
  const auto origin = origins.find(field);
  return origin == origins.end() ? "asked for" : origin->second;
}

}  // namespace

// llmb-step-runner profiles the last five steps of any number but the document's, and the five
// before a step to stop at (runner/plan/run_settings.cpp, apply_steps). A recipe keeps to the two
// defaults that its document states, each by itself.
ProfileWindow profile_window(const Submission& wanted, const ClusterSettings& settings,
                             const Origins& origins) {
  ProfileWindow window;
  count_steps(window, wanted, settings);
  const bool is_recipe = wanted.launcher == "recipe";
  const std::int64_t documented = documented_steps(wanted);
  const bool is_documented = is_recipe || window.step_count_origin == kDefaultOfDocument;
  window.stop_step = is_recipe ? documented : window.step_count;
  window.stop_step_origin = is_documented ? kDefaultOfDocument : "the last of the job's steps";
  window.start_step_origin = window.stop_step_origin;
  if (const auto& stop = wanted.profile_stop_step) {
    if (!is_recipe && *stop != window.step_count) {
      window.start_step_origin = "five steps before it stops";
    }
    window.stop_step = *stop;
    window.stop_step_origin = origin_of("profile_stop_step", origins);
  }
  const std::int64_t before = is_recipe ? documented : window.stop_step;
  window.start_step = before > kProfiledSteps ? before - kProfiledSteps : 0;
  if (const auto& start = wanted.profile_start_step) {
    window.start_step = *start;
    window.start_step_origin = origin_of("profile_start_step", origins);
  }
  return window;
}

parser::Result<void> check_profile_window(const Submission& wanted, const ClusterSettings& settings,
                                          const Origins& origins) {
  const auto& start = wanted.profile_start_step;
  const auto& stop = wanted.profile_stop_step;
  if (start && stop && *start >= *stop) {
    return parser::fail(fmt::format(
        "profiling from step {} on ends before step {}: nothing is profiled", *start, *stop));
  }
  if (!wanted.profile) return {};
  const ProfileWindow window = profile_window(wanted, settings, origins);
  if (window.start_step >= 0 && window.start_step < window.stop_step &&
      window.stop_step <= window.step_count) {
    return {};
  }
  return parser::fail(fmt::format(
      "cannot profile from step {} ({}) to step {} ({}) of a run of {} step{} ({}): profiling has "
      "to start before it stops, and to stop at step {} or earlier{}",
      window.start_step, window.start_step_origin, window.stop_step, window.stop_step_origin,
      window.step_count, window.step_count == 1 ? "" : "s", window.step_count_origin,
      window.step_count,
      wanted.launcher == "runner" ? "; --set steps=N makes the run longer" : ""));
}

}  // namespace llmb::dispatch
