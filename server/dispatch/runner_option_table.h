// The options of llmb-step-runner that a submission may set (`--set`): their names, and how their
// values are written. Whether a submission may have them: runner_options.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parser/result.h"

namespace llmb::dispatch {

// llmb-step-runner has no CUDA graphs unless it is asked for them, whatever a document's row says.
inline constexpr std::string_view kCudaGraphsOption = "cuda-graphs";

struct RunnerOption {
  std::string_view name;
  bool makes_proxy = false;  // it is of the model's shape
  bool is_flag = false;      // true or false: 1 or 0 in a Submission; else a whole number
  std::int64_t value_min = 1;
};

// Null: none is called so.
const RunnerOption* runner_option(std::string_view name);
std::vector<std::string> runner_option_names();
bool is_runner_flag(std::string_view name);
// "2", or "true".
std::string runner_option_text(std::string_view name, std::int64_t value);
// The error says what is no value of that option; a name that is not known has numbers.
parser::Result<std::int64_t> parse_runner_option(const std::string& name, std::string_view text);

}  // namespace llmb::dispatch
