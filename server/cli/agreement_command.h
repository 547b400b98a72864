// `llmb-report agreement`: what other tools would report for a log, and why.
#pragma once

#include <CLI/CLI.hpp>

namespace llmb::cli {

void add_agreement_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
