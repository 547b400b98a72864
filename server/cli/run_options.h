// Options that several subcommands share.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace llmb::cli {

// --window A-B or last: checked, so that parse_asked_window(value) has a value.
CLI::Option* add_window_option(CLI::App& command, std::string& value);

// --without KINDS: checked, so that parse_step_interruptions(value) has a value.
CLI::Option* add_without_option(CLI::App& command, std::string& value);

// --include MARKS: checked, so that parse_run_marks(value) has a value.
CLI::Option* add_include_option(CLI::App& command, std::string& value);

}  // namespace llmb::cli
