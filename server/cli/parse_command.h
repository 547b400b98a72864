// llmb-report parse: logs in, a table, csv or json out; no database.
#pragma once

#include <CLI/App.hpp>

namespace llmb::cli {

// Adds the subcommand. `exit_code` (outlives `app`) is set when it ran: 0 when at least one run
// is complete, else 1, as the recipes' shell parsers do.
void add_parse_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
