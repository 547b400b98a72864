// Options by the names that other programs have for them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmb::cli {

// "; --listen ADDR:PORT says where to listen" for --port, where the command has --listen; else
// empty. `known`: the command's options, each with its dashes.
std::string what_does_instead(std::string_view typed, const std::vector<std::string>& known);

}  // namespace llmb::cli
