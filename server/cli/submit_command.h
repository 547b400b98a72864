// `llmb-report submit`: jobs through Slurm.
#pragma once

#include <CLI/CLI.hpp>

namespace llmb::cli {

void add_submit_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
