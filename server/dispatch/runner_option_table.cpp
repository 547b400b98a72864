#include "server/dispatch/runner_option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "parser/foundation/parse_number.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

using parser::fail;
using parser::Result;

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
    {"recompute-layers", false, false, 0},
    {kCudaGraphsOption, false, true, 0},
});

}  // namespace

const RunnerOption* runner_option(std::string_view name) {
  const auto* const found =
      std::find_if(kRunnerOptions.begin(), kRunnerOptions.end(),
                   [&](const RunnerOption& known) { return known.name == name; });
  return found == kRunnerOptions.end() ? nullptr : found;
}

std::vector<std::string> runner_option_names() {
  std::vector<std::string> names;
  names.reserve(kRunnerOptions.size());
  for (const RunnerOption& known : kRunnerOptions) names.emplace_back(known.name);
  return names;
}

bool is_runner_flag(std::string_view name) {
  const RunnerOption* const option = runner_option(name);
  return option != nullptr && option->is_flag;
}

std::string runner_option_text(std::string_view name, std::int64_t value) {
  if (is_runner_flag(name)) return value == 0 ? "false" : "true";
  return fmt::to_string(value);
}

Result<std::int64_t> parse_runner_option(const std::string& name, std::string_view text) {
  if (is_runner_flag(name)) {
    if (text == "true" || text == "false") return text == "true" ? 1 : 0;
    return fail(fmt::format("{} is true or false, not {}", name, in_quotes(text)));
  }
  if (const auto number = parser::parse_integer(text)) return *number;
  return fail(fmt::format("{} needs a whole number, not {}", name, in_quotes(text)));
}

}  // namespace llmb::dispatch
