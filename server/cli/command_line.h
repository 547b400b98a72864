// The command line of llmb-report. Each subcommand has a file of its own, with one function that
// adds it to the CLI::App and stores its exit code; command_line.cpp calls them all.
#pragma once

namespace llmb::cli {

// 0: done; 1: nothing to show for it, or it failed (the reason is on stderr); 2: bad arguments.
int run_command_line(int argc, char** argv);

}  // namespace llmb::cli
