// The name of this machine, as its kernel has it: what is shown of who tells something.
#pragma once

#include <string>

namespace llmb::push {

std::string machine_name();

}  // namespace llmb::push
