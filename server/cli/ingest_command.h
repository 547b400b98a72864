// llmb-report ingest: reads logs into the database without serving them.
#pragma once

#include <CLI/App.hpp>

namespace llmb::cli {

// Adds the subcommand. `exit_code` (outlives `app`) is set when it ran: 0 when all was read (or
// --follow was told to stop), 1 when something was not (the reason is on stderr), 2 without a
// root, and 128 + the signal when --once was interrupted.
void add_ingest_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
