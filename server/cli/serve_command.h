// llmb-report serve: the daemon. Watches trees, answers the API, shows the dashboard.
#pragma once

#include <CLI/App.hpp>

namespace llmb::cli {

// Adds the subcommand. `exit_code` (outlives `app`) is set when it ran: 0 when a signal stopped
// it, 1 when it could not start (the reason is on stderr), 2 for bad arguments or configuration.
void add_serve_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
