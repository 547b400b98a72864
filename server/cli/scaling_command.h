// `llmb-report scaling`: tokens/s/GPU and efficiency by number of GPUs, measured and published.
#pragma once

#include <CLI/CLI.hpp>

namespace llmb::cli {

void add_scaling_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
