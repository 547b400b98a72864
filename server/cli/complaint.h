// complain: how a command says on stderr why it ends.
#pragma once

#include <string>
#include <string_view>

namespace llmb::cli {

// "llmb-report COMMAND: what"; gives the exit code back.
int complain(std::string_view command, const std::string& what, int exit_code);

}  // namespace llmb::cli
