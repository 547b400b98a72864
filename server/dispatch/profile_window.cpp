#include "server/dispatch/profile_window.h"

#include <fmt/format.h>

#include <string_view>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"
#include "server/dispatch/run_steps.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

constexpr std::int64_t kProfiledSteps = 5;

// Of a document that says nothing of profiling, they are the later ones' steps.
std::string_view default_of(const Submission& wanted, const DocumentWords& words) {
  if (words.of_profiling) return kOfDocument;
  return wanted.launcher == "recipe" ? "what the later documents have"
                                     : "llmb-step-runner's default";
}

}  // namespace

// llmb-step-runner profiles the last five steps of any number but the document's, and the five
// before a step to stop at (runner/plan/run_settings.cpp, apply_steps). A recipe keeps to the two
// defaults that its document states, each by itself.
ProfileWindow profile_window(const Submission& wanted, const ClusterSettings& settings,
                             const Origins& origins, const DocumentWords& words) {
  ProfileWindow window;
  const RunSteps steps = run_steps(wanted, settings);
  window.step_count = steps.count;
  window.step_count_origin = steps.origin;
  const bool is_recipe = wanted.launcher == "recipe";
  const std::int64_t documented = documented_steps(wanted);
  const bool is_documented = is_recipe || steps.is_documented;
  window.stop_step = is_recipe ? documented : window.step_count;
  window.stop_step_origin =
      is_documented ? default_of(wanted, words) : std::string_view("the last of the job's steps");
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
                                          const Origins& origins, const DocumentWords& words) {
  const auto& start = wanted.profile_start_step;
  const auto& stop = wanted.profile_stop_step;
  if (start && stop && *start >= *stop) {
    return parser::fail(fmt::format(
        "profiling from step {} on ends before step {}: nothing is profiled", *start, *stop));
  }
  if (!wanted.profile) return {};
  const ProfileWindow window = profile_window(wanted, settings, origins, words);
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

parser::Result<void> check_profile_ranks(const Submission& wanted, const Origins& origins,
                                         std::string_view documented) {
  const std::string& ranks = wanted.profile_ranks;
  if (!is_rank_list(ranks)) {
    return parser::fail(fmt::format(
        "profile_ranks {} has to be 'all' or a list like 0-8 or 0,4,8-11", in_quotes(ranks)));
  }
  if (ranks == "all" || ranks == documented) return {};
  for (const std::string_view range : parser::split(ranks, ',')) {
    for (const std::string_view number : parser::split(range, '-')) {
      const auto rank = parser::parse_integer(number);
      if (rank && *rank < wanted.scale) continue;
      return parser::fail(
          fmt::format("profile_ranks {} ({}) names rank {}, and a job of {} GPUs has the ranks 0 "
                      "to {}",
                      in_quotes(ranks), origin_of("profile_ranks", origins), number, wanted.scale,
                      wanted.scale - 1));
    }
  }
  return {};
}

}  // namespace llmb::dispatch
