// `llmb-report token`: who may ask the API for what.
#pragma once

#include <CLI/CLI.hpp>

namespace llmb::cli {

void add_token_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
