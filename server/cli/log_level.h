// `--log-level`: how much the long-running commands say of what they do, on stderr.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace llmb::cli {

// One of trace, debug, info, warning, error, off; checked.
CLI::Option* add_log_level_option(CLI::App& command, std::string& level);

// The process's log goes to stderr, from that level on; an empty one means info.
void begin_log(const std::string& level);

}  // namespace llmb::cli
