// `llmb-report audit`: recomputes the published figures of the catalog.
#pragma once

#include <CLI/CLI.hpp>

namespace llmb::cli {

void add_audit_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
