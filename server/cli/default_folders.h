// What is read where the command line names no folder and no log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmb::cli {

// The trees that ingest and serve read; where no variable names one, where the shell parsers look:
// `experiments` and `results` here. What a variable names in vain is said on stderr, in `command`'s
// name, and so is what to do where there are none: `what` can be named, "a folder or a log".
std::vector<std::string> default_folders(std::string_view command, std::string_view what);

}  // namespace llmb::cli
