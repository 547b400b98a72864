#include "server/dispatch/runner_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parser/foundation/nearest_word.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

using parser::fail;
using parser::Result;

// Whole-number options of llmb-step-runner; those of the model's shape make a proxy.
struct RunnerOption {
  std::string_view name;
  bool makes_proxy = false;
};
constexpr auto kRunnerOptions = std::to_array<RunnerOption>({
    {"num-layers", true},
    {"num-experts", true},
    {"experts-per-token", true},
    {"seq-length", true},
    {"vocab-size", true},
    {"hidden-size", true},
    {"num-attention-heads", true},
    {"num-query-groups", true},
    {"head-size", true},
    {"ffn-hidden-size", true},
    {"expert-ffn-hidden-size", true},
    {"shared-expert-ffn-hidden-size", true},
    {"tp"},
    {"pp"},
    {"vp"},
    {"cp"},
    {"ep"},
    {"etp"},
    {"dp"},
    {"micro-batch-size"},
    {"global-batch-size"},
    {"steps"},
    {"seed"},
});

}  // namespace

Result<void> check_runner_options(const Submission& wanted) {
  if (!wanted.runner_options.empty() && wanted.launcher != "runner") {
    return fail("runner options go with the launcher 'runner' only");
  }
  for (const auto& option : wanted.runner_options) {
    const std::string& name = option.first;
    const std::int64_t value = option.second;
    const auto* const found =
        std::find_if(kRunnerOptions.begin(), kRunnerOptions.end(),
                     [&](const RunnerOption& known) { return known.name == name; });
    if (found == kRunnerOptions.end()) {
      std::vector<std::string> names;
      names.reserve(kRunnerOptions.size());
      for (const RunnerOption& known : kRunnerOptions) names.emplace_back(known.name);
      return fail(fmt::format("unknown runner option {}{}; known: {}", in_quotes(name),
                              parser::did_you_mean(name, names), fmt::join(names, ", ")));
    }
    if (value < 1) return fail("runner option " + name + " has to be 1 or more");
    if (found->makes_proxy && !wanted.proxy) {
      return fail("runner option " + name + " makes another model: say that it is a proxy");
    }
  }
  return {};
}

std::vector<std::string> runner_arguments(const Submission& wanted) {
  std::vector<std::string> arguments = {
      "--workload=" + wanted.workload, "--model-size=" + wanted.model_size,
      "--dtype=" + wanted.dtype,       fmt::format("--scale={}", wanted.scale),
      "--gpu-type=" + wanted.gpu_type, "--backend=" + wanted.backend};
  if (!wanted.document.empty()) arguments.push_back("--document=" + wanted.document);
  for (const auto& [name, value] : wanted.runner_options) {
    arguments.push_back(fmt::format("--{}={}", name, value));
  }
  if (!wanted.profile) return arguments;
  if (const auto& step = wanted.profile_start_step) {
    arguments.push_back(fmt::format("--profile-start-step={}", *step));
  }
  if (const auto& step = wanted.profile_stop_step) {
    arguments.push_back(fmt::format("--profile-stop-step={}", *step));
  }
  return arguments;
}

}  // namespace llmb::dispatch
