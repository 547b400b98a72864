#include "server/dispatch/runner_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <vector>

#include "parser/foundation/nearest_word.h"
#include "server/dispatch/runner_option_table.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

using parser::fail;
using parser::Result;

}  // namespace

Result<void> check_runner_options(const Submission& wanted) {
  if (!wanted.runner_options.empty() && wanted.launcher != "runner") {
    return fail("runner options go with the launcher 'runner' only");
  }
  for (const auto& option : wanted.runner_options) {
    const std::string& name = option.first;
    const std::int64_t value = option.second;
    const RunnerOption* const found = runner_option(name);
    if (found == nullptr) {
      const std::vector<std::string> names = runner_option_names();
      return fail(fmt::format("unknown runner option {}{}; known: {}", in_quotes(name),
                              parser::did_you_mean(name, names), fmt::join(names, ", ")));
    }
    if (value < found->value_min) {
      return fail(fmt::format("runner option {} has to be {} or more", name, found->value_min));
    }
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
    arguments.push_back(fmt::format("--{}={}", name, runner_option_text(name, value)));
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

std::optional<bool> cuda_graphs_of(const Submission& wanted, const parser::Recipe* row) {
  if (wanted.launcher == "runner") {
    const auto set = wanted.runner_options.find(std::string(kCudaGraphsOption));
    return set != wanted.runner_options.end() && set->second != 0;
  }
  return row == nullptr ? std::nullopt : row->has_cuda_graphs(wanted.dtype);
}

}  // namespace llmb::dispatch
