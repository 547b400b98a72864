// The exit codes that every subcommand shares. `parse`, `compare` and `scaling` also give kFailed
// where the logs hold no result.
#pragma once

namespace llmb::cli {

inline constexpr int kFailed = 1;        // asked rightly, and could not be done
inline constexpr int kBadArguments = 2;  // arguments or a configuration file that cannot be meant

// A signal that ends a command is added to it, as shells do.
inline constexpr int kSignalExit = 128;

}  // namespace llmb::cli
