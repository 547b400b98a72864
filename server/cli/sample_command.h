// llmb-report sample: writes the sample tree, and lets one run of it grow.
#pragma once

#include <CLI/App.hpp>

namespace llmb::cli {

void add_sample_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
