// `llmb-report compare`: runs side by side, repeats grouped, against each other and against the
// published results.
#pragma once

#include <CLI/CLI.hpp>

namespace llmb::cli {

void add_compare_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
