// `llmb-report jobs`: what was submitted, and what became of it.
#pragma once

#include <CLI/CLI.hpp>

namespace llmb::cli {

void add_jobs_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
