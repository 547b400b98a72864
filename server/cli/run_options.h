// Options that several subcommands share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace llmb::cli {

// --window A-B or last: checked, so that parse_asked_window(value) has a value.
CLI::Option* add_window_option(CLI::App& command, std::string& value);

// --include MARKS: checked, so that parse_run_marks(value) has a value.
CLI::Option* add_include_option(CLI::App& command, std::string& value);

// Throws CLI::ValidationError for a name that is no run id.
void check_run_ids(const std::vector<std::string>& names);

}  // namespace llmb::cli
